// Placement: a collection's shard key and its table of chunks, which says which shard has which range of keys.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/sharding/shard_key.h"
#include "engine/storage/keys.h"

namespace braid::sharding {

using storage::ShardNumber;
using ShardNumbers = std::vector<ShardNumber>;  // sorted, no two alike

/// Keys from `begin` up to the next chunk's.
struct Chunk {
  std::string begin;
  bson::Document min;  // `begin` as values
  ShardNumber shard = 0;
  /// While the chunk moves: the shard it comes from. New documents go to `shard`, those that were there before may
  /// still be on `from`; every document is on one of the two.
  std::optional<ShardNumber> from;
  uint32_t major = 1;
  uint32_t minor = 0;
  uint64_t since = 0;  // Timestamp of when the shard got it
  bson::ObjectId id{};

  bool HasPart(ShardNumber wanted) const { return shard == wanted || from == wanted; }
};

/// Immutable once it is shown; a change makes a new one. An unsharded collection has an empty key and one chunk.
struct Placement {
  ShardKey key;
  std::vector<Chunk> chunks;  // at least one, by begin; the first begins below every key
  bool unique = false;        // as given to shardCollection
  bool no_balance = false;
  /// The collection is about to be sharded: writers keep the entries that make unique keys unique over all shards
  /// (keys.h 'u'), but every document is still on the one shard.
  bool preparing = false;
  bson::ObjectId epoch{};
  uint64_t timestamp = 0;

  static Placement OnOneShard(ShardNumber shard);

  bool sharded() const { return !key.empty() && !preparing; }
  /// Unique keys are kept over all shards, beside each shard's own entries.
  bool keeps_global_keys() const { return !key.empty(); }

  size_t IndexOf(std::string_view shard_key) const;
  const Chunk& ChunkOf(std::string_view shard_key) const { return chunks[IndexOf(shard_key)]; }
  /// Where the range ends; empty: at the end of all keys.
  std::string_view EndOf(size_t chunk) const;
  bson::Document MaxOf(size_t chunk) const;

  /// The shards that may have documents: of any key, of keys in [begin, end) (an empty end: no end).
  ShardNumbers Shards() const;
  void AddShardsOf(std::string_view begin, std::string_view end, ShardNumbers* shards) const;
  bool is_moving() const;
  /// Whether the chunks cover all keys, each key once, and none moves to the shard that it comes from. True for every
  /// published placement.
  bool IsWhole() const;

  /// Cuts the chunk that holds the bound; nothing if a chunk begins there already. kBadValue for bounds that do not
  /// fit.
  Status Split(bson::View bound);
  /// Joins neighbours of one shard that do not move, from `begin` to `end` (two bounds of chunks).
  Status Merge(std::string_view begin, std::string_view end);
  /// The next version of a changed chunk is higher than every one there is.
  void Bump(Chunk* chunk, bool moved);
};
using PlacementPtr = std::shared_ptr<const Placement>;

void AddShard(ShardNumber shard, ShardNumbers* shards);

/// As the catalogue stores it: {key, unique, noBalance, preparing, epoch, timestamp, chunks: [{min, shard, from?,
/// major, minor, since, id}, …]}.
bson::Document ToBson(const Placement& placement);
Result<Placement> ParsePlacement(bson::View stored);

/// The chunks of an empty collection, as in MongoDB: with a hashed first field `chunks` ranges of equal width (0: two
/// per shard), assigned to the shards in order, else one chunk on the primary shard.
Status SplitInitially(const ShardNumbers& shards, ShardNumber primary, uint32_t chunks, Placement* placement);

}  // namespace braid::sharding
