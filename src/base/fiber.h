// Fiber: a function that can wait in the middle without keeping a thread, and Parking, the place where it waits.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "base/mutex.h"

namespace braid {

/// Where one waiter waits. Wakes up at least as often as it was woken, and sometimes without need: the waiter looks
/// again whether there is still something to wait for.
class Parking {
 public:
  /// Returns once Unpark() has been called since the last Park(), maybe before this call. On a fiber the thread goes on
  /// with other work meanwhile, and the fiber may go on on another one: no lock may be held. Elsewhere the thread
  /// blocks.
  void Park();
  /// Any thread, any number of times. The caller sees to it that this object is there until the call returns: it holds
  /// a lock that the waiter takes after Park(), before it goes away.
  void Unpark();

 private:
  friend class Fiber;
  enum class State { kAwake, kParked, kWoken };
  void ParkThread();

  std::atomic<State> state_{State::kAwake};
  class Fiber* fiber_ = nullptr;  // that is parked here; set before kParked
  Mutex mu_;                      // guards no member: a thread that parks here misses no notification
  CondVar woken_;
};

/// Runs one function after another, each on a stack of its own. One thread at a time uses it.
class Fiber {
 public:
  /// `ready` is called, from any thread, when a function that has parked can go on: Resume() is to be called soon then,
  /// by any one thread.
  /// `later`, if there is one, is called when the function has given way to others: Resume() is to be called when they
  /// have had their turn.
  explicit Fiber(std::function<void()> ready, std::function<void()> later = nullptr)
      : ready_(std::move(ready)), later_(std::move(later)) {}
  ~Fiber();  ///< nothing may be running
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs `body` until it ends (true), or parks or gives way (false), which it does when it has had its thread for
  /// `turn`. It must not throw, and has to be there until it has ended.
  bool Run(const std::function<void()>& body, std::chrono::microseconds turn);
  /// The same from where it parked or gave way.
  bool Resume(std::chrono::microseconds turn);

  /// For functions that run long, now and then: if the fiber has had its thread for a turn, others get theirs, and
  /// it may go on on another thread: no lock may be held. Nothing happens elsewhere than on a fiber with a `later`.
  static void GiveWay();
  /// True if GiveWay() would let others go first.
  static bool IsTurnOver();

  /// False in builds with a sanitizer: there a function that parks blocks its thread, and none gives way.
  static bool GivesThreadsBack();

 private:
  friend class Parking;
  struct Stack;
  class Stacks;
  bool Enter();

  const std::function<void()> ready_;
  const std::function<void()> later_;
  std::chrono::steady_clock::time_point turn_end_{};  // zero: it has not asked yet since it was entered
  std::chrono::microseconds turn_{0};
  Stack* stack_ = nullptr;      // while something runs
  Parking* parking_ = nullptr;  // where it parks, from the switch back to the thread on
};

}  // namespace braid
