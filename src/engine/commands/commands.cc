// The table of commands: those that are supported, those that are known but refused, and those that are answered
// however many other requests run.
#include <algorithm>

#include "engine/commands/command.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

// Sorted by name, which a test checks.
constexpr const Command* kCommands[] = {
    &kAbortTransaction,
    &kAddShard,
    &kAggregate,
    &kBalancerCollectionStatus,
    &kBalancerStart,
    &kBalancerStatus,
    &kBalancerStop,
    &kBraidBackup,
    &kBraidVerify,
    &kBuildInfo,
    &kBuildinfo,
    &kBulkWrite,
    &kCollMod,
    &kCollStats,
    &kCollstats,
    &kCommitTransaction,
    &kConfigureFailPoint,
    &kConfigureQueryAnalyzer,
    &kConnectionStatus,
    &kCount,
    &kCreate,
    &kCreateIndexes,
    &kCurrentOp,
    &kDbStats,
    &kDbstats,
    &kDelete,
    &kDeleteIndexes,
    &kDistinct,
    &kDrop,
    &kDropDatabase,
    &kDropIndexes,
    &kEnableSharding,
    &kEndSessions,
    &kExplain,
    &kFind,
    &kFindAndModify,
    &kFindandmodify,
    &kGetCmdLineOpts,
    &kGetLog,
    &kGetMore,
    &kGetParameter,
    &kGetShardVersion,
    &kHello,
    &kHostInfo,
    &kInsert,
    &kIsMaster,
    &kIsmaster,
    &kKillAllSessions,
    &kKillAllSessionsByPattern,
    &kKillCursors,
    &kKillOp,
    &kKillSessions,
    &kListCollections,
    &kListCommands,
    &kListDatabases,
    &kListIndexes,
    &kListShards,
    &kMergeChunks,
    &kMoveChunk,
    &kMovePrimary,
    &kMoveRange,
    &kPing,
    &kProfile,
    &kRefreshSessions,
    &kRemoveShard,
    &kRenameCollection,
    &kServerStatus,
    &kShardCollection,
    &kSplit,
    &kStartSession,
    &kUpdate,
    &kValidate,
    &kWhatsMyUri,
};

constexpr std::string_view kNoUsers = "there is no authentication: the server listens on loopback only";
constexpr std::string_view kAtlas = "search indexes are a feature of Atlas";

// Sorted by name, which a test checks.
constexpr RefusedCommand kRefused[] = {
    {"applyOps", "there is no oplog"},
    {"authenticate", kNoUsers},
    {"checkMetadataConsistency", "there is one process and one catalogue"},
    {"cloneCollectionAsCapped", "capped collections are not supported"},
    {"compact", "RocksDB compacts by itself"},
    {"convertToCapped", "capped collections are not supported"},
    {"createRole", kNoUsers},
    {"createSearchIndexes", kAtlas, Code::kCommandNotFound},
    {"createUser", kNoUsers},
    {"dropSearchIndex", kAtlas, Code::kCommandNotFound},
    {"dropUser", kNoUsers},
    {"eval", "there is no JavaScript engine"},
    {"filemd5", "drivers compute it themselves"},
    {"fsync", "every acknowledged write is synced already"},
    {"geoNear", "geospatial queries are not supported"},
    {"geoSearch", "geospatial queries are not supported"},
    {"getLastError", "writes are acknowledged in their own reply"},
    {"group", "use aggregate with $group"},
    {"listSearchIndexes", kAtlas, Code::kCommandNotFound},
    {"mapReduce", "use aggregate"},
    {"mapreduce", "use aggregate"},
    {"planCacheClear", "plans are not cached"},
    {"reIndex", "drop and create the index"},
    {"replSetGetStatus", "this is one node that presents itself as a mongos"},
    {"saslContinue", kNoUsers},
    {"saslStart", kNoUsers},
    {"setFeatureCompatibilityVersion", "the version is fixed"},
    {"setParameter", "parameters are set when the server starts"},
    {"shutdown", "stop the process with SIGTERM"},
    {"top", "serverStatus has the figures"},
    {"updateSearchIndex", kAtlas, Code::kCommandNotFound},
    {"updateUser", kNoUsers},
    {"usersInfo", kNoUsers},
};

// They have threads of their own: an operator uses them to find out what delays other requests, and to stop it.
constexpr std::string_view kQuickCommands[] = {
    "abortTransaction", "buildInfo",    "buildinfo",       "commitTransaction",
    "connectionStatus", "currentOp",    "endSessions",     "getCmdLineOpts",
    "getLog",           "getParameter", "hello",           "hostInfo",
    "isMaster",         "ismaster",     "killAllSessions", "killAllSessionsByPattern",
    "killCursors",      "killOp",       "killSessions",    "listCommands",
    "logout",           "ping",         "refreshSessions", "serverStatus",
    "startSession",     "whatsmyuri",
};
static_assert(std::ranges::is_sorted(kQuickCommands));

}  // namespace

const Command* FindCommand(std::string_view name) {
  const auto it =
      std::lower_bound(std::begin(kCommands), std::end(kCommands), name,
                       [](const Command* command, std::string_view wanted) { return command->name < wanted; });
  return it != std::end(kCommands) && (*it)->name == name ? *it : nullptr;
}

std::span<const Command* const> AllCommands() { return kCommands; }

const RefusedCommand* FindRefusedCommand(std::string_view name) {
  const auto it =
      std::lower_bound(std::begin(kRefused), std::end(kRefused), name,
                       [](const RefusedCommand& command, std::string_view wanted) { return command.name < wanted; });
  return it != std::end(kRefused) && it->name == name ? it : nullptr;
}

std::span<const RefusedCommand> RefusedCommands() { return kRefused; }

bool IsQuick(const Request& request) {
  if (std::ranges::binary_search(kQuickCommands, request.name)) return true;
  // $currentOp and its like, which read no collection.
  return request.name == "aggregate" && request.database == "admin" && !request.body.empty() &&
         request.body.begin()->value.IsNumber();
}

}  // namespace braid::commands
