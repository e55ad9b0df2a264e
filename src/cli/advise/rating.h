// Rating: a shard key by the three properties that make a good one (E2).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/advise/distribution.h"
#include "cli/advise/operation.h"
#include "cli/advise/sample.h"
#include "cli/advise/shard_key.h"
#include "cli/advise/targeting.h"

namespace braid::advise {

/// Weights of the operations that ask one shard, some shards, all shards.
struct Reach {
  double one = 0;
  double few = 0;
  double all = 0;
  double sum() const { return one + few + all; }
};

struct ShapeReach {
  std::string shape;
  Reach reach;
  /// The mean number of shards asked.
  double shards = 0;
  bool changes_key = false;
};

/// Property 3: the share of targeted operations.
struct Targeting {
  Reach reach;
  std::vector<ShapeReach> shapes;  ///< by weight, the most first
  double score = 0;
};

struct Rating {
  ShardKey key;
  Distinct distinct;
  Evenness evenness;
  std::optional<Targeting> targeting;  ///< nothing if no operations are known
  uint64_t with_array = 0;
  /// distinct * evenness * targeting, the last as 1 if it is not known; 0 if documents cannot be stored under the key.
  double score = 0;
};

/// The operations with what is needed of them for every key; made once.
struct Workload {
  struct Entry {
    Operation operation;
    std::string shape;
    ParsedFilter filter;
  };
  std::vector<Entry> entries;

  static Workload Of(std::vector<Operation> operations);
  bool empty() const { return entries.empty(); }
  double weight() const;
};

Rating Rate(const Sample& sample, const InsertionOrder* order, const Workload& workload, const ShardKey& key,
            size_t shards);

/// All keys, the recommended one first and the others by score. Among keys that are about as good as the best one
/// (within kAlike) the simplest is recommended: fewer fields, then a hashed one, which is spread from the first
/// document on.
std::vector<Rating> RateAll(const Sample& sample, const InsertionOrder* order, const Workload& workload,
                            const std::vector<ShardKey>& keys, size_t shards);

constexpr double kAlike = 0.03;

/// "good" from 0.7 on, "fair" from 0.4 on, else "poor".
const char* Verdict(double score);

/// _id and every field that operations fix by equality or $in, hashed and ranged; fields of ranges and sorts, ranged;
/// and compounds of an equality field with a field of many values that is asked for beside it, or _id. Without
/// operations: the fields of the documents. Only scalar fields that the documents have, and none with an array on its
/// path. The most used first, and not too many to read.
std::vector<ShardKey> FindCandidates(const Sample& sample, const Workload& workload, size_t shards);

}  // namespace braid::advise
