// The collections of the database config that are computed from the catalogue each time they are read: the cluster, and
// where data is placed. config.settings, config.changelog and the like are stored as any collection.
#pragma once

#include <string_view>
#include <vector>

#include "braid/status.h"
#include "engine/bson/value.h"
#include "engine/catalog/collection.h"
#include "engine/commands/command.h"
#include "engine/exec/write/write.h"

namespace braid::commands {

/// The collection to read: a view of config with its rows, or what the catalogue has. Null if there is none.
catalog::CollectionPtr FindReadable(const EngineParts& engine, const catalog::Namespace& ns);
/// All that can be read in a database, by name: the views of config too.
std::vector<catalog::CollectionPtr> ReadableCollections(const EngineParts& engine, std::string_view database);
/// By name; config is always there.
std::vector<std::string> ReadableDatabases(const EngineParts& engine);

bool IsConfigView(const catalog::Namespace& ns);
/// An error for a view: its content follows from the commands that change the cluster. The code is that of MongoDB's
/// own views: some drivers take IllegalOperation, from any write, for a server without retryable writes, and hide the
/// text.
Status CheckNoConfigView(const catalog::Namespace& ns);

/// Applies an update to the rows of a view that match. Only noBalance of config.collections can be changed, which
/// sh.disableBalancing and sh.enableBalancing do; kCommandNotSupportedOnView for anything else.
Result<write::UpdateResult> UpdateConfigView(Call& call, const write::Updating& updating);

/// The rows of config.shards, which listShards gives as well.
std::vector<bson::Document> ShardRows(const EngineParts& engine);

}  // namespace braid::commands
