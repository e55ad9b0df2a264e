#include "services/settlement/leases.h"

#include "base/assert.h"
#include "base/mutex.h"
#include "base/strings.h"

namespace braid::settlement {

Status SymbolLeases::Enter(std::span<const int64_t> symbols) {
  if (chains_.options().owner.empty()) return {};
  const MutexLock lock(mu_);
  for (const int64_t symbol : symbols) {
    State& state = states_[symbol];
    if (!state.held) BRAID_CHECK_OK(Acquire(symbol, state));
  }
  for (const int64_t symbol : symbols) ++states_[symbol].under_way;
  return {};
}

Status SymbolLeases::Acquire(int64_t symbol, State& state) {
  BRAID_ASSERT(!state.held);
  if (state.under_way > 0) return Status(Code::kLeaseLost, StrCat("the lease of symbol ", symbol, " was lost"));
  if (most_ > 0 && held_ >= most_) {
    return Status(Code::kLeaseLost, StrCat("symbol ", symbol, " is not leased: ", most_, " others are, the most"));
  }
  const Status status = chains_.AcquireLease(symbol).status();
  if (status.code() == Code::kConflictingOperationInProgress) {
    return Status(Code::kLeaseLost, std::string(status.message()));
  }
  BRAID_CHECK_OK(status);
  state.held = true;
  ++held_;
  return {};
}

void SymbolLeases::Leave(std::span<const int64_t> symbols, const Status& status) {
  if (chains_.options().owner.empty()) return;
  const MutexLock lock(mu_);
  for (const int64_t symbol : symbols) {
    State& state = states_[symbol];
    BRAID_ASSERT(state.under_way > 0);  // each Leave() follows an Enter() that was OK
    --state.under_way;
    if (status.code() == Code::kLeaseLost && state.held) {
      BRAID_ASSERT(held_ > 0);
      state.held = false;
      --held_;
    }
  }
}

Status SymbolLeases::ReleaseAll() {
  const MutexLock lock(mu_);
  Status failure;
  for (auto& [symbol, state] : states_) {
    if (!state.held) continue;
    state.held = false;
    --held_;
    if (Status status = chains_.ReleaseLease(symbol); failure.ok()) failure = std::move(status);
  }
  BRAID_ASSERT(held_ == 0);
  return failure;
}

}  // namespace braid::settlement
