#include "base/gate.h"

#include "base/assert.h"

namespace braid {

Gate::~Gate() {
  const MutexLock lock(mu_);
  BRAID_ASSERT(!closed_ && sharing_ == 0 && waiting_.empty());
}

Result<Gate::Pass> Gate::Share(Waiter& waiter) {
  BRAID_CHECK_OK(Enter(false, waiter));
  return Pass(*this, false);
}

Result<Gate::Pass> Gate::Close(Waiter& waiter) {
  BRAID_CHECK_OK(Enter(true, waiter));
  return Pass(*this, true);
}

std::optional<Gate::Pass> Gate::TryClose() {
  const MutexLock lock(mu_);
  if (!waiting_.empty() || !HasRoom(true)) return std::nullopt;
  Admit(true);
  return Pass(*this, true);
}

Status Gate::Enter(bool alone, Waiter& waiter) {
  Place place{waiter, alone};
  MutexLock lock(mu_);
  if (waiting_.empty() && HasRoom(alone)) {
    Admit(alone);
    return {};
  }
  waiting_.push_back(&place);
  if (alone) closing_.fetch_add(1, std::memory_order_relaxed);
  while (true) {
    lock.Unlock();
    const Status status = waiter.Wait();
    lock.Lock();
    if (place.admitted) return {};
    if (status.ok()) continue;
    std::erase(waiting_, &place);
    if (alone) closing_.fetch_sub(1, std::memory_order_relaxed);
    AdmitWaiting();  // those behind it may fit in beside those that are inside
    return status;
  }
}

void Gate::Leave(bool alone) {
  const MutexLock lock(mu_);
  BRAID_ASSERT(alone ? closed_ : sharing_ > 0);
  if (alone) {
    closed_ = false;
  } else {
    --sharing_;
  }
  AdmitWaiting();
}

void Gate::Admit(bool alone) {
  if (alone) {
    closed_ = true;
  } else {
    ++sharing_;
  }
}

void Gate::AdmitWaiting() {
  while (!waiting_.empty() && HasRoom(waiting_.front()->alone)) {
    Place& first = *waiting_.front();
    waiting_.pop_front();
    if (first.alone) closing_.fetch_sub(1, std::memory_order_relaxed);
    Admit(first.alone);
    first.admitted = true;
    first.waiter.Wake();  // under the lock, which the waiter takes before it goes on
  }
}

}  // namespace braid
