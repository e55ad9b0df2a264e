#include "bench/generators.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"

namespace braid::bench {
namespace {

// A scrambled zipfian choice draws from this many numbers whatever the number of records, so that every run has the
// same shape; the sum of i^-0.99 up to it is known.
constexpr uint64_t kScrambledItems = 10'000'000'000;
constexpr double kScrambledZeta = 26.46902820178302;

constexpr double kZetaOfTwo = 1.5034777750283594;  // 1 + 2^-0.99

double Zeta(uint64_t from, uint64_t to, double start) {
  for (uint64_t i = from; i < to; ++i) start += std::pow(static_cast<double>(i + 1), -Zipfian::kTheta);
  return start;
}

constexpr std::pair<std::string_view, Distribution> kDistributions[] = {
    {"latest", Distribution::kLatest}, {"uniform", Distribution::kUniform}, {"zipfian", Distribution::kZipfian}};

}  // namespace

uint64_t FnvHash64(uint64_t value) {
  uint64_t hash = 0xCBF29CE484222325;
  for (int i = 0; i < 8; ++i) {
    hash = (hash ^ (value & 0xFF)) * 1099511628211u;
    value >>= 8;
  }
  return hash;
}

Zipfian::Zipfian(uint64_t items) : Zipfian(items, Zeta(0, items, 0)) {}

Zipfian::Zipfian(uint64_t items, double zeta) : items_(items), zeta_(zeta) { Prepare(); }

void Zipfian::Prepare() {
  eta_ = (1 - std::pow(2.0 / static_cast<double>(items_), 1 - kTheta)) / (1 - kZetaOfTwo / zeta_);
}

uint64_t Zipfian::Next(Random& random, uint64_t items) {
  if (items != items_) {
    zeta_ = items > items_ ? Zeta(items_, items, zeta_) : Zeta(0, items, 0);
    items_ = items;
    Prepare();
  }
  return Draw(random);
}

uint64_t Zipfian::Draw(Random& random) const {
  if (items_ == 1) return 0;
  static const double second = 1 + std::pow(0.5, kTheta);
  const double u = random.Unit();
  const double uz = u * zeta_;
  if (uz < 1) return 0;
  if (uz < second || items_ == 2) return 1;
  const auto n = static_cast<uint64_t>(static_cast<double>(items_) * std::pow(eta_ * u - eta_ + 1, 1 / (1 - kTheta)));
  return std::min(n, items_ - 1);
}

std::string_view Name(Distribution distribution) {
  for (const auto& [name, value] : kDistributions) {
    if (value == distribution) return name;
  }
  return "";
}

Result<Distribution> ParseDistribution(std::string_view name) {
  for (const auto& [known, value] : kDistributions) {
    if (known == name) return value;
  }
  return Status(Code::kBadValue, StrCat("unknown distribution '", name, "'; choose zipfian, latest or uniform"));
}

KeyChooser::KeyChooser(Distribution distribution, uint64_t items_max)
    : distribution_(distribution), items_max_(std::max<uint64_t>(items_max, 1)) {
  if (distribution == Distribution::kZipfian) zipfian_.emplace(kScrambledItems, kScrambledZeta);
  if (distribution == Distribution::kLatest) zipfian_.emplace(items_max_);
}

uint64_t KeyChooser::Next(Random& random, uint64_t count) {
  switch (distribution_) {
    case Distribution::kUniform: return random.Below(count);
    case Distribution::kLatest: return count - 1 - zipfian_->Next(random, count);
    case Distribution::kZipfian: break;
  }
  const uint64_t items = std::max(items_max_, count);
  while (true) {
    const uint64_t n = FnvHash64(zipfian_->Next(random)) % items;
    if (n < count) return n;
  }
}

void InsertSequence::Acknowledge(uint64_t first, uint64_t n) {
  const MutexLock lock(mu_);
  uint64_t count = count_.load(std::memory_order_relaxed);
  if (first != count) {
    early_.push_back({first, first + n});
    return;
  }
  count += n;
  for (size_t i = 0; i < early_.size();) {
    if (early_[i].first != count) {
      ++i;
      continue;
    }
    count = early_[i].end;
    early_[i] = early_.back();
    early_.pop_back();
    i = 0;
  }
  count_.store(count, std::memory_order_release);
}

}  // namespace braid::bench
