// The rows of config's views, one function for each.
#pragma once

#include <vector>

#include "engine/bson/value.h"

namespace braid::commands {

struct EngineParts;

using Rows = std::vector<bson::Document>;

Rows VersionRows(const EngineParts& engine);
Rows ShardRows(const EngineParts& engine);
Rows RouterRows(const EngineParts& engine);
Rows DatabaseRows(const EngineParts& engine);

// Of the sharded collections only.
Rows CollectionRows(const EngineParts& engine);
Rows ChunkRows(const EngineParts& engine);
Rows MigrationRows(const EngineParts& engine);  // the chunks that move

}  // namespace braid::commands
