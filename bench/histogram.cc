#include "bench/histogram.h"

#include <algorithm>
#include <cmath>

namespace braid::bench {

uint64_t Histogram::Upper(size_t bucket) {
  if (bucket < 2 * kCut) return bucket;
  const uint64_t shift = bucket / kCut - 1;
  return (((bucket % kCut) + kCut + 1) << shift) - 1;
}

void Histogram::Merge(const Histogram& other) {
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  max_ = std::max(max_, other.max_);
}

uint64_t Histogram::Quantile(double quantile) const {
  if (count_ == 0) return 0;
  // The product may come out a little above a whole number that it is meant to be.
  const double rank = std::ceil(quantile * static_cast<double>(count_) - 1e-6);
  const uint64_t wanted = rank < 1 ? 1 : static_cast<uint64_t>(rank);
  uint64_t seen = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= wanted) return std::min(Upper(i), max_);
  }
  return max_;
}

}  // namespace braid::bench
