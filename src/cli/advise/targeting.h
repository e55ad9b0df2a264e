// Targeting: the shard of a key, the shards of a range of keys, and the number of shards that each operation asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/advise/operation.h"
#include "cli/advise/shard_key.h"
#include "engine/language/match/filter.h"

namespace braid::advise {

/// The shards as contiguous ranges of encoded keys, shard i before shard i + 1.
class Placement {
 public:
  /// Even ranges of the space of hashes, as a collection with a hashed key is split at its start.
  static Placement OfHashes(size_t shards);
  /// Ranges with the same number of keys each, as far as whole values allow, as a balancer would leave them. `sorted`
  /// must be sorted.
  static Placement OfQuantiles(const std::vector<std::string>& sorted, size_t shards);

  size_t shards() const { return shards_; }
  size_t ShardOf(std::string_view key) const;
  /// Adds to `touched` (one flag per shard) the shards of keys in [begin, end).
  void Touch(std::string_view begin, std::string_view end, std::vector<bool>& touched) const;
  /// How many of the keys each shard has.
  std::vector<uint64_t> Count(const std::vector<std::string>& keys) const;

 private:
  Placement(size_t shards, std::vector<std::string> splits) : shards_(shards), splits_(std::move(splits)) {}
  size_t shards_;
  std::vector<std::string> splits_;  // the first keys of shards 1, 2, …
};

/// The fullest over the mean; 1 is even. 1 if there is nothing.
double MaxOverMean(const std::vector<uint64_t>& counts);

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
