// Policy: how many documents move from which shard to which, so that all shards have the same number.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

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

}  // namespace braid::balance
