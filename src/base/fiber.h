// Fiber: a function that can wait in the middle without keeping a thread, and Parking, the place where it waits.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>

#include "base/mutex.h"

namespace braid {

/// The place where one waiter waits. Wake-ups are never lost but may be spurious: the waiter checks again whether it
/// still has to wait.
class Parking {
 public:
  /// Returns once Unpark() has been called since the last Park(), maybe before this call. On a fiber the thread does
  /// other work meanwhile, and the fiber may continue on another thread: no lock may be held. Elsewhere the thread
  /// blocks.
  void Park();
  /// Any thread, any number of times. The caller ensures that this object exists until the call returns, by holding a
  /// lock that the waiter takes after Park() and before it destroys the object.
  void Unpark();

 private:
  friend class Fiber;
  enum class State { kAwake, kParked, kWoken };
  void ParkThread();

  std::atomic<State> state_{State::kAwake};
  class Fiber* fiber_ = nullptr;  // the fiber that is parked here; set before kParked
  Mutex mu_;                      // guards no member: a thread that parks here misses no notification
  CondVar woken_;
};

/// Runs one function after another, each on a stack of its own. One thread at a time uses it.
class Fiber {
 public:
  /// How long a function may run before it should give way.
  struct Turn {
    std::chrono::microseconds at_most{};
    /// If given: the turn ends after `at_least` already if this is true then, because more urgent work waits.
    const std::atomic<bool>* is_wanted = nullptr;
    std::chrono::microseconds at_least{};
  };

  /// `ready` is called, from any thread, when a parked function can continue: some thread must then call Resume() soon.
  /// `later`, if given, is called when the function has given way to others: Resume() must be called once they have had
  /// their turn.
  explicit Fiber(std::function<void()> ready, std::function<void()> later = nullptr)
      : ready_(std::move(ready)), later_(std::move(later)) {}
  ~Fiber();  ///< nothing may be running
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Runs `body` until it ends (true), or parks or gives way (false), which it does when its `turn` is over. It must
  /// not throw, and must exist until it has ended.
  bool Run(const std::function<void()>& body, const Turn& turn);
  /// Continues `body` from where it parked or gave way.
  bool Resume(const Turn& turn);

  /// Long-running functions call this now and then. If the turn of the fiber is over, others get theirs, and the fiber
  /// may continue on another thread: no lock may be held. Does nothing unless called on a fiber with a `later`.
  static void GiveWay();
  /// True if GiveWay() would let others go first.
  static bool IsTurnOver();

  /// Frees the stacks that nothing has needed since the last call, except for some that are always kept, and of those
  /// that are idle the memory that only deep recursion uses. To be called about once a second.
  static void FreeUnusedStacks();
  static size_t idle_stacks();

 private:
  friend class Parking;
  struct Stack;
  class Stacks;
  bool Enter();

  const std::function<void()> ready_;
  const std::function<void()> later_;
  Turn turn_;
  std::chrono::steady_clock::time_point turn_begin_{};  // zero: it has not asked yet since it was entered
  Stack* stack_ = nullptr;                              // while something runs
  Parking* parking_ = nullptr;                          // where it parks, from the switch back to the thread on
};

}  // namespace braid
