// The collections of the staking statistics with their counters and flags, opened together; and the specification of
// the collections.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "braid/counters.h"
#include "braid/once.h"
#include "services/schema/schema.h"

namespace braid::staking {

inline constexpr const char* kDelegations = "delegations";                     // {_id: hash, staker_pk_hex, …, state}
inline constexpr const char* kProviderRanking = "finality_providers_ranking";  // {_id: pk, active_tvl}
inline constexpr const char* kStakerRanking = "staker_ranking";                // {_id: pk, active_tvl}
inline constexpr const char* kPending = "pending_events";                // unbonded before its active: {_id: hash, …}
inline constexpr const char* kConflicting = "conflicting_events";        // {_id: SHA-256 of the text, message, reason}
inline constexpr const char* kUnprocessable = "unprocessable_messages";  // {_id: SHA-256 of the text, message, reason}

/// The lease group of the logical shards (counters.h).
inline constexpr const char* kLeaseGroup = "staking";

struct Options {
  std::string database = "staking";
  /// logical-shard-count; 0: whatever the store has, 10 in a new one.
  uint32_t shard_count = 0;
};

/// Fields of a delegation's counters (A6); the last one is of the totals alone.
inline constexpr const char* kActiveTvl = "active_tvl";
inline constexpr const char* kTotalTvl = "total_tvl";
inline constexpr const char* kActiveDelegations = "active_delegations";
inline constexpr const char* kTotalDelegations = "total_delegations";
inline constexpr const char* kTotalStakers = "total_stakers";
inline constexpr const char* kFieldNames[] = {kActiveTvl, kTotalTvl, kActiveDelegations, kTotalDelegations,
                                              kTotalStakers};

/// One flag per calculation (A4), one bit each.
enum Calculation : uint32_t { kOverall = 1, kFinalityProvider = 2, kStaker = 4 };

struct Tables {
  /// Creates what is missing. kShardCountLowered if the store has more logical shards than the options say.
  static Result<std::unique_ptr<Tables>> Open(Clients& clients, const Options& options);
  /// For callers that only read, or only change what is there: creates nothing and leaves the number of logical shards
  /// as it is, whatever the options say (A3). kNamespaceNotFound if the database has no staking statistics.
  static Result<std::unique_ptr<Tables>> OpenToRead(Clients& clients, const Options& options);

  std::string database;
  Once locks;                           // stats_lock
  std::unique_ptr<Counters> overall;    // overall_stats: {_id: shard}
  std::unique_ptr<Counters> providers;  // finality_providers_stats: {_id: "pk:shard"}
  std::unique_ptr<Counters> stakers;    // staker_stats: {_id: "pk:shard"}
};

/// As Tables::Open() creates them. Everything but the rankings is found by _id; there are no shard keys.
std::span<const schema::CollectionSpec> Collections();

}  // namespace braid::staking
