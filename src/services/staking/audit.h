// Audit: every total computed again from the delegations, and compared (A9).
#pragma once

#include <string>
#include <vector>

#include "services/staking/tables.h"

namespace braid::staking {

struct Difference {
  std::string where;  // a collection
  std::string id;     // an entity, or a document's _id; empty for the whole
  std::string field;
  WideSum expected = 0;
  WideSum found = 0;
};

/// In decimal.
std::string ToText(WideSum value);

struct AuditReport {
  uint64_t delegations = 0;
  uint64_t finality_providers = 0;
  uint64_t stakers = 0;
  uint64_t locks = 0;
  uint64_t pending_events = 0;
  /// The first thousand.
  std::vector<Difference> differences;
  uint64_t differences_total = 0;
  uint64_t repaired = 0;
  bool ok() const { return differences_total == 0; }
};

/// Compares at one snapshot, while others write: the sums of the whole, of every finality provider and of every staker,
/// the number of stakers, and that each delegation has its flags, each flag its delegation, and nothing is pending
/// whose active has come. With `repair`, in the same transaction, totals and flags become what the delegations say; the
/// delegations and pending events themselves are never changed. Sums are computed with 128 bits; a repair whose totals
/// do not fit in the counters' 64 bits is kOverflow and changes nothing. The transaction must end within the store's
/// limit (60 s by default); memory grows with the number of entities.
Result<AuditReport> Audit(Clients& clients, const Tables& tables, bool repair);

}  // namespace braid::staking
