// What the commands about one sharded collection share.
#pragma once

#include <string_view>

#include "base/status.h"
#include "engine/catalog/collection.h"

namespace braid::commands {

struct EngineParts;

/// The collection of a full name. kInvalidNamespace; kNamespaceNotSharded if there is none or it is not sharded.
Result<catalog::CollectionPtr> FindSharded(const EngineParts& engine, std::string_view full_name);

}  // namespace braid::commands
