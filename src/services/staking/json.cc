#include "services/staking/json.h"

#include "base/strings.h"

namespace braid::staking {
namespace {

void AppendSums(const Counters& set, const CounterValues& sums, client::Bson& json) {
  for (const std::string& field : set.options().fields) json.Integer(field.c_str(), sums[field]);
}

bool IsLowerHex(const std::string& text) { return text.find_first_not_of("0123456789abcdef") == std::string::npos; }

}  // namespace

Status CheckTransactionHash(const std::string& text) {
  if (text.size() == 64 && IsLowerHex(text)) return {};
  return Status(Code::kBadValue,
                StrCat("'", text, "' is not the hash of a transaction: 64 hexadecimal digits in lower case"));
}

Status CheckPublicKey(const std::string& text) {
  if ((text.size() == 64 || text.size() == 66) && IsLowerHex(text)) return {};
  return Status(Code::kBadValue, StrCat("'", text, "' is not a public key: 64 or 66 hexadecimal digits in lower case"));
}

void AppendOverall(const Tables& tables, const Overall& overall, client::Bson& json) {
  AppendSums(*tables.overall, overall.sums, json);
  json.Integer("pending_events", overall.pending_events)
      .Integer("unprocessable_messages", overall.unprocessable_messages)
      .Integer("conflicting_events", overall.conflicting_events)
      .Integer("logical_shard_count", tables.overall->shard_count());
}

void AppendEntity(const Tables& tables, const Counters& set, const std::string& entity, const CounterValues& sums,
                  client::Bson& json) {
  json.Text(&set == tables.stakers.get() ? "staker_pk_hex" : "finality_provider_pk_hex", entity);
  AppendSums(set, sums, json);
}

void AppendRanking(const Tables& tables, const Counters& set, const Page& page, client::Bson& json) {
  client::Bson rows;
  for (size_t i = 0; i < page.rows.size(); ++i) {
    client::Bson row;
    AppendEntity(tables, set, page.rows[i].entity, page.rows[i].sums, row);
    rows.Document(StrCat(i).c_str(), row);
  }
  json.Array("rows", rows).Text("next", page.next);
}

void AppendOutcome(const Outcome& outcome, client::Bson& json) {
  json.Integer("accepted", static_cast<int64_t>(outcome.accepted))
      .Integer("duplicate", static_cast<int64_t>(outcome.duplicate))
      .Integer("parked", static_cast<int64_t>(outcome.parked))
      .Integer("rejected", static_cast<int64_t>(outcome.rejected))
      .Integer("conflicting", static_cast<int64_t>(outcome.conflicting))
      .Integer("released", static_cast<int64_t>(outcome.released));
}

void AppendAudit(const AuditReport& report, client::Bson& json) {
  // A number that does not fit in 64 bits is text.
  const auto append_sum = [](client::Bson& to, const char* key, WideSum sum) {
    if (sum >= INT64_MIN && sum <= INT64_MAX) {
      to.Integer(key, static_cast<int64_t>(sum));
    } else {
      to.Text(key, ToText(sum));
    }
  };
  client::Bson differences;
  for (size_t i = 0; i < report.differences.size(); ++i) {
    const Difference& difference = report.differences[i];
    client::Bson one;
    one.Text("collection", difference.where).Text("id", difference.id).Text("field", difference.field);
    append_sum(one, "expected", difference.expected);
    append_sum(one, "found", difference.found);
    differences.Document(StrCat(i).c_str(), one);
  }
  json.Bool("ok", report.ok())
      .Integer("delegations", static_cast<int64_t>(report.delegations))
      .Integer("finality_providers", static_cast<int64_t>(report.finality_providers))
      .Integer("stakers", static_cast<int64_t>(report.stakers))
      .Integer("locks", static_cast<int64_t>(report.locks))
      .Integer("pending_events", static_cast<int64_t>(report.pending_events))
      .Integer("differences_total", static_cast<int64_t>(report.differences_total))
      .Array("differences", differences)
      .Integer("repaired", static_cast<int64_t>(report.repaired));
}

}  // namespace braid::staking
