// Work: the limits of the request that a thread runs. Every loop whose length depends on input asks it whether to go
// on, and every value that an expression computes is charged to its memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/memory_budget.h"
#include "braid/status.h"

namespace braid {

/// The work of one request. One thread at a time. Code that computes has no context at hand, so the request's work is
/// found through the thread (Current); it moves with the fiber when the fiber continues on another thread.
class Work {
 public:
  static constexpr int64_t kBytesMax = 100 << 20;

  explicit Work(MemoryBudget* budget = nullptr, int64_t bytes_max = kBytesMax)
      : budget_(budget), bytes_max_(bytes_max) {}
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// The thread's current work; without a request, a default that is never interrupted.
  static Work& Current();
  /// Makes another work current (null: none) and returns the previous one. For Entered and for fibers.
  static Work* Exchange(Work* work);

  /// One more step, or several at once: OK, or why the request must stop, or which memory was refused since. Costs a
  /// subtraction most of the time.
  Status Tick(size_t steps = 1) {
    steps_left_ -= static_cast<int64_t>(steps);
    return steps_left_ > 0 ? Status() : Ask();
  }
  /// The same, without waiting for kStepsBetween steps.
  Status Check() { return Ask(); }
  /// The same where no error can be returned: false if the work must end here; the next Tick() says why.
  bool GoesOn(size_t steps = 1) {
    steps_left_ -= static_cast<int64_t>(steps);
    return steps_left_ > 0 || AskLater();
  }

  MemoryBudget* budget() const { return budget_; }

  /// Fibers call these when the work's fiber gives its thread back, and when it has one again.
  virtual void Leave() {}
  virtual void Enter() {}
  int64_t held() const { return held_; }
  /// Charges or releases memory that is allocated already. If it is too much, the next Tick() fails.
  void Hold(int64_t bytes);

 protected:
  /// OK, or why the request must stop. Called about every kStepsBetween steps.
  virtual Status Interrupted() { return {}; }

 private:
  friend class HeldMemory;
  static constexpr int64_t kStepsBetween = 1024;
  Status Ask();
  bool AskLater();
  /// The next Tick() returns the status.
  void Refuse(Status status);

  MemoryBudget* const budget_;
  const int64_t bytes_max_;
  int64_t held_ = 0;  // by computed values; a cursor's may have been taken by an earlier request
  int64_t steps_left_ = kStepsBetween;
  Status refused_;
};

/// The number of steps that reading `bytes` counts as.
constexpr size_t StepsFor(size_t bytes) { return 1 + bytes / 64; }

/// While alive, the thread (or fiber) works on this.
class WorkEntered {
 public:
  explicit WorkEntered(Work& work) : before_(Work::Exchange(&work)) {}
  ~WorkEntered() { Work::Exchange(before_); }
  WorkEntered(const WorkEntered&) = delete;
  WorkEntered& operator=(const WorkEntered&) = delete;

 private:
  Work* const before_;
};

/// Memory of computed values: taken from the current work and from the server's budget, given back at the end. May
/// outlive the work. One thread at a time.
class HeldMemory {
 public:
  HeldMemory() = default;
  ~HeldMemory() { Release(); }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;

  /// Announces the new amount. False, and nothing has changed, if the request or the server has not enough memory left;
  /// the next Tick() says so.
  bool Fits(size_t bytes) { return bytes <= bytes_ || Grow(bytes, /*force=*/false); }
  /// The same for small amounts where failing is not possible: they are always taken.
  void Take(size_t bytes) {
    if (bytes > bytes_) Grow(bytes, /*force=*/true);
  }
  /// kExceededMemoryLimit if it does not fit.
  Status Set(size_t bytes);
  void Shrink(size_t bytes);
  void Release() {
    if (bytes_ > 0) Shrink(0);
  }
  size_t bytes() const { return bytes_; }

 private:
  bool Grow(size_t bytes, bool force);

  size_t bytes_ = 0;
  MemoryCharge charge_{MemoryHolder::kExpressions};
};

/// For the vectors of one evaluation: their memory is part of the work's.
template <typename T>
class HeldAllocator {
 public:
  using value_type = T;
  HeldAllocator() = default;
  template <typename U>
  HeldAllocator(const HeldAllocator<U>&) {}  // NOLINT(google-explicit-constructor)
  T* allocate(size_t count);
  void deallocate(T* at, size_t count);
  bool operator==(const HeldAllocator&) const = default;
};

namespace internal {
void* AllocateHeld(size_t bytes);
void DeallocateHeld(void* at, size_t bytes);
}  // namespace internal

template <typename T>
T* HeldAllocator<T>::allocate(size_t count) {
  return static_cast<T*>(internal::AllocateHeld(count * sizeof(T)));
}
template <typename T>
void HeldAllocator<T>::deallocate(T* at, size_t count) {
  internal::DeallocateHeld(at, count * sizeof(T));
}

}  // namespace braid
