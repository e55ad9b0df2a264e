// Pseudo-random numbers from a seed, so that a run can be repeated; and what no other run may have: seeds and UUIDs.
#pragma once

#include <cstdint>
#include <random>
#include <string>

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
inline uint64_t RandomSeed() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

/// A new random UUID (version 4), as 16 bytes.
inline std::string MakeUuid() {
  const uint64_t halves[2] = {RandomSeed(), RandomSeed()};
  std::string bytes(reinterpret_cast<const char*>(halves), 16);
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
  return bytes;
}

}  // namespace braid
