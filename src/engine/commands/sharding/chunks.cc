// moveChunk, moveRange, split, mergeChunks: the table of chunks changed by hand.
#include "base/strings.h"
#include "engine/balance/changelog.h"
#include "engine/balance/policy.h"
#include "engine/bson/json.h"
#include "engine/commands/arg_reader.h"
#include "engine/commands/parts.h"
#include "engine/commands/sharding/common.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

using balance::KeyBoundsOfMove;

Result<bson::Document> Move(Call& call, const catalog::Collection& collection, const KeyBoundsOfMove& range,
                            const catalog::Shard& to) {
  if (to.draining) return Status(Code::kShardNotFound, StrCat("shard ", to.name, " is being removed"));
  const int64_t started = call.engine.options.clock->NowMillis();
  BRAID_TRY(const uint64_t moved,
            call.engine.balancer.Move(call.context, collection.ns, collection.number, range, to.number));
  return bson::Make("millis", call.engine.options.clock->NowMillis() - started, "documentsMoved", moved);
}

Result<bson::Document> RunMoveChunk(Call& call) {
  std::string_view name;
  std::string_view to;
  ChunkSelector selector;
  ArgReader reader(call.request);
  reader.Required("moveChunk", name);
  reader.Required("to", to);
  reader.Optional("find", selector.find);
  reader.OptionalArray("bounds", selector.bounds);
  reader.Ignore({"_secondaryThrottle", "_waitForDelete", "forceJumbo", "waitForDelete", "secondaryThrottle",
                 "maxChunkSizeBytes"});
  reader.Check(selector.find.has_value() != selector.bounds.has_value(), Code::kFailedToParse,
               "need to specify either a find query, or both lower and upper bounds of a chunk");
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(const catalog::Namespace ns, ParseFullName(name));
  BRAID_TRY(const catalog::CollectionPtr collection, FindSharded(call, ns));
  BRAID_TRY(const catalog::Shard shard, FindShard(call, to));
  const sharding::Placement& placement = *collection->placement;
  BRAID_TRY(const size_t chunk, FindChunk(placement, selector));
  return Move(call, *collection, {placement.chunks[chunk].min, placement.MaxOf(chunk)}, shard);
}

Result<bson::Document> RunMoveRange(Call& call) {
  std::string_view name;
  std::string_view to;
  std::optional<bson::View> min;
  std::optional<bson::View> max;
  ArgReader reader(call.request);
  reader.Required("moveRange", name);
  reader.Required("toShard", to);
  reader.Optional("min", min);
  reader.Optional("max", max);
  reader.Ignore({"waitForDelete", "secondaryThrottle", "forceJumbo"});
  reader.Check(min || max, Code::kInvalidOptions, "moveRange needs min, max or both");
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(const catalog::Namespace ns, ParseFullName(name));
  BRAID_TRY(const catalog::CollectionPtr collection, FindSharded(call, ns));
  BRAID_TRY(const catalog::Shard shard, FindShard(call, to));
  const sharding::Placement& placement = *collection->placement;
  KeyBoundsOfMove range;
  if (min) range.min = bson::Document(*min);
  if (max) range.max = bson::Document(*max);
  if (!min) {  // the chunk that ends there
    BRAID_TRY(const std::string end, placement.key.Encode(*max));
    size_t chunk = placement.IndexOf(end);
    if (chunk > 0 && placement.chunks[chunk].begin == end) --chunk;
    range.min = placement.chunks[chunk].min;
  }
  if (!max) {
    BRAID_TRY(const std::string begin, placement.key.Encode(*min));
    range.max = placement.MaxOf(placement.IndexOf(begin));
  }
  return Move(call, *collection, range, shard);
}

Status ChangeChunks(Call& call, const catalog::Collection& collection,
                    const std::function<Status(sharding::Placement*)>& change) {
  const auto placed = call.engine.catalog->Place(
      collection.ns, collection.number,
      [&](sharding::Placement* placement, storage::WriteSet&) { return change(placement); }, &call.context.operation());
  BRAID_CHECK_OK(placed);
  call.context.NotePosition(placed->position);
  return {};
}

/// The shard key in the middle of a chunk's documents; nothing if they all share one.
Result<bson::Document> MedianOf(Call& call, const catalog::Collection& collection, size_t chunk) {
  const sharding::Placement& placement = *collection.placement;
  call.context.FixSnapshot();
  BRAID_TRY(const auto median, balance::MedianKey(call.context, collection, chunk));
  if (!median) {
    return Status(Location(404), StrCat("the chunk from ", bson::ToShell(placement.chunks[chunk].min),
                                        " has fewer than two shard keys: it cannot be split"));
  }
  return *median;
}

Result<bson::Document> RunSplit(Call& call) {
  std::string_view name;
  std::optional<bson::View> middle;
  ChunkSelector selector;
  ArgReader reader(call.request);
  reader.Required("split", name);
  reader.Optional("middle", middle);
  reader.Optional("find", selector.find);
  reader.OptionalArray("bounds", selector.bounds);
  const int given = (middle ? 1 : 0) + (selector.find ? 1 : 0) + (selector.bounds ? 1 : 0);
  reader.Check(given == 1, Code::kFailedToParse, "split needs exactly one of find, bounds and middle");
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(const catalog::Namespace ns, ParseFullName(name));
  BRAID_TRY(const catalog::CollectionPtr collection, FindSharded(call, ns));
  bson::Document point;
  if (middle) {
    BRAID_TRY(const std::string at, collection->placement->key.Encode(*middle));
    if (collection->placement->ChunkOf(at).begin == at) {
      return Status(Code::kBadValue,
                    StrCat("new split key ", bson::ToShell(*middle), " is a boundary key of existing chunk"));
    }
    point = bson::Document(*middle);
  } else {
    BRAID_TRY(const size_t chunk, FindChunk(*collection->placement, selector));
    BRAID_TRY(point, MedianOf(call, *collection, chunk));
  }
  BRAID_CHECK_OK(
      ChangeChunks(call, *collection, [&](sharding::Placement* placement) { return placement->Split(point); }));
  balance::NoteChange(call.context, "split", ns.ToString(), bson::Make("middle", point));
  return bson::Document();
}

Result<bson::Document> RunMerge(Call& call) {
  std::string_view name;
  std::optional<bson::View> bounds;
  ArgReader reader(call.request);
  reader.Required("mergeChunks", name);
  reader.OptionalArray("bounds", bounds);
  reader.Check(
      bounds && bounds->Count() == 2 && bounds->At(0).Is(bson::Type::kObject) && bounds->At(1).Is(bson::Type::kObject),
      Code::kFailedToParse, "mergeChunks needs bounds: the lower and the upper one");
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(const catalog::Namespace ns, ParseFullName(name));
  BRAID_TRY(const catalog::CollectionPtr collection, FindSharded(call, ns));
  const sharding::ShardKey& key = collection->placement->key;
  BRAID_TRY(const std::string begin, key.Encode(bounds->At(0).AsView()));
  BRAID_TRY(std::string end, key.Encode(bounds->At(1).AsView()));
  BRAID_TRY(const std::string highest, key.Encode(key.Highest()));
  if (end == highest) end.clear();
  BRAID_CHECK_OK(
      ChangeChunks(call, *collection, [&](sharding::Placement* placement) { return placement->Merge(begin, end); }));
  balance::NoteChange(call.context, "merge", ns.ToString(),
                      bson::Make("min", bounds->At(0).AsView(), "max", bounds->At(1).AsView()));
  return bson::Document();
}

}  // namespace

constinit const Command kMoveChunk = {
    .name = "moveChunk", .flags = kWrites | kAdminOnly, .help = "Moves a chunk to another shard.", .run = RunMoveChunk};
constinit const Command kMoveRange = {.name = "moveRange",
                                      .flags = kWrites | kAdminOnly,
                                      .help = "Moves a range of shard keys to another shard.",
                                      .run = RunMoveRange};
constinit const Command kSplit = {
    .name = "split", .flags = kWrites | kAdminOnly, .help = "Cuts a chunk in two.", .run = RunSplit};
constinit const Command kMergeChunks = {.name = "mergeChunks",
                                        .flags = kWrites | kAdminOnly,
                                        .help = "Joins neighbouring chunks of one shard.",
                                        .run = RunMerge};
}  // namespace braid::commands
