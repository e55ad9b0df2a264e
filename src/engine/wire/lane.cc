#include "engine/wire/lane.h"

#include <utility>

#include "base/assert.h"

namespace braid::wire {

void Lane::Push(int turns, std::function<void()> stretch) {
  figures_.waiting.fetch_add(1, std::memory_order_relaxed);
  Waiting waiting{std::move(stretch), std::chrono::steady_clock::now()};
  const MutexLock lock(mu_);
  (turns < kYoungTurns ? young_ : old_).push_back(std::move(waiting));
}

Lane::Waiting Lane::Take() {
  const MutexLock lock(mu_);
  BRAID_ASSERT(!young_.empty() || !old_.empty());
  const bool is_turn_of_old = young_.empty() || (!old_.empty() && young_in_a_row_ >= kOldEvery - 1);
  young_in_a_row_ = is_turn_of_old || old_.empty() ? 0 : young_in_a_row_ + 1;
  std::deque<Waiting>& from = is_turn_of_old ? old_ : young_;
  Waiting next = std::move(from.front());
  from.pop_front();
  return next;
}

void Lane::RunNext() {
  const Waiting next = Take();
  const std::chrono::nanoseconds waited = std::chrono::steady_clock::now() - next.since;
  figures_.waiting.fetch_sub(1, std::memory_order_relaxed);
  figures_.waits.fetch_add(1, std::memory_order_relaxed);
  figures_.waited_nanos.fetch_add(waited.count(), std::memory_order_relaxed);
  next.stretch();
}

}  // namespace braid::wire
