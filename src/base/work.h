// Work: what the request that a thread is busy with may still do. Every loop that input can make long asks it whether
// to go on, and every value that an expression makes is taken from its memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/memory_budget.h"
#include "braid/status.h"

namespace braid {

/// The work of one request. One thread at a time. What computes has no context at hand, so the request's work is found
/// through the thread (Current); it moves with the fiber when that goes on on another thread.
class Work {
 public:
  static constexpr int64_t kBytesMax = 100 << 20;

  explicit Work(MemoryBudget* budget = nullptr, int64_t bytes_max = kBytesMax)
      : budget_(budget), bytes_max_(bytes_max) {}
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// What the thread works on; work that nobody interrupts if no request was entered.
  static Work& Current();
  /// Makes another one current, null: none; returns the one before. For Entered and for fibers.
  static Work* Exchange(Work* work);

  /// One more step, or several at once: OK, why the request is to stop, or which memory was refused since. Costs a
  /// subtraction most of the time.
  Status Tick(size_t steps = 1) {
    steps_left_ -= static_cast<int64_t>(steps);
    return steps_left_ > 0 ? Status() : Ask();
  }
  /// The same, asked at once.
  Status Check() { return Ask(); }
  /// The same where no error can be returned: false if the work is to end here; the next Tick() says why.
  bool GoesOn(size_t steps = 1) {
    steps_left_ -= static_cast<int64_t>(steps);
    return steps_left_ > 0 || AskLater();
  }

  MemoryBudget* budget() const { return budget_; }

  /// The fiber that the work is done on gives its thread back, or has got one again. Asked by fibers.
  virtual void Leave() {}
  virtual void Enter() {}
  int64_t held() const { return held_; }
  /// Memory that is there already: more of it, or less. Too much is for the next Tick() to say.
  void Hold(int64_t bytes);

 protected:
  /// OK, or why the request is to stop. Asked about every kStepsBetween steps.
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

/// As how many steps it counts to read so many bytes.
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

  /// It is about to be so much. False, and nothing has changed, if the request or the server has not enough left; the
  /// next Tick() says so.
  bool Fits(size_t bytes) { return bytes <= bytes_ || Grow(bytes, /*force=*/false); }
  /// The same for what is small and cannot fail: it is taken at any rate.
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
