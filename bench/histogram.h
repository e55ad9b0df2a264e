// Latencies, counted in buckets that grow with the value.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace braid::bench {

/// Counts of non-negative values. Each power of two is cut into 128 buckets, so a quantile is at most 1/128 (0.8 %)
/// above the true value and never below it. Not thread-safe: one per thread, merged at the end.
class Histogram {
 public:
  void Record(uint64_t value) {
    ++counts_[Bucket(value)];
    ++count_;
    sum_ += value;
    if (value > max_) max_ = value;
  }
  void Merge(const Histogram& other);

  /// The least recorded value, rounded up within its bucket, that `quantile` (0 … 1) of all values do not exceed; 0 if
  /// nothing was recorded.
  uint64_t Quantile(double quantile) const;
  uint64_t count() const { return count_; }
  uint64_t max() const { return max_; }
  double mean() const { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }

 private:
  static constexpr int kBits = 7;
  static constexpr uint64_t kCut = 1u << kBits;

  // Below 2 * kCut there is one bucket per value; above, the leading 1 + kBits bits of the value number the bucket.
  static size_t Bucket(uint64_t value) {
    if (value < 2 * kCut) return value;
    const int shift = static_cast<int>(std::bit_width(value)) - 1 - kBits;
    return static_cast<size_t>(static_cast<uint64_t>(shift) * kCut + (value >> shift));
  }
  static uint64_t Upper(size_t bucket);  // the greatest value of the bucket

  std::vector<uint64_t> counts_ = std::vector<uint64_t>((64 - kBits + 1) * kCut);
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t max_ = 0;
};

}  // namespace braid::bench
