// Turns: lets only a few requests at a time do work that would take every core and all memory if all did it at once.
// The others wait in the order of their arrival, without a thread.
#pragma once

#include <cstdint>
#include <deque>

#include "base/fiber.h"
#include "base/mutex.h"
#include "braid/status.h"

namespace braid::wire {

/// Any thread.
class Turns {
 public:
  /// One waiter's place in the queue. Used again for its next turn.
  class Place {
   public:
    Place() = default;
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    friend class Turns;
    enum class State { kNone, kWaits, kHasTurn, kAbandoned };
    State state_ = State::kNone;  // guarded by Turns::mutex_
    Parking parking_;
  };

  /// The number of turns that can be held at the same time.
  explicit Turns(size_t at_once) : at_once_(at_once) {}
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  /// Waits for the turn; on a fiber the thread does other work meanwhile. Done() ends it. kClientDisconnect if the
  /// place was abandoned first, kInterruptedAtShutdown if the queue was closed: then there is no turn to end.
  Status Take(Place& place);
  void Done(Place& place);

  /// Cancels the waiter at this place; does nothing if there is none.
  void Abandon(Place& place);
  /// Called when the server stops: ends all waiting.
  void Close();

  /// Holds the turn, if the status is OK, until it goes out of scope.
  class Turn {
   public:
    Turn(Turns& turns, Place& place) : turns_(turns), place_(place), status_(turns.Take(place)) {}
    ~Turn() {
      if (status_.ok()) turns_.Done(place_);
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    const Status& status() const { return status_; }

   private:
    Turns& turns_;
    Place& place_;
    const Status status_;
  };

  struct Figures {
    uint64_t begun = 0;
    uint64_t abandoned = 0;
    size_t running = 0;
    size_t waiting = 0;
  };
  Figures figures() const;

 private:
  void Begin(Place& place) BRAID_REQUIRES(mutex_);
  void WakeNext() BRAID_REQUIRES(mutex_);

  const size_t at_once_;
  mutable Mutex mutex_;
  std::deque<Place*> waiting_ BRAID_GUARDED_BY(mutex_);
  Figures figures_ BRAID_GUARDED_BY(mutex_);
  bool closed_ BRAID_GUARDED_BY(mutex_) = false;
};

}  // namespace braid::wire
