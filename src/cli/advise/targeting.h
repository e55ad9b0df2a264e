// Targeting: which shards an operation has to ask, given a shard key and where its keys lie.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cli/advise/operation.h"
#include "cli/advise/placement.h"
#include "cli/advise/shard_key.h"
#include "engine/query/match/filter.h"

namespace braid::advise {

/// A filter, parsed once for all keys. Conditions that the engine does not parse ($where, $near, …) never narrow the
/// shards and are left out.
class ParsedFilter {
 public:
  explicit ParsedFilter(const Operation& operation);
  /// What must hold at once.
  const std::vector<query::Filter>& parts() const { return parts_; }
  bool collated() const { return collated_; }

 private:
  std::vector<query::Filter> parts_;
  bool collated_;
};

/// How many shards have to be asked: 1 if the key's leading fields are fixed, all of them if they are not in the
/// filter. A ranged field is narrowed by equality, $in, ranges and anchored regexes, a hashed one by equality and $in;
/// of a compound key a prefix is enough; $or is the union of its branches.
size_t ShardsAsked(const ParsedFilter& filter, const ShardKey& key, const Placement& placement);

}  // namespace braid::advise
