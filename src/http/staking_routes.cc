// Staking statistics over HTTP (A8): totals, rankings, and events.
#include "base/strings.h"
#include "http/api.h"
#include "http/routes.h"
#include "services/staking/audit.h"
#include "services/staking/json.h"
#include "services/staking/queries.h"

namespace braid::http {
namespace {

using staking::Tables;
using Set = std::unique_ptr<Counters> Tables::*;

constexpr int64_t kRankedRowsMax = 10'000;
constexpr size_t kStreamedRows = 1000;  // of a ranking, read at a time

Result<Response> RunOverall(Api& api, const Call& /*call*/) {
  BRAID_TRY(const auto tables, api.StakingTables());
  BRAID_TRY(const staking::Overall overall, GetOverallStats(api.clients(), *tables));
  client::Bson json;
  AppendOverall(*tables, overall, json);
  return JsonResponse(json);
}

Result<Response> EntityResponse(Api& api, const std::string& key, Set which) {
  BRAID_CHECK_OK(staking::CheckPublicKey(key));
  BRAID_TRY(const auto tables, api.StakingTables());
  const Counters& set = *((*tables).*which);
  BRAID_TRY(const CounterValues sums, GetStats(api.clients(), *tables, set, key));
  client::Bson json;
  AppendEntity(*tables, set, key, sums, json);
  return JsonResponse(json);
}

Result<Response> RunStakerStats(Api& api, const Call& call) {
  return EntityResponse(api, call.arguments.Text("staker_pk_hex"), &Tables::stakers);
}
Result<Response> RunProvider(Api& api, const Call& call) {
  return EntityResponse(api, call.arguments.Text("finality_provider_pk_hex"), &Tables::providers);
}

Result<LinePage> RankedLines(Api& api, Set which, const std::string& after) {
  BRAID_TRY(const auto tables, api.StakingTables());
  const Counters& set = *((*tables).*which);
  BRAID_TRY(const staking::Page page, Rank(api.clients(), *tables, set, kStreamedRows, after));
  LinePage lines{.next = page.next};
  for (const staking::Ranked& row : page.rows) {
    client::Bson json;
    AppendEntity(*tables, set, row.entity, row.sums, json);
    lines.lines += client::ToJson(json) + "\n";
  }
  return lines;
}

Result<Response> RankingResponse(Api& api, const Call& call, Set which) {
  const std::string& after = call.arguments.Text("after");
  BRAID_TRY(const auto tables, api.StakingTables());
  if (call.wants_lines) {
    return LinesResponse([&api, which](const std::string& from) { return RankedLines(api, which, from); }, after);
  }
  const Counters& set = *((*tables).*which);
  const auto limit = static_cast<size_t>(call.arguments.Integer("limit"));
  BRAID_TRY(const staking::Page page, Rank(api.clients(), *tables, set, limit, after));
  client::Bson json;
  AppendRanking(*tables, set, page, json);
  return JsonResponse(json);
}

Result<Response> RunProviders(Api& api, const Call& call) { return RankingResponse(api, call, &Tables::providers); }
Result<Response> RunStakers(Api& api, const Call& call) { return RankingResponse(api, call, &Tables::stakers); }

Result<Response> RunLogicalShards(Api& api, const Call& /*call*/) {
  BRAID_TRY(const auto tables, api.StakingTables());
  BRAID_TRY(const std::vector<staking::ShardInfo> shards, DescribeShards(api.clients(), *tables));
  client::Bson rows;
  for (size_t i = 0; i < shards.size(); ++i) {
    client::Bson row;
    row.Text("shard", shards[i].shard);
    for (const char* field : staking::kFieldNames) row.Integer(field, shards[i].sums[field]);
    row.Text("owner", shards[i].owner);
    rows.Document(StrCat(i).c_str(), row);
  }
  client::Bson json;
  json.Array("shards", rows);
  return JsonResponse(json);
}

Result<Response> RunAuditOnly(Api& api, const Call& /*call*/) {
  BRAID_TRY(const auto tables, api.StakingTables());
  BRAID_TRY(const staking::AuditReport report, Audit(api.clients(), *tables, false));
  client::Bson json;
  AppendAudit(report, json);
  return JsonResponse(json);
}

Response IngestResponse(const Api::Ingest& ingest) {
  client::Bson errors;
  for (size_t i = 0; i < ingest.kept().size(); ++i) {
    client::Bson error;
    error.Integer("line", static_cast<int64_t>(ingest.kept()[i].line)).Text("message", ingest.kept()[i].reason);
    errors.Document(StrCat(i).c_str(), error);
  }
  client::Bson json;
  AppendOutcome(ingest.outcome(), json);
  json.Array("errors", errors);
  return JsonResponse(json);
}

class EventsUpload final : public Upload {
 public:
  explicit EventsUpload(std::unique_ptr<Api::Ingest> ingest) : ingest_(std::move(ingest)) {}
  Status Take(std::span<const std::string_view> lines, std::span<const uint64_t> numbers) override {
    return ingest_->Apply(lines, numbers);
  }
  Result<Response> Finish() override { return IngestResponse(*ingest_); }

 private:
  const std::unique_ptr<Api::Ingest> ingest_;
};

Result<std::unique_ptr<Upload>> OpenEvents(Api& api, const Call& /*call*/) {
  BRAID_TRY(std::unique_ptr<Api::Ingest> ingest, api.OpenIngest());
  return std::unique_ptr<Upload>(std::make_unique<EventsUpload>(std::move(ingest)));
}

Result<Response> RunEvents(Api& api, const Call& call) {
  BRAID_TRY(const std::vector<std::string> events, ObjectsOf(call.body, "an event"));
  const std::vector<std::string_view> lines(events.begin(), events.end());
  std::vector<uint64_t> numbers(lines.size());
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = i + 1;
  BRAID_TRY(const std::unique_ptr<Api::Ingest> ingest, api.OpenIngest());
  BRAID_CHECK_OK(ingest->Apply(lines, numbers));
  return IngestResponse(*ingest);
}

constexpr Parameter kRankingParameters[] = {
    {.name = "limit",
     .help = "Rows of the page.",
     .type = Parameter::Type::kInteger,
     .fallback = "20",
     .min = 1,
     .max = kRankedRowsMax},
    {.name = "after", .help = "Where the page before ended: its next."},
};
constexpr Parameter kStakerParameters[] = {
    {.name = "staker_pk_hex",
     .help = "The staker's public key, 64 or 66 hexadecimal digits in lower case.",
     .required = true},
};
constexpr Parameter kProviderParameters[] = {
    {.name = "finality_provider_pk_hex",
     .help = "Its public key, 64 or 66 hexadecimal digits in lower case.",
     .place = Parameter::Place::kPath},
};

constexpr std::string_view kStaking = "staking";
constexpr Route kStakingRoutes[] = {
    {.method = "GET",
     .path = "/v1/stats",
     .group = kStaking,
     .summary = "Totals of everything.",
     .gives = "OverallStats",
     .run = RunOverall,
     .cacheable = true},
    {.method = "GET",
     .path = "/v1/stats/staker",
     .group = kStaking,
     .summary = "Totals of one staker; zeros if it is not known.",
     .parameters = kStakerParameters,
     .gives = "StakerStats",
     .run = RunStakerStats,
     .cacheable = true},
    {.method = "GET",
     .path = "/v1/finality-providers",
     .group = kStaking,
     .summary = "Finality providers by active_tvl, highest first.",
     .parameters = kRankingParameters,
     .gives = "FinalityProviderPage",
     .run = RunProviders,
     .gives_lines = true,
     .cacheable = true},
    {.method = "GET",
     .path = "/v1/finality-providers/{finality_provider_pk_hex}",
     .group = kStaking,
     .summary = "Totals of one finality provider; zeros if it is not known.",
     .parameters = kProviderParameters,
     .gives = "FinalityProviderStats",
     .run = RunProvider,
     .cacheable = true},
    {.method = "GET",
     .path = "/v1/stakers",
     .group = kStaking,
     .summary = "Stakers by active_tvl, highest first.",
     .parameters = kRankingParameters,
     .gives = "StakerPage",
     .run = RunStakers,
     .gives_lines = true,
     .cacheable = true},
    {.method = "GET",
     .path = "/v1/logical-shards",
     .group = kStaking,
     .summary = "The documents that the totals are spread over; their sums are the totals.",
     .gives = "LogicalShards",
     .run = RunLogicalShards,
     .cacheable = true},
    {.method = "GET",
     .path = "/v1/audit",
     .group = kStaking,
     .summary = "Computes every total again from the delegations and says what differs. Changes nothing.",
     .gives = "AuditReport",
     .run = RunAuditOnly,
     .takes_long = true},
    {.method = "POST",
     .path = "/v1/events",
     .group = kStaking,
     .summary = "Takes in events: one, an array, or one per line. Each has its effect exactly once.",
     .takes = "Events",
     .gives = "IngestOutcome",
     .run = RunEvents,
     .upload = OpenEvents},
};

#define BRAID_SUMS                                                          \
  R"("active_tvl": {"type": "integer"}, "total_tvl": {"type": "integer"},)" \
  R"("active_delegations": {"type": "integer"}, "total_delegations": {"type": "integer"})"
#define BRAID_SUM_NAMES R"("active_tvl", "total_tvl", "active_delegations", "total_delegations")"

constexpr Schema kStakingSchemas[] = {
    {"OverallStats",
     R"({"type": "object", "required": [)" BRAID_SUM_NAMES
     R"(, "total_stakers", "pending_events", "unprocessable_messages", "conflicting_events", "logical_shard_count"],
      "properties": {)" BRAID_SUMS R"(, "total_stakers": {"type": "integer"},
      "pending_events": {"type": "integer", "description": "Unbonded events that wait for their active one."},
      "unprocessable_messages": {"type": "integer"}, "conflicting_events": {"type": "integer"},
      "logical_shard_count": {"type": "integer"}}})"},
    {"StakerStats", R"({"type": "object", "required": ["staker_pk_hex", )" BRAID_SUM_NAMES
                    R"(], "properties": {"staker_pk_hex": {"type": "string"}, )" BRAID_SUMS "}}"},
    {"FinalityProviderStats", R"({"type": "object", "required": ["finality_provider_pk_hex", )" BRAID_SUM_NAMES
                              R"(], "properties": {"finality_provider_pk_hex": {"type": "string"}, )" BRAID_SUMS "}}"},
    {"StakerPage",
     R"({"type": "object", "required": ["rows", "next"], "properties": {
      "rows": {"type": "array", "items": {"$ref": "#/components/schemas/StakerStats"}},
      "next": {"type": "string", "description": "To be given as after for the next page; empty if there is none."}}})"},
    {"FinalityProviderPage",
     R"({"type": "object", "required": ["rows", "next"], "properties": {
      "rows": {"type": "array", "items": {"$ref": "#/components/schemas/FinalityProviderStats"}},
      "next": {"type": "string", "description": "To be given as after for the next page; empty if there is none."}}})"},
    {"LogicalShards",
     R"({"type": "object", "required": ["shards"], "properties": {"shards": {"type": "array", "items": {
      "type": "object", "required": ["shard", "owner", )" BRAID_SUM_NAMES R"(], "properties": {
      "shard": {"type": "string"}, "owner": {"type": "string", "description": "Empty: nobody writes it now."}, )" BRAID_SUMS
     "}}}}}"},
    {"AuditReport",
     R"({"type": "object", "required": ["ok", "delegations", "finality_providers", "stakers", "locks",
      "pending_events", "differences_total", "differences", "repaired"], "properties": {"ok": {"type": "boolean"},
      "delegations": {"type": "integer"}, "differences_total": {"type": "integer"},
      "differences": {"type": "array", "items": {"type": "object"}}}})"},
    {"Event",
     R"({"type": "object", "required": ["event_type", "staking_tx_hash_hex"], "properties": {
      "event_type": {"enum": ["active", "unbonded", 1, 2]}, "staking_tx_hash_hex": {"type": "string"},
      "staker_pk_hex": {"type": "string"}, "finality_provider_pk_hex": {"type": "string"},
      "staking_value": {"type": "integer", "minimum": 1, "description": "Satoshi."},
      "timestamp": {"type": "integer", "description": "Seconds since 1970."}}})"},
    {"Events",
     R"({"oneOf": [{"$ref": "#/components/schemas/Event"},
      {"type": "array", "items": {"$ref": "#/components/schemas/Event"}}]})"},
    {"IngestOutcome",
     R"({"type": "object",
      "required": ["accepted", "duplicate", "parked", "rejected", "conflicting", "released", "errors"],
      "properties": {"accepted": {"type": "integer"}, "duplicate": {"type": "integer"},
      "parked": {"type": "integer"}, "rejected": {"type": "integer"}, "conflicting": {"type": "integer"},
      "released": {"type": "integer"}, "errors": {"type": "array", "maxItems": 100,
        "items": {"type": "object", "required": ["line", "message"],
          "properties": {"line": {"type": "integer"}, "message": {"type": "string"}}}}}})"},
};
#undef BRAID_SUMS
#undef BRAID_SUM_NAMES

}  // namespace

std::span<const Route> StakingRoutes() { return kStakingRoutes; }
std::span<const Schema> StakingSchemas() { return kStakingSchemas; }

}  // namespace braid::http
