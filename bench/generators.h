// Which record an operation touches: the distributions of YCSB.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "braid/status.h"

namespace braid::bench {

/// FNV-1a over the eight bytes of the value: spreads neighbouring numbers over the whole range.
uint64_t FnvHash64(uint64_t value);

/// Numbers 0 … n-1, 0 the most frequent, k about (k+1)^-theta as frequent (Gray et al., SIGMOD 1994). n may grow from
/// one call to the next; the sum behind it is then extended, not recomputed.
class Zipfian {
 public:
  static constexpr double kTheta = 0.99;
  explicit Zipfian(uint64_t items);
  /// With a sum that is known already: sum of i^-theta for i = 1 … items.
  Zipfian(uint64_t items, double zeta);
  uint64_t Next(Random& random) { return Draw(random); }
  uint64_t Next(Random& random, uint64_t items);

 private:
  uint64_t Draw(Random& random) const;
  void Prepare();

  uint64_t items_;
  double zeta_;
  double eta_ = 0;
};

enum class Distribution { kZipfian, kLatest, kUniform };
std::string_view Name(Distribution distribution);
Result<Distribution> ParseDistribution(std::string_view name);

/// Chooses the record of each operation. Not thread-safe: one per thread.
class KeyChooser {
 public:
  /// `items_max`: how many records there will be in the end. The hot records of a zipfian choice are spread over all of
  /// them, so that they stay the same while records are added.
  KeyChooser(Distribution distribution, uint64_t items_max);
  /// A record below `count`, which is > 0.
  uint64_t Next(Random& random, uint64_t count);

 private:
  Distribution distribution_;
  uint64_t items_max_;
  std::optional<Zipfian> zipfian_;
};

/// Numbers for new records, and how many of them can be read: all below count() are stored. Any thread.
class InsertSequence {
 public:
  explicit InsertSequence(uint64_t start) : next_(start), count_(start) {}
  /// Reserves `n` numbers and returns the first.
  uint64_t Take(uint64_t n) { return next_.fetch_add(n, std::memory_order_relaxed); }
  /// Marks these as stored.
  void Acknowledge(uint64_t first, uint64_t n);
  uint64_t count() const { return count_.load(std::memory_order_acquire); }

 private:
  struct Range {
    uint64_t first;
    uint64_t end;
  };
  std::atomic<uint64_t> next_;
  std::atomic<uint64_t> count_;
  Mutex mu_;
  std::vector<Range> early_ BRAID_GUARDED_BY(mu_);  // stored before some lower number; a few per thread
};

}  // namespace braid::bench
