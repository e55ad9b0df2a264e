// enableSharding, shardCollection: give a database its primary shard, and a collection its shard key (B3, B5).
#include "engine/balance/shard_collection.h"
#include "engine/balance/changelog.h"

#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/parts.h"
#include "engine/commands/sharding/common.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

Result<bson::Document> RunEnable(Call& call) {
  std::string_view database;
  std::optional<std::string_view> primary;
  ArgReader reader(call.request);
  reader.Required("enableSharding", database);
  reader.Optional("primaryShard", primary);
  BRAID_CHECK_OK(reader.Finish());
  BRAID_CHECK_OK(catalog::Namespace::Make(database, "x"));
  if (IsServersOwn(database)) {
    return Status(Code::kInvalidOptions, StrCat("Enabling sharding on the ", database, " database is not allowed"));
  }
  std::optional<storage::ShardNumber> shard;
  if (primary) {
    BRAID_TRY(const catalog::Shard named, FindShard(call, *primary));
    if (named.draining) return Status(Code::kShardNotFound, StrCat("shard ", named.name, " is being removed"));
    shard = named.number;
  }
  storage::LogPosition position = 0;
  BRAID_TRY(const catalog::Database made, call.engine.catalog->EnsureDatabase(database, shard, &position));
  call.context.NotePosition(position);
  if (shard && made.primary != *shard) {
    return Status(Code::kNamespaceExists,
                  StrCat("database ", database, " exists on another primary shard; movePrimary moves it"));
  }
  return bson::Document();
}

struct ShardCollectionArgs {
  catalog::Namespace ns;
  balance::ShardOptions options;
  bool simple_collation = false;  // asked for in so many words
};

Result<ShardCollectionArgs> ParseShardCollection(Call& call) {
  ShardCollectionArgs args;
  std::string_view name;
  bson::View key;
  int64_t chunks = 0;
  bool presplit = false;
  std::optional<bson::View> collation;
  ArgReader reader(call.request);
  reader.Required("shardCollection", name);
  reader.Required("key", key);
  reader.Optional("unique", args.options.unique);
  reader.Optional("numInitialChunks", chunks);
  reader.Optional("presplitHashedZones", presplit);
  reader.Optional("collation", collation);
  reader.Ignore({"enforceUniquenessCheck", "implicitlyCreateIndex"});
  reader.Refuse({"timeseries"}, "time-series collections are not supported");
  reader.Check(!presplit, Code::kInvalidOptions, "presplitHashedZones needs zones, which are not supported");
  reader.Check(chunks >= 0 && chunks <= 1'000'000, Code::kInvalidOptions, "numInitialChunks is out of range");
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(args.ns, ParseFullName(name));
  if (IsServersOwn(args.ns.database)) {
    return Status(Code::kIllegalOperation, StrCat("cannot shard the collection ", name, " of the server's own"));
  }
  BRAID_CHECK_OK(CheckNotProfile(args.ns));
  BRAID_TRY(args.options.key, sharding::ShardKey::Parse(key));
  if (args.options.unique && args.options.key.has_hashed_field()) {
    return Status(Code::kInvalidOptions,
                  "Hashed shard keys cannot be declared unique. A unique index on the field itself keeps it unique.");
  }
  if (collation) {
    BRAID_TRY(const auto parsed, bson::Collation::Parse(*collation));
    if (parsed != nullptr)
      return Status(Code::kBadValue, "The collation for shardCollection must be {locale: 'simple'}");
    args.simple_collation = true;
  }
  args.options.initial_chunks = static_cast<uint32_t>(chunks);
  args.options.timestamp = TimestampNow(call);
  return args;
}

Result<bson::Document> RunShard(Call& call) {
  BRAID_TRY(const ShardCollectionArgs args, ParseShardCollection(call));
  BRAID_TRY(const auto ensured, call.engine.catalog->Ensure(args.ns));
  call.context.NotePosition(ensured.position);
  if (ensured.collection->collation != nullptr && !args.simple_collation) {
    return Status(Code::kBadValue, StrCat(args.ns.ToString(),
                                          " has a default collation: {collation: {locale: 'simple'}} must say that its "
                                          "shard key is compared by bytes"));
  }
  BRAID_CHECK_OK(balance::ShardCollection(call.context, args.ns, args.options));
  const catalog::CollectionPtr sharded = call.engine.catalog->Find(args.ns);
  bson::Builder reply;
  reply.Append("collectionsharded", args.ns.ToString());
  if (sharded != nullptr) {
    reply.Append("collectionUUID", bson::Binary{4, sharded->uuid});
    if (const std::string note = UniqueNote(*sharded); !note.empty()) reply.Append("note", note);
    balance::NoteChange(call.context, "shardCollection.end", args.ns.ToString(),
                        bson::Make("numChunks", static_cast<int32_t>(sharded->placement->chunks.size())));
  }
  return reply.Finish();
}

}  // namespace

constinit const Command kEnableSharding = {.name = "enableSharding",
                                           .flags = kWrites | kAdminOnly,
                                           .help = "Gives a database its primary shard.",
                                           .run = RunEnable};
constinit const Command kShardCollection = {.name = "shardCollection",
                                            .flags = kWrites | kAdminOnly,
                                            .help = "Spreads a collection over the shards by a shard key.",
                                            .run = RunShard};
}  // namespace braid::commands
