// The collections of the staking statistics, their counters and their flags, opened together.
#pragma once

#include <memory>
#include <string>

#include "braid/counters.h"
#include "braid/once.h"

namespace braid::staking {

inline constexpr const char* kDelegations = "delegations";               // {_id: hash, staker_pk_hex, …, state}
inline constexpr const char* kPending = "pending_events";                // unbonded before its active: {_id: hash, …}
inline constexpr const char* kUnprocessable = "unprocessable_messages";  // {_id: SHA-256 of the text, message, reason}

/// Whose logical shards are leased (counters.h).
inline constexpr const char* kLeaseGroup = "staking";

struct Options {
  std::string database = "staking";
  /// logical-shard-count; 0: whatever the store has, 10 in a new one.
  uint32_t shard_count = 0;
};

/// Fields of a delegation's counters, in this order (A6).
enum Field : size_t { kActiveTvl, kTotalTvl, kActiveDelegations, kTotalDelegations, kTotalStakers };
inline constexpr const char* kFieldNames[] = {"active_tvl", "total_tvl", "active_delegations", "total_delegations",
                                              "total_stakers"};

/// One flag a calculation (A4), one bit each.
enum Calculation : uint32_t { kOverall = 1, kFinalityProvider = 2, kStaker = 4 };

struct Tables {
  /// Creates what is missing. kShardCountLowered if the store has more logical shards than the options say.
  static Result<std::unique_ptr<Tables>> Open(Clients& clients, const Options& options);

  std::string database;
  Once locks;                           // stats_lock
  std::unique_ptr<Counters> overall;    // overall_stats: {_id: shard}
  std::unique_ptr<Counters> providers;  // finality_providers_stats: {_id: "pk:shard"}
  std::unique_ptr<Counters> stakers;    // staker_stats: {_id: "pk:shard"}
};

}  // namespace braid::staking
