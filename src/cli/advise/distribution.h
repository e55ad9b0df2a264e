// Distribution: how many values a shard key has, and how evenly the documents and the inserts lie on the shards.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/advise/sample.h"
#include "cli/advise/shard_key.h"
#include "cli/advise/targeting.h"

namespace braid::advise {

/// Property 1: enough distinct values, none of them too frequent.
struct Distinct {
  double values = 0;  ///< estimated for the whole collection
  bool exact = true;  ///< the sample is the whole collection
  /// The most frequent one, as a document: { user_id: null }.
  bson::Document top_value;
  double top_share = 0;
  uint64_t top_count = 0;    ///< in the sample
  bool top_is_null = false;  ///< every field of it is null or missing
  double score = 0;
};

/// How the key moves with the time of insertion; only where the order is known and the sample is large enough.
struct Growth {
  /// Rank correlation of key and insertion: 1 if every new key is above all others, -1 if below, near 0 if anywhere.
  double correlation = 0;
  /// If the shards are cut by the older three quarters of the documents: the share of the newest quarter that falls on
  /// one shard, the most.
  double newest_share = 0;
  /// All inserts go to one end of the range.
  bool monotonic = false;
};

/// Property 2: writes spread evenly.
struct Evenness {
  std::vector<uint64_t> per_shard;  ///< documents of the sample
  /// The worse of all documents and of the newest ones.
  double max_over_mean = 1;
  std::optional<Growth> growth;  ///< nothing for a hashed key: its order has nothing to do with time
  double score = 0;
};

struct Distribution {
  Distinct distinct;
  Evenness evenness;
  /// Documents that cannot be stored under this key because an array is on its path.
  uint64_t with_array = 0;
  Placement placement;
};

/// The number of distinct values per shard that is enough to divide and to move: beyond that more do not help.
constexpr double kValuesPerShard = 100;
/// max/mean up to here counts as even; for a hashed key also what chance explains for that many values: three standard
/// deviations of a shard's share, 1 + 3 * sqrt((shards - 1) / values).
constexpr double kEvenEnough = 1.1;

Distribution Distribute(const Sample& sample, const InsertionOrder* order, const ShardKey& key, size_t shards);

}  // namespace braid::advise
