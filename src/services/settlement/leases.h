// The symbols that this service may extend, while several services share one store (C10).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "braid/chains.h"

namespace braid::settlement {

/// Takes the lease of a symbol when its first record comes, and keeps it until ReleaseAll(). A lost lease is not taken
/// again before all records that were queued under it are answered: they are refused, and a later record must not be
/// stored without them. Any thread. Does nothing if the Chains have no owner.
class SymbolLeases {
 public:
  /// `most`: how many to take at most; 0 for no limit.
  SymbolLeases(Chains& chains, uint32_t most) : chains_(chains), most_(most) {}

  /// Call before a record of these symbols. kLeaseLost if another service holds one of them. Each OK needs a Leave().
  Status Enter(std::span<const int64_t> symbols);
  /// The record was answered with `status`.
  void Leave(std::span<const int64_t> symbols, const Status& status);
  /// Releases all leases, so that others can take them at once. No record may be in progress.
  Status ReleaseAll();

 private:
  struct State {
    bool held = false;
    uint64_t under_way = 0;
  };
  Status Acquire(int64_t symbol, State& state) BRAID_REQUIRES(mu_);

  Chains& chains_;
  const uint32_t most_;
  Mutex mu_;
  std::map<int64_t, State> states_ BRAID_GUARDED_BY(mu_);
  uint32_t held_ BRAID_GUARDED_BY(mu_) = 0;
};

}  // namespace braid::settlement
