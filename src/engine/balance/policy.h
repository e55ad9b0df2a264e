// Policy: how many documents move from which shard to which, so that all shards have the same number; and which range
// of a shard is moved for it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/balance/move.h"
#include "engine/sharding/placement.h"

namespace braid::balance {

/// With fewer documents than this the counts say little about where future documents will go.
inline constexpr int64_t kDocumentsToTell = 1000;

/// A shard's load of a collection: documents, or the share of the hash's range.
struct Load {
  storage::ShardNumber shard = 0;
  double amount = 0;
  bool draining = false;  // is being drained
  bool stuck = false;     // nothing more can be taken from it
};

struct Transfer {
  storage::ShardNumber from = 0;
  storage::ShardNumber to = 0;
  double amount = 0;
};

/// Balancing begins when a shard is off the mean by more than `begin`, and continues until no transfer as large as
/// `end` remains: without the gap it would react to every insert.
struct Tolerance {
  double begin = 0;
  double end = 0;
};

/// The next transfer; nothing if the shards are balanced. Never more than brings either side to the mean, so that a new
/// shard gets its share and nothing moves between the old ones. `under_way`: balancing has begun.
std::optional<Transfer> NextTransfer(const std::vector<Load>& loads, const Tolerance& tolerance, bool* under_way);

/// A range of a shard to be moved to another one.
struct Picked {
  KeyBoundsOfMove range;
  uint64_t documents = 0;
};

/// A range at the end of one of the shard's chunks, or a whole chunk, with at most `documents` documents and as near to
/// that as one chunk allows. Keys are never cut in two. Nothing if every chunk of the shard is one key, or moving.
Result<std::optional<Picked>> PickByDocuments(txn::Context& context, const catalog::Collection& collection,
                                              storage::ShardNumber shard, uint64_t documents);

/// The same by the width of the hash's range, for collections with too few documents to judge by: at most `share` of
/// all.
std::optional<KeyBoundsOfMove> PickByWidth(const sharding::Placement& placement, storage::ShardNumber shard,
                                           double share);

/// The shard key in the middle of a chunk's documents, where the chunk can be cut; nothing if they all share one.
Result<std::optional<bson::Document>> MedianKey(txn::Context& context, const catalog::Collection& collection,
                                                size_t chunk);

/// The share of the hash's range that a shard has. The shard key starts hashed.
double WidthOf(const sharding::Placement& placement, storage::ShardNumber shard);

}  // namespace braid::balance
