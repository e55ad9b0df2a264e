// Sequences are global: no two records of one log may have the same (F2). An append checks this cheaply for recent
// sequences, a verification for all of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "patterns/chains/segment.h"

namespace braid::chains {

/// Which chain has which of the latest sequences, as far as this process appended them. Sequences are dense, so a table
/// with one slot per sequence modulo its size holds the latest ones. Any thread.
class RecentSequences {
 public:
  /// Notes the record of a chain. If another chain has the sequence, nothing is noted and that chain is given.
  std::optional<int64_t> Claim(int64_t sequence, int64_t chain);

 private:
  static constexpr size_t kPlaces = 1 << 18;
  struct Place {
    int64_t sequence = 0;
    int64_t chain = 0;
  };
  Mutex mu_;
  std::vector<Place> places_ BRAID_GUARDED_BY(mu_);  // empty until the first claim
};

/// Every sequence of a log, one bit each where they are dense: which ones come twice. Any thread.
class AllSequences {
 public:
  /// Adds the records of a segment, those of several chains only with the smallest of them.
  void Add(const Segment& segment);
  /// The sequences that were added more than once. After all of Add().
  const std::set<int64_t>& repeated() const { return repeated_; }

 private:
  static constexpr int kBlockBits = 9;
  using Block = std::array<uint64_t, (size_t{1} << kBlockBits) / 64>;
  Mutex mu_;
  std::unordered_map<int64_t, Block> blocks_ BRAID_GUARDED_BY(mu_);
  std::set<int64_t> repeated_ BRAID_GUARDED_BY(mu_);
};

/// Whether a record is counted in this chain: a record of several chains is counted only in the smallest.
inline bool IsFirstOfItsChains(const ChainRecordView& record) {
  return record.also.empty() || record.chain < record.also.front();
}

}  // namespace braid::chains
