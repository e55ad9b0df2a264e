// MemoryBudget: one limit on the memory that all requests of a server hold together, and how much each kind of holder
// has of it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "braid/status.h"

namespace braid {

enum class MemoryHolder { kTransactions, kSorts, kGroups, kScans, kReplies, kExpressions, kMessages, kCursors };
inline constexpr size_t kMemoryHolders = 8;
/// As serverStatus names it.
const char* NameOf(MemoryHolder holder);

/// Any thread. The first 64 KiB of each holder may exceed the limit by a sixteenth, so that small requests still run
/// when large ones have taken everything. Incomplete messages and unread replies occupy memory for as long as their
/// clients like. So together they may take half of the limit, and slow clients leave the other half to everyone else.
class MemoryBudget {
 public:
  explicit MemoryBudget(uint64_t limit_bytes);
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  /// A quarter of the machine's memory, at least 256 MiB.
  static uint64_t DefaultLimit();

  uint64_t limit() const { return limit_; }
  /// The limit for messages and replies together: half of the whole limit, but at least one message and one reply.
  uint64_t clients_limit() const { return clients_limit_; }
  /// More than three quarters of that is in use.
  bool short_for_clients() const { return used_for_clients_.load(std::memory_order_relaxed) > clients_limit_ / 4 * 3; }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  uint64_t used_by(MemoryHolder holder) const {
    return by_holder_[static_cast<size_t>(holder)].load(std::memory_order_relaxed);
  }
  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

 private:
  friend class MemoryCharge;
  bool Take(MemoryHolder holder, uint64_t bytes, bool is_small);
  void GiveBack(MemoryHolder holder, uint64_t bytes);

  const uint64_t limit_;
  const uint64_t clients_limit_;
  std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> used_for_clients_{0};
  std::atomic<uint64_t> refused_{0};
  std::array<std::atomic<uint64_t>, kMemoryHolders> by_holder_{};
};

/// The memory that one sort, group, transaction … has taken of the budget; returned by the destructor. One thread at a
/// time.
class MemoryCharge {
 public:
  explicit MemoryCharge(MemoryHolder holder) : holder_(holder) {}
  ~MemoryCharge() { Release(); }
  MemoryCharge(const MemoryCharge&) = delete;
  MemoryCharge& operator=(const MemoryCharge&) = delete;

  /// Sets how much it holds. kExceededMemoryLimit if the budget has not enough left; the previous amount then stays
  /// charged. Without a budget (null) there is no limit.
  Status Set(MemoryBudget* budget, uint64_t bytes) {
    return bytes <= taken_ && taken_ - bytes < kStep ? Status() : Change(budget, bytes);
  }
  void Release();
  bool empty() const { return taken_ == 0; }

 private:
  static constexpr uint64_t kStep = 64 * 1024;  // so that growing by a document at a time costs nothing
  Status Change(MemoryBudget* budget, uint64_t bytes);

  const MemoryHolder holder_;
  MemoryBudget* budget_ = nullptr;
  uint64_t taken_ = 0;
};

}  // namespace braid
