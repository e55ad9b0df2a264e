#include "engine/wire/turns.h"

#include <algorithm>

#include "base/assert.h"

namespace braid::wire {

Status Turns::Take(Place& place) {
  MutexLock lock(mutex_);
  BRAID_ASSERT(place.state_ == Place::State::kNone);
  if (closed_) return {Code::kInterruptedAtShutdown, "the server is shutting down"};
  if (figures_.running < at_once_ && waiting_.empty()) {
    Begin(place);
    return {};
  }
  place.state_ = Place::State::kWaits;
  waiting_.push_back(&place);
  while (place.state_ == Place::State::kWaits) {
    lock.Unlock();
    place.parking_.Park();
    lock.Lock();
  }
  if (place.state_ == Place::State::kHasTurn) return {};
  place.state_ = Place::State::kNone;
  if (closed_) return {Code::kInterruptedAtShutdown, "the server is shutting down"};
  return {Code::kClientDisconnect, "the client has closed the connection"};
}

void Turns::Done(Place& place) {
  const MutexLock lock(mutex_);
  BRAID_ASSERT(place.state_ == Place::State::kHasTurn && figures_.running > 0);
  place.state_ = Place::State::kNone;
  --figures_.running;
  WakeNext();
}

void Turns::Begin(Place& place) {
  BRAID_ASSERT(figures_.running < at_once_);
  ++figures_.begun;
  ++figures_.running;
  place.state_ = Place::State::kHasTurn;
}

// The turn belongs to the next in line from here on: no newcomer gets it first.
void Turns::WakeNext() {
  if (waiting_.empty() || figures_.running >= at_once_) return;
  Place& next = *waiting_.front();
  waiting_.pop_front();
  Begin(next);
  next.parking_.Unpark();
}

void Turns::Abandon(Place& place) {
  const MutexLock lock(mutex_);
  if (place.state_ != Place::State::kWaits) return;
  const auto at = std::ranges::find(waiting_, &place);
  BRAID_ASSERT(at != waiting_.end());
  waiting_.erase(at);
  ++figures_.abandoned;
  place.state_ = Place::State::kAbandoned;
  place.parking_.Unpark();
}

void Turns::Close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  for (Place* place : waiting_) {
    place->state_ = Place::State::kAbandoned;
    place->parking_.Unpark();
  }
  waiting_.clear();
}

Turns::Figures Turns::figures() const {
  const MutexLock lock(mutex_);
  Figures figures = figures_;
  figures.waiting = waiting_.size();
  return figures;
}

}  // namespace braid::wire
