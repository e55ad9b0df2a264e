// Placement: which shard a key lies on, and which shards a stretch of keys touches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace braid::advise {

/// The shards as contiguous ranges of encoded keys, shard i before shard i + 1.
class Placement {
 public:
  /// Even ranges of the space of hashes, as a collection with a hashed key is split at its start.
  static Placement OfHashes(size_t shards);
  /// Ranges with the same number of keys each, as far as whole values allow: where a balancer ends. `sorted` must be.
  static Placement OfQuantiles(const std::vector<std::string>& sorted, size_t shards);

  size_t shards() const { return shards_; }
  size_t ShardOf(std::string_view key) const;
  /// Adds to `touched` (one flag a shard) the shards of keys in [begin, end).
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

}  // namespace braid::advise
