// The settlement log over HTTP: outputs in; records, heads, verification, proofs, checkpoints and the views out.
#include <algorithm>

#include "base/mutex.h"
#include "base/strings.h"
#include "client/fields.h"
#include "http/api.h"
#include "http/routes.h"
#include "patterns/chains/hash.h"
#include "services/settlement/checkpoints.h"
#include "services/settlement/json.h"
#include "services/settlement/migration/state.h"
#include "services/settlement/views/look_up.h"

namespace braid::http {
namespace {

using settlement::Answer;
using settlement::Outcome;
using settlement::View;
using settlement::migration::MigrationWatch;

constexpr size_t kOutputErrorsMax = 100;
constexpr int64_t kRecordsMax = 1000;
constexpr size_t kRecordPageBytes = 4 << 20;  // a page ends at this size, whatever its limit

// Outputs of one request. Their answers come on any thread.
class OutputsIntake {
 public:
  explicit OutputsIntake(std::shared_ptr<settlement::Settlement> service)
      : service_(std::move(service)),
        intake_(
            *service_, [this](const Answer& answer) { Note(answer); }, "http") {}

  // `number` is what the client calls the line.
  void Submit(std::string_view line, uint64_t number) { intake_.Submit(line, number); }

  Response Finish() {
    intake_.Flush();
    client::Bson json;
    AppendTotals(intake_.totals(), json);
    const MutexLock lock(mu_);
    std::ranges::sort(errors_, {}, &Answer::number);
    client::Bson errors;
    for (size_t i = 0; i < errors_.size(); ++i) {
      const Answer& answer = errors_[i];
      client::Bson error;
      error.Integer("line", static_cast<int64_t>(answer.line))
          .Integer("output_seq", answer.output_seq)
          .Text("outcome", NameOf(answer.outcome))
          .Text("message", answer.status.message());
      errors.Document(StrCat(i).c_str(), error);
    }
    json.Array("errors", errors);
    return JsonResponse(json);
  }

 private:
  void Note(const Answer& answer) {
    if (answer.outcome == Outcome::kAccepted || answer.outcome == Outcome::kDuplicate) return;
    const MutexLock lock(mu_);
    if (errors_.size() < kOutputErrorsMax) errors_.push_back(answer);
  }

  const std::shared_ptr<settlement::Settlement> service_;
  Mutex mu_;
  std::vector<Answer> errors_ BRAID_GUARDED_BY(mu_);
  settlement::Intake intake_;  // last: its answers use the rest
};

// A migration that begins meanwhile ends the request: what came before it is stored.
class OutputsUpload final : public Upload {
 public:
  OutputsUpload(std::shared_ptr<settlement::Settlement> service, const MigrationWatch& watch)
      : watch_(watch), intake_(std::move(service)) {}
  Status Take(std::span<const std::string_view> lines, std::span<const uint64_t> numbers) override {
    BRAID_CHECK_OK(watch_.Check());
    for (size_t i = 0; i < lines.size(); ++i) intake_.Submit(lines[i], numbers[i]);
    return {};
  }
  Result<Response> Finish() override { return intake_.Finish(); }

 private:
  MigrationWatch watch_;
  OutputsIntake intake_;
};

Result<std::unique_ptr<Upload>> OpenOutputs(Api& api, const Call& /*call*/) {
  MigrationWatch watch(api.clients(), settlement::Options());
  BRAID_CHECK_OK(watch.Check());
  BRAID_TRY(std::shared_ptr<settlement::Settlement> service, api.Settlement());
  return std::unique_ptr<Upload>(std::make_unique<OutputsUpload>(std::move(service), watch));
}

Result<Response> RunOutputs(Api& api, const Call& call) {
  BRAID_TRY(const std::vector<std::string> outputs, ObjectsOf(call.body, "an output"));
  BRAID_CHECK_OK(MigrationWatch(api.clients(), settlement::Options()).Check());
  BRAID_TRY(std::shared_ptr<settlement::Settlement> service, api.Settlement());
  OutputsIntake intake(std::move(service));
  for (size_t i = 0; i < outputs.size(); ++i) intake.Submit(outputs[i], i + 1);
  return intake.Finish();
}

Result<Response> RunHeads(Api& api, const Call& /*call*/) {
  BRAID_TRY(const std::shared_ptr<Chains> chains, api.SettlementLog());
  BRAID_TRY(const std::vector<ChainHead> heads, chains->Heads());
  BRAID_TRY(const std::vector<LeaseInfo> leases, chains->Leases());
  BRAID_TRY(const settlement::RefusedNow refused,
            settlement::ReadRefused(api.clients(), settlement::Options().ToChains()));
  client::Bson json;
  settlement::AppendHeads(heads, leases, refused, json);
  return JsonResponse(json);
}

// Records of one symbol, up to a limit of them and of bytes.
struct RecordPage {
  std::vector<std::string> lines;
  std::string next;  // the sequence that the next page begins with
};

Result<RecordPage> ReadRecords(Chains& chains, int64_t symbol, int64_t from, int64_t limit) {
  RecordPage page;
  size_t bytes = 0;
  settlement::OutputParser parser;
  BRAID_CHECK_OK(chains.Read(symbol, from, [&](const ChainRecordView& record) -> Result<bool> {
    if (static_cast<int64_t>(page.lines.size()) == limit || bytes > kRecordPageBytes) {
      page.next = StrCat(record.sequence);
      return false;
    }
    BRAID_TRY(std::string line, RecordLine(parser, record));
    bytes += line.size();
    page.lines.push_back(std::move(line));
    return true;
  }));
  return page;
}

std::string JoinedLines(const std::vector<std::string>& lines, std::string_view between) {
  std::string text;
  for (const std::string& line : lines) text += StrCat(text.empty() ? "" : between, line);
  return text;
}

Result<Response> RunRecords(Api& api, const Call& call) {
  BRAID_TRY(const std::shared_ptr<Chains> chains, api.SettlementLog());
  const int64_t symbol = call.arguments.Integer("symbol_id");
  if (call.wants_lines) {
    auto page = [chains, symbol](const std::string& after) -> Result<LinePage> {
      BRAID_TRY(const RecordPage read, ReadRecords(*chains, symbol, std::stoll(after), kRecordsMax));
      const std::string lines = JoinedLines(read.lines, "\n");
      return LinePage{.lines = lines.empty() ? "" : lines + "\n", .next = read.next};
    };
    return LinesResponse(std::move(page), call.arguments.Text("from"));
  }
  BRAID_TRY(const RecordPage page,
            ReadRecords(*chains, symbol, call.arguments.Integer("from"), call.arguments.Integer("limit")));
  return Response{.body = StrCat("{\"records\":[", JoinedLines(page.lines, ","),
                                 "],\"next\":", page.next.empty() ? "null" : page.next, "}")};
}

// With everything that its hash covers, so that the client can recompute it.
Result<Response> RunRecord(Api& api, const Call& call) {
  BRAID_TRY(const std::shared_ptr<Chains> chains, api.SettlementLog());
  const int64_t symbol = call.arguments.Integer("symbol_id");
  const int64_t sequence = call.arguments.Integer("output_seq");
  client::Bson json;
  bool found = false;
  BRAID_CHECK_OK(chains->Read(symbol, sequence, [&](const ChainRecordView& record) -> Result<bool> {
    if (record.sequence != sequence) {
      if (found) json.Integer("next_seq", record.sequence);
      return false;
    }
    found = true;
    client::Bson also;
    for (size_t i = 0; i < record.also.size(); ++i) also.Integer(StrCat(i).c_str(), record.also[i]);
    json.Integer("symbol_id", record.chain)
        .Integer("output_seq", record.sequence)
        .Text("prev_hash", chains::HexOf(record.prev_hash))
        .Text("hash", chains::HexOf(record.hash))
        .Array("also", also)
        .Text("payload", record.payload)
        .Text("created_at", UtcText(record.created_at_ms));
    return true;
  }));
  if (!found) return ErrorResponse(404, "NotFound", StrCat("symbol ", symbol, " has no record ", sequence));
  return JsonResponse(json);
}

Result<Response> RunRepairs(Api& api, const Call& call) {
  BRAID_CHECK_OK(api.SettlementLog());
  const ChainsOptions options = settlement::Options().ToChains();
  const Client client = api.clients().Acquire();
  const client::CollectionPtr handle =
      client::CollectionOf(client.get(), options.database, StrCat(options.log, "_repairs"));
  BRAID_TRY(const client::BsonPtr newest,
            client::ParseJson(StrCat(R"({"sort": {"_id": -1}, "limit": )", call.arguments.Integer("limit"), "}")));
  client::Bson exists;
  exists.Bool("$exists", true);
  client::Bson of_chains;  // others are of lines
  of_chains.Document("symbol_id", exists);
  client::Bson rows;
  int64_t count = 0;
  BRAID_CHECK_OK(ForEachDocument(
      client::CursorPtr(mongoc_collection_find_with_opts(handle.get(), of_chains.get(), newest.get(), nullptr)),
      [&](const bson_t& repair) {
        client::Bson row;
        row.Integer("symbol_id", client::IntegerOf(&repair, "symbol_id"))
            .Integer("at_ms", client::DateOf(&repair, "at").value_or(0))
            .Text("by", client::TextOf(&repair, "by"))
            .Text("reason", client::TextOf(&repair, "reason"))
            .Text("action", client::TextOf(&repair, "action"));
        rows.Document(StrCat(count++).c_str(), row);
      }));
  client::Bson json;
  json.Array("repairs", rows);
  return JsonResponse(json);
}

Result<Response> RunVerification(Api& api, const Call& call) {
  BRAID_TRY(const std::shared_ptr<Chains> chains, api.SettlementLog());
  VerifyOptions options{.threads = 1, .from_sequence = call.arguments.Integer("from")};
  if (const std::optional<int64_t> symbol = call.arguments.OptionalInteger("symbol_id")) {
    BRAID_TRY(const std::vector<ChainHead> heads, chains->Heads());
    const bool known = std::ranges::any_of(heads, [&](const ChainHead& head) { return head.chain == *symbol; });
    if (!known) return ErrorResponse(404, "NotFound", StrCat("the log has no symbol ", *symbol));
    options.chains = {*symbol};
  }
  BRAID_TRY(const VerifyReport report, chains->Verify(options));
  client::Bson json;
  settlement::AppendVerification(report, json);
  return JsonResponse(json);
}

Result<Response> RunCheckpoints(Api& api, const Call& /*call*/) {
  BRAID_CHECK_OK(api.SettlementLog());
  BRAID_TRY(const auto list, settlement::ListCheckpoints(api.clients(), settlement::Options().ToChains()));
  client::Bson json;
  AppendCheckpoints(list, json);
  return JsonResponse(json);
}

Result<Response> NoCheckpoint() {
  return ErrorResponse(404, "NotFound", "there is no checkpoint yet: `braid settlement checkpoint` makes one");
}

Result<Response> RunNewestCheckpoint(Api& api, const Call& /*call*/) {
  BRAID_CHECK_OK(api.SettlementLog());
  BRAID_TRY(const auto newest, settlement::NewestCheckpoint(api.clients(), settlement::Options().ToChains()));
  if (!newest) return NoCheckpoint();
  return Response{.body = ToJson(*newest)};
}

Result<Response> RunProof(Api& api, const Call& call) {
  BRAID_TRY(const std::shared_ptr<Chains> chains, api.SettlementLog());
  BRAID_TRY(const auto newest, settlement::NewestCheckpoint(api.clients(), settlement::Options().ToChains()));
  if (!newest) return NoCheckpoint();
  BRAID_TRY(const InclusionProof proof, settlement::Prove(*chains, *newest, call.arguments.Integer("symbol_id"),
                                                          call.arguments.Integer("output_seq")));
  return Response{.body = ToJson(proof)};
}

// Views.

settlement::LookUp LookUpOf(const Call& call, View view) {
  const auto given = [&](std::string_view name) -> std::optional<std::string> {
    const std::string& text = call.arguments.Text(name);
    return text.empty() ? std::nullopt : std::optional(text);
  };
  settlement::LookUp look_up{.view = view, .user = given("user_id")};
  look_up.limit = call.arguments.Integer("limit");
  look_up.after = call.arguments.Text("after");
  if (view == View::kBalances) look_up.asset = given("asset");
  if (view == View::kTrades) look_up.symbol = call.arguments.OptionalInteger("symbol_id");
  return look_up;
}

Result<Response> ViewResponse(Api& api, const Call& call, View view) {
  settlement::LookUp look_up = LookUpOf(call, view);
  const std::string database = settlement::Options().database;
  if (call.wants_lines) {
    auto page = [&api, look_up, database, view](const std::string& after) mutable -> Result<LinePage> {
      look_up.after = after;
      look_up.limit = kRecordsMax;
      BRAID_TRY(const settlement::LookUpPage read, ReadRows(api.clients(), database, look_up));
      LinePage lines{.next = read.next};
      for (const client::BsonPtr& row : read.rows) {
        client::Bson json;
        AppendRow(view, *row, json);
        lines.lines += client::ToJson(json) + "\n";
      }
      return lines;
    };
    return LinesResponse(std::move(page), look_up.after);
  }
  BRAID_TRY(const settlement::LookUpPage page, ReadRows(api.clients(), database, look_up));
  client::Bson json;
  AppendRows(view, page, json);
  return JsonResponse(json);
}

Result<Response> RunBalances(Api& api, const Call& call) { return ViewResponse(api, call, View::kBalances); }
Result<Response> RunTrades(Api& api, const Call& call) { return ViewResponse(api, call, View::kTrades); }

using Place = Parameter::Place;
using Type = Parameter::Type;
constexpr Parameter kSymbolPath = {
    .name = "symbol_id", .help = "The symbol.", .place = Place::kPath, .type = Type::kInteger};
constexpr Parameter kSymbolQuery = {.name = "symbol_id", .help = "Only of this symbol.", .type = Type::kInteger};
constexpr Parameter kFromSequence = {
    .name = "from", .help = "The first output_seq.", .type = Type::kInteger, .fallback = "1", .min = 1};
constexpr Parameter kRowsLimit = {.name = "limit",
                                  .help = "Rows of the page.",
                                  .type = Type::kInteger,
                                  .fallback = "100",
                                  .min = 1,
                                  .max = kRecordsMax};
constexpr Parameter kRowsAfter = {.name = "after", .help = "Continue behind a page: its next."};

constexpr Parameter kRecordParameters[] = {kSymbolPath, kFromSequence, kRowsLimit};
constexpr Parameter kVerificationParameters[] = {kSymbolQuery, kFromSequence};
constexpr Parameter kProofParameters[] = {
    kSymbolPath,
    {.name = "output_seq", .help = "The output.", .place = Place::kPath, .type = Type::kInteger, .min = 1}};
constexpr Parameter kRepairParameters[] = {kRowsLimit};
constexpr Parameter kBalanceParameters[] = {{.name = "user_id", .help = "Only of this user."},
                                            {.name = "asset", .help = "Only of this asset."},
                                            kRowsLimit,
                                            kRowsAfter};
constexpr Parameter kTradeParameters[] = {
    {.name = "user_id", .help = "Only trades that this user bought or sold in."}, kSymbolQuery, kRowsLimit, kRowsAfter};

constexpr std::string_view kSettlement = "settlement";
constexpr Route kSettlementRoutes[] = {
    {.method = "POST",
     .path = "/v1/outputs",
     .group = kSettlement,
     .summary = "Appends outputs to the chains of their symbols: one, an array, or one per line.",
     .takes = "Outputs",
     .gives = "AppendOutcome",
     .run = RunOutputs,
     .upload = OpenOutputs},
    {.method = "GET",
     .path = "/v1/heads",
     .group = kSettlement,
     .summary = "Each symbol's chain as it is now.",
     .gives = "Heads",
     .run = RunHeads,
     .cacheable = true},
    {.method = "GET",
     .path = "/v1/symbols/{symbol_id}/records",
     .group = kSettlement,
     .summary = "The records of a symbol in order.",
     .parameters = kRecordParameters,
     .gives = "RecordPage",
     .run = RunRecords,
     .gives_lines = true,
     .cacheable = true},
    {.method = "GET",
     .path = "/v1/symbols/{symbol_id}/records/{output_seq}",
     .group = kSettlement,
     .summary = "A record with the payload that its hash is made of.",
     .parameters = kProofParameters,
     .gives = "Record",
     .run = RunRecord,
     .cacheable = true},
    {.method = "GET",
     .path = "/v1/repairs",
     .group = kSettlement,
     .summary = "The repairs of halted chains, newest first.",
     .parameters = kRepairParameters,
     .gives = "Repairs",
     .run = RunRepairs,
     .cacheable = true},
    {.method = "GET",
     .path = "/v1/symbols/{symbol_id}/records/{output_seq}/proof",
     .group = kSettlement,
     .summary = "The proof that a record was in the log when the newest checkpoint was made.",
     .parameters = kProofParameters,
     .gives = "Proof",
     .run = RunProof,
     .cacheable = true},
    {.method = "GET",
     .path = "/v1/verification",
     .group = kSettlement,
     .summary = "Reads every record, or those of a symbol, and says what is damaged. Takes as long as that takes.",
     .parameters = kVerificationParameters,
     .gives = "Verification",
     .run = RunVerification,
     .takes_long = true},
    {.method = "GET",
     .path = "/v1/checkpoints",
     .group = kSettlement,
     .summary = "The checkpoints of the store, newest first.",
     .gives = "Checkpoints",
     .run = RunCheckpoints,
     .cacheable = true},
    {.method = "GET",
     .path = "/v1/checkpoints/newest",
     .group = kSettlement,
     .summary = "The newest checkpoint, signed, as check-proof and verify take it.",
     .gives = "SignedCheckpoint",
     .run = RunNewestCheckpoint,
     .cacheable = true},
    {.method = "GET",
     .path = "/v1/balances",
     .group = kSettlement,
     .summary = "Balances of users, by asset.",
     .parameters = kBalanceParameters,
     .gives = "BalancePage",
     .run = RunBalances,
     .gives_lines = true,
     .cacheable = true},
    {.method = "GET",
     .path = "/v1/trades",
     .group = kSettlement,
     .summary = "Trades; of a symbol in their order.",
     .parameters = kTradeParameters,
     .gives = "TradePage",
     .run = RunTrades,
     .gives_lines = true,
     .cacheable = true},
};

constexpr Schema kSettlementSchemas[] = {
    {"Output",
     R"({"type": "object", "required": ["output_seq"], "properties": {
      "output_seq": {"type": "integer", "minimum": 1}, "symbol_id": {"type": "integer"},
      "input": {"type": "object"}, "order_update": {"type": ["object", "null"]},
      "trades": {"type": "array", "items": {"type": "object"}},
      "balance_events": {"type": "array", "items": {"type": "object"}},
      "prev_hash": {"type": "string"}, "hash": {"type": "string"}}})"},
    {"Outputs",
     R"({"oneOf": [{"$ref": "#/components/schemas/Output"},
      {"type": "array", "items": {"$ref": "#/components/schemas/Output"}}]})"},
    {"AppendOutcome",
     R"({"type": "object",
      "required": ["accepted", "duplicate", "refused", "halted", "elsewhere", "failed", "errors"],
      "properties": {"accepted": {"type": "integer"}, "duplicate": {"type": "integer"},
      "refused": {"type": "integer"}, "halted": {"type": "integer"}, "elsewhere": {"type": "integer"},
      "failed": {"type": "integer"}, "errors": {"type": "array", "maxItems": 100, "items": {"type": "object",
        "required": ["line", "output_seq", "outcome", "message"], "properties": {"line": {"type": "integer"},
        "output_seq": {"type": "integer"}, "outcome": {"type": "string"}, "message": {"type": "string"}}}}}})"},
    {"Heads",
     R"({"type": "object", "required": ["records", "output_seq", "halted", "refused", "unplaced", "symbols"],
      "properties": {"records": {"type": "integer"}, "output_seq": {"type": "integer"},
      "halted": {"type": "integer"}, "refused": {"type": "integer"},
      "unplaced": {"type": "array", "description": "Refused lines of any symbol: nothing new is taken until they are settled.",
        "items": {"type": "object", "required": ["file", "line", "reason"]}}, "symbols": {"type": "array", "items": {
        "type": "object", "required": ["symbol_id", "records", "output_seq", "hash", "halted"], "properties": {
        "symbol_id": {"type": "integer"}, "records": {"type": "integer"}, "output_seq": {"type": "integer"},
        "hash": {"type": "string"}, "halted": {"type": "boolean"}}}}}})"},
    {"RecordPage",
     R"({"type": "object", "required": ["records", "next"], "properties": {"records": {"type": "array", "items": {
      "type": "object", "required": ["symbol_id", "output_seq", "prev_hash", "hash", "input_data", "output_data",
      "created_at"], "properties": {"symbol_id": {"type": "integer"}, "output_seq": {"type": "integer"},
      "prev_hash": {"type": "string"}, "hash": {"type": "string"}, "created_at": {"type": "string"}}}},
      "next": {"type": ["integer", "null"],
      "description": "To be given as from for the next page; null if there is none."}}})"},
    {"Record",
     R"({"type": "object", "required": ["symbol_id", "output_seq", "prev_hash", "hash", "also", "payload",
      "created_at"], "properties": {"symbol_id": {"type": "integer"}, "output_seq": {"type": "integer"},
      "prev_hash": {"type": "string"}, "hash": {"type": "string"},
      "also": {"type": "array", "items": {"type": "integer"}, "description": "The other chains that carry it."},
      "payload": {"type": "string", "description": "The bytes that are hashed; include/braid/chains.h says how."},
      "next_seq": {"type": "integer", "description": "The next record of the chain; absent if it is the newest."},
      "created_at": {"type": "string"}}})"},
    {"Repairs",
     R"({"type": "object", "required": ["repairs"], "properties": {"repairs": {"type": "array", "items": {
      "type": "object", "required": ["symbol_id", "at_ms", "by", "reason", "action"]}}}})"},
    {"Verification",
     R"({"type": "object", "required": ["ok", "symbols", "records", "payload_bytes", "damaged", "damage"],
      "properties": {"ok": {"type": "boolean"}, "symbols": {"type": "integer"}, "records": {"type": "integer"},
      "payload_bytes": {"type": "integer"}, "damaged": {"type": "integer"}, "damage": {"type": "array", "items": {
        "type": "object", "required": ["symbol_id", "output_seq", "what"]}}}})"},
    {"Checkpoints",
     R"({"type": "object", "required": ["checkpoints"], "properties": {"checkpoints": {"type": "array", "items": {
      "type": "object", "required": ["created_at_ms", "output_seq", "symbols", "key_id"]}}}})"},
    {"SignedCheckpoint", R"({"type": "object", "description": "Its fields are in docs/settlement.md."})"},
    {"Proof", R"({"type": "object", "description": "Its fields are in docs/settlement.md."})"},
    {"BalancePage",
     R"({"type": "object", "required": ["balances"], "properties": {"next": {"type": "string",
      "description": "To be given as after for the next page; absent if there is none."},
      "balances": {"type": "array", "items": {"type": "object",
        "required": ["user_id", "asset", "balance", "output_seq", "at"], "properties": {
        "user_id": {"type": "string"}, "asset": {"type": "string"}, "balance": {"type": "string"},
        "output_seq": {"type": "integer"}, "at": {"type": "string"}}}}}})"},
    {"TradePage",
     R"({"type": "object", "required": ["trades"], "properties": {"next": {"type": "string",
      "description": "To be given as after for the next page; absent if there is none."},
      "trades": {"type": "array", "items": {"type": "object", "required": ["trade_id", "symbol_id", "output_seq",
        "at", "price", "qty", "buyer_id", "seller_id"], "properties": {"trade_id": {"type": "string"},
        "symbol_id": {"type": "integer"}, "output_seq": {"type": "integer"}, "price": {"type": "string"},
        "qty": {"type": "string"}, "buyer_id": {"type": "string"}, "seller_id": {"type": "string"}}}}}})"},
};

}  // namespace

std::span<const Route> SettlementRoutes() { return kSettlementRoutes; }
std::span<const Schema> SettlementSchemas() { return kSettlementSchemas; }

}  // namespace braid::http
