// Pseudo-random numbers from a seed, so that a run can be repeated.
#pragma once

#include <cstdint>
#include <random>

namespace braid {

/// Not thread-safe: each thread needs its own.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t Next() { return engine_(); }
  /// 0 … n-1; n > 0.
  uint64_t Below(uint64_t n) { return engine_() % n; }
  /// True `times` out of `of`.
  bool Chance(uint64_t times, uint64_t of) { return Below(of) < times; }
  /// In [0, 1).
  double Unit() { return static_cast<double>(engine_() >> 11) * 0x1.0p-53; }

 private:
  std::mt19937_64 engine_;
};

/// An unpredictable seed.
uint64_t RandomSeed();

}  // namespace braid
