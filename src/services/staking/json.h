// The answers of the statistics as JSON (F4), the same on the command line and over HTTP.
#pragma once

#include <string>

#include "client/handles.h"
#include "services/staking/audit.h"
#include "services/staking/batch.h"
#include "services/staking/queries.h"

namespace braid::staking {

/// OK if the text is a public key of 64 or 66 hexadecimal digits in lower case, else kBadValue with what is wrong.
Status CheckPublicKey(const std::string& text);
/// The same for the hash of a transaction: 64 digits.
Status CheckTransactionHash(const std::string& text);

void AppendOverall(const Tables& tables, const Overall& overall, client::Bson& json);
/// Of one entity of `set`, which is `tables.stakers` or `tables.providers`.
void AppendEntity(const Tables& tables, const Counters& set, const std::string& entity, const CounterValues& sums,
                  client::Bson& json);
/// rows and next.
void AppendRanking(const Tables& tables, const Counters& set, const Page& page, client::Bson& json);
void AppendOutcome(const Outcome& outcome, client::Bson& json);
void AppendAudit(const AuditReport& report, client::Bson& json);

}  // namespace braid::staking
