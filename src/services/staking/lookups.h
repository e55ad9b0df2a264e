// Look-ups of delegations and of refused messages, in pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/handles.h"
#include "services/staking/ingestor.h"

namespace braid::staking {

/// Documents by _id, as they are stored.
struct FoundPage {
  std::vector<client::BsonPtr> rows;
  /// The `after` of the next page; empty if there is none.
  std::string next;
};

/// Selects a page; each page starts after the last _id of the previous one, whatever changed in between.
struct PageOptions {
  size_t limit = 20;  // 1..10000
  std::string after;
};

/// Empty fields match everything. A delegation without a timestamp is in no range of time.
struct DelegationFilter {
  std::string hash;
  std::string staker;
  std::string finality_provider;
  std::optional<State> state;
  std::optional<int64_t> from_s;  // timestamp, inclusive
  std::optional<int64_t> to_s;    // timestamp, exclusive
};

/// Reads the delegations in the order of their hash until the page is full.
Result<FoundPage> FindDelegations(Clients& clients, const Tables& tables, const DelegationFilter& filter,
                                  const PageOptions& page);

struct MessageFilter {
  /// conflicting_events instead of unprocessable_messages.
  bool conflicting = false;
  std::string reason;  // a part of it
  std::string file;
  std::optional<int64_t> from_ms;  // received_at, inclusive
  std::optional<int64_t> to_ms;    // received_at, exclusive

  const char* collection() const { return conflicting ? kConflicting : kUnprocessable; }
};

Result<FoundPage> FindMessages(Clients& clients, const Tables& tables, const MessageFilter& filter,
                               const PageOptions& page);

struct RetryReport {
  Outcome outcome;
  uint64_t tried = 0;
  uint64_t removed = 0;  // taken in now, and no longer kept
  uint64_t cut = 0;      // kept with their beginning only: cannot be tried
};

/// Processes again every message that the filter matches, and removes those that are no longer refused: for example
/// after a version that understands them was installed. A kill in between may leave a message that was processed; the
/// next run finds it done and removes it.
Result<RetryReport> RetryMessages(Clients& clients, const IngestOptions& options, const MessageFilter& filter);

}  // namespace braid::staking
