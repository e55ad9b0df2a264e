#include "services/staking/generator.h"

namespace braid::staking {
namespace {

constexpr size_t kRecentMax = 10'000;
constexpr size_t kBondedMax = 100'000;

// Low numbers occur far more often than high ones, as in reality: the square of a uniform number.
uint64_t Skewed(Random& random, uint64_t below) {
  const double unit = random.Unit();
  return static_cast<uint64_t>(unit * unit * static_cast<double>(below));
}

// The key of the n-th of its kind.
std::string KeyOf(uint64_t seed, const char* kind, uint64_t n) {
  Random random(seed * 1'000'003 + n * 2 + static_cast<uint64_t>(kind[0]));
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string key;
  for (int i = 0; i < 4; ++i) {
    uint64_t bits = random.Next();
    for (int digit = 0; digit < 16; ++digit, bits >>= 4) key += kDigits[bits & 15];
  }
  return key;
}

}  // namespace

std::string Generator::HexDigits(size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string digits;
  while (digits.size() < count) {
    uint64_t bits = random_.Next();
    for (int i = 0; i < 16 && digits.size() < count; ++i, bits >>= 4) digits += kDigits[bits & 15];
  }
  return digits;
}

Event Generator::Active() {
  now_ += static_cast<int64_t>(random_.Below(3));
  return {.state = State::kActive,
          .hash = HexDigits(64),
          .staker = KeyOf(options_.seed, "s", Skewed(random_, options_.stakers)),
          .finality_provider = KeyOf(options_.seed, "f", Skewed(random_, options_.finality_providers)),
          .value = static_cast<int64_t>(50'000 + random_.Below(500'000'000)),
          .timestamp = now_};
}

Event Generator::UnbondedOf(const Event& active) {
  return {.state = State::kUnbonded, .hash = active.hash, .timestamp = active.timestamp};
}

Event Generator::NewEvent() {
  if (!announced_.empty() && random_.Chance(1, 4)) {
    Event active = std::move(announced_.front());
    announced_.pop_front();
    return active;
  }
  if (!random_.Chance(options_.unbonded_percent, 100)) {
    Event active = Active();
    if (bonded_.size() < kBondedMax) bonded_.push_back(active);
    return active;
  }
  if (random_.Chance(options_.early_percent, 100)) {
    announced_.push_back(Active());
    return UnbondedOf(announced_.back());
  }
  if (bonded_.empty()) return Active();
  std::swap(bonded_[random_.Below(bonded_.size())], bonded_.back());
  Event unbonded = UnbondedOf(bonded_.back());
  bonded_.pop_back();
  return unbonded;
}

Event Generator::Next() {
  if (!recent_.empty() && random_.Chance(options_.duplicate_percent, 100))
    return recent_[random_.Below(recent_.size())];
  recent_.push_back(NewEvent());
  if (recent_.size() > kRecentMax) recent_.pop_front();
  return recent_.back();
}

}  // namespace braid::staking
