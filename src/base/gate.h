// Gate: many may be inside together, or one alone. Whoever has to wait for it keeps no thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "base/waiter.h"
#include "braid/status.h"

namespace braid {

/// Any thread. First come, first served: those that come after one that wants to be alone wait until it has been
/// inside, so that a stream of the others cannot hold it up for ever. So nobody may enter twice.
class Gate {
 public:
  Gate() = default;
  ~Gate();  ///< nobody may be inside
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  /// The right to be inside, until it is released. Not bound to a thread.
  class Pass {
   public:
    Pass() = default;
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)), alone_(other.alone_) {}
    Pass& operator=(Pass&& other) noexcept {
      std::swap(gate_, other.gate_);
      std::swap(alone_, other.alone_);
      return *this;
    }
    ~Pass() { Release(); }
    void Release() {
      if (gate_ != nullptr) std::exchange(gate_, nullptr)->Leave(alone_);
    }
    bool empty() const { return gate_ == nullptr; }

   private:
    friend class Gate;
    Pass(Gate& gate, bool alone) : gate_(&gate), alone_(alone) {}
    Gate* gate_ = nullptr;
    bool alone_ = false;
  };

  /// Enters together with others. The waiter's error if that gives up first.
  Result<Pass> Share(Waiter& waiter);
  /// Enters alone, in the same way.
  Result<Pass> Close(Waiter& waiter);
  /// Enters alone if nobody is inside or waits.
  std::optional<Pass> TryClose();

  /// Somebody waits to be alone: those that are inside for long let it in soon.
  bool IsWanted() const { return closing_.load(std::memory_order_relaxed) > 0; }

 private:
  struct Place {
    Waiter& waiter;
    const bool alone;
    bool admitted = false;  // guarded by mu_
  };
  Status Enter(bool alone, Waiter& waiter);
  void Leave(bool alone);
  bool HasRoom(bool alone) const BRAID_REQUIRES(mu_) { return !closed_ && (!alone || sharing_ == 0); }
  void Admit(bool alone) BRAID_REQUIRES(mu_);
  void AdmitWaiting() BRAID_REQUIRES(mu_);

  mutable Mutex mu_;
  int64_t sharing_ BRAID_GUARDED_BY(mu_) = 0;
  bool closed_ BRAID_GUARDED_BY(mu_) = false;  // one is inside alone
  std::deque<Place*> waiting_ BRAID_GUARDED_BY(mu_);
  std::atomic<int64_t> closing_{0};  // of those that wait, how many want to be alone
};

}  // namespace braid
