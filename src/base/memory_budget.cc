#include "base/memory_budget.h"

#include <unistd.h>

#include <algorithm>

#include "base/strings.h"

namespace braid {
namespace {

constexpr uint64_t kDefaultMin = 256ull << 20;
constexpr uint64_t kClientsMin = 64ull << 20;  // a message of 48 MB and a reply of 16 MiB

bool IsForClients(MemoryHolder holder) { return holder == MemoryHolder::kMessages || holder == MemoryHolder::kReplies; }

}  // namespace

const char* NameOf(MemoryHolder holder) {
  switch (holder) {
    case MemoryHolder::kTransactions: return "transactions";
    case MemoryHolder::kSorts: return "sorts";
    case MemoryHolder::kGroups: return "groups";
    case MemoryHolder::kScans: return "scans";
    case MemoryHolder::kReplies: return "replies";
    case MemoryHolder::kExpressions: return "expressions";
    case MemoryHolder::kMessages: return "messages";
    case MemoryHolder::kCursors: return "cursors";
  }
  return "";
}

MemoryBudget::MemoryBudget(uint64_t limit_bytes)
    : limit_(limit_bytes), clients_limit_(std::min(limit_bytes, std::max(kClientsMin, limit_bytes / 2))) {}

uint64_t MemoryBudget::DefaultLimit() {
  const auto pages = static_cast<uint64_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  const auto page_bytes = static_cast<uint64_t>(std::max(0L, ::sysconf(_SC_PAGESIZE)));
  return std::max(kDefaultMin, pages * page_bytes / 4);
}

bool MemoryBudget::Take(MemoryHolder holder, uint64_t bytes, bool is_small) {
  const uint64_t limit = limit_ + (is_small ? limit_ / 16 : 0);
  const bool for_clients = IsForClients(holder);
  const bool fits_clients =
      !for_clients || used_for_clients_.fetch_add(bytes, std::memory_order_acquire) + bytes <= clients_limit_;
  if (used_.fetch_add(bytes, std::memory_order_acquire) + bytes > limit || !fits_clients) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    if (for_clients) used_for_clients_.fetch_sub(bytes, std::memory_order_relaxed);
    refused_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  by_holder_[static_cast<size_t>(holder)].fetch_add(bytes, std::memory_order_relaxed);
  return true;
}

void MemoryBudget::GiveBack(MemoryHolder holder, uint64_t bytes) {
  // The holder's figure goes down first: a holder that takes the released memory adds to its figure afterwards, so the
  // sum of the figures never exceeds the limit.
  by_holder_[static_cast<size_t>(holder)].fetch_sub(bytes, std::memory_order_relaxed);
  if (IsForClients(holder)) used_for_clients_.fetch_sub(bytes, std::memory_order_release);
  used_.fetch_sub(bytes, std::memory_order_release);
}

Status MemoryCharge::Change(MemoryBudget* budget, uint64_t bytes) {
  if (budget == nullptr) return {};
  const uint64_t wanted = (bytes + kStep - 1) / kStep * kStep;
  if (wanted > taken_) {
    if (!budget->Take(holder_, wanted - taken_, wanted == kStep)) {
      return {Code::kExceededMemoryLimit,
              StrCat("the server's memory limit of ", budget->limit(), " bytes is reached: ", budget->used(),
                     " are in use, ", budget->used_by(holder_), " of them by ", NameOf(holder_),
                     IsForClients(holder_) ? " (messages and replies may have half of it)" : "",
                     "; try again later, or start the server with a larger --memory-limit")};
    }
  } else {
    budget->GiveBack(holder_, taken_ - wanted);
  }
  budget_ = budget;
  taken_ = wanted;
  return {};
}

void MemoryCharge::Release() {
  if (taken_ > 0) budget_->GiveBack(holder_, taken_);
  taken_ = 0;
}

}  // namespace braid
