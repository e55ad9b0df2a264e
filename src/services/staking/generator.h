// Made-up events, for trying things out and for measurements: the same seed makes the same events.
#pragma once

#include <deque>
#include <vector>

#include "base/random.h"
#include "services/staking/event.h"

namespace braid::staking {

struct GeneratorOptions {
  uint64_t seed = 1;
  /// The percentage of events that repeat one of the last ten thousand. 0..90.
  uint32_t duplicate_percent = 0;
  /// The percentage of new events that unbond an earlier delegation. 0..50.
  uint32_t unbonded_percent = 20;
  /// The percentage of unbonded events that come before their active event. 0..100.
  uint32_t early_percent = 1;
  uint32_t stakers = 100'000;
  uint32_t finality_providers = 60;
};

/// Not thread-safe.
class Generator {
 public:
  explicit Generator(const GeneratorOptions& options) : options_(options), random_(options.seed) {}
  Event Next();

 private:
  Event NewEvent();
  Event Active();
  static Event UnbondedOf(const Event& active);
  std::string HexDigits(size_t count);

  const GeneratorOptions options_;
  Random random_;
  std::deque<Event> recent_;     // what may be repeated
  std::vector<Event> bonded_;    // delegations that were not unbonded yet
  std::deque<Event> announced_;  // active events whose unbonded came first
  int64_t now_ = 1'700'000'000;
};

}  // namespace braid::staking
