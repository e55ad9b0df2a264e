// bulkWrite: inserts, updates and deletes on any number of collections in one command; results come as a cursor.
#include <limits>

#include "base/strings.h"
#include "engine/bson/number.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/batch.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/shared/statements.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

struct BulkWriteArgs {
  std::vector<bson::View> ops;
  std::vector<bson::View> ns_info;
  std::vector<catalog::Namespace> namespaces;
  bool ordered = true;
  bool errors_only = false;
  bool bypass_validation = false;
  std::optional<bson::View> let;
  std::optional<bson::View> cursor;
};

struct Totals {
  int32_t errors = 0;
  int64_t inserted = 0;
  int64_t matched = 0;
  int64_t modified = 0;
  int64_t upserted = 0;
  int64_t deleted = 0;
};

Result<catalog::Namespace> ParseNamespace(bson::View info) {
  std::string_view full;
  ArgReader reader(info, "bulkWrite.nsInfo");
  reader.Required("ns", full);
  reader.Ignore({"isTimeseriesNamespace"});
  reader.Refuse({"collectionUUID"}, "a collection is named, its uuid is not compared");
  reader.Refuse({"encryptionInformation"}, "queryable encryption is not supported");
  BRAID_CHECK_OK(reader.Finish());
  const size_t dot = full.find('.');
  if (dot == std::string_view::npos) {
    return Status(Code::kInvalidNamespace, StrCat("Invalid namespace specified for bulkWrite: '", full, "'"));
  }
  return catalog::Namespace::Make(full.substr(0, dot), full.substr(dot + 1));
}

Result<BulkWriteArgs> ParseBulkWrite(const Request& request) {
  BulkWriteArgs args;
  ArgReader reader(request);
  reader.Ignore({"bulkWrite", "rawData"});
  reader.Required("ops", args.ops);
  reader.Required("nsInfo", args.ns_info);
  reader.Optional("ordered", args.ordered);
  reader.Optional("errorsOnly", args.errors_only);
  reader.Optional("bypassDocumentValidation", args.bypass_validation);
  reader.Optional("let", args.let);
  reader.Optional("cursor", args.cursor);
  BRAID_CHECK_OK(reader.Finish());
  BRAID_CHECK_OK(CheckBatchSize(args.ops.size()));
  for (bson::View info : args.ns_info) {
    BRAID_TRY(args.namespaces.emplace_back(), ParseNamespace(info));
  }
  return args;
}

/// The namespace an operation's first field ({insert: 0, …}) points at.
Result<const catalog::Namespace*> NamespaceOf(const BulkWriteArgs& args, const bson::Value& index) {
  const auto number = index.IsNumber() ? bson::Number::Of(index).ToInt64Exact() : std::nullopt;
  if (!number || *number < 0 || static_cast<size_t>(*number) >= args.namespaces.size()) {
    return Status(Code::kBadValue, "BulkWrite ops entry has an index into nsInfo that is out of range");
  }
  return &args.namespaces[static_cast<size_t>(*number)];
}

/// One entry of the reply's cursor.
struct Outcome {
  int64_t n = 0;
  std::optional<int64_t> modified;
  std::optional<bson::OwnedValue> upserted;
};

Result<Outcome> RunInsert(Call& call, const BulkWriteArgs& args, bson::View op, const catalog::Namespace& ns,
                          int32_t number, Totals& totals) {
  bson::View document;
  ArgReader reader(op, "bulkWrite.ops");
  reader.Ignore({"insert"});
  reader.Required("document", document);
  BRAID_CHECK_OK(reader.Finish());
  call.engine.counters.inserts.fetch_add(1, std::memory_order_relaxed);
  Status problem;
  const auto failed = [&](size_t, const Status& status) {
    problem = status;
    return false;
  };
  BRAID_TRY(int64_t n, InsertDocuments(call, ns, std::span(&document, 1), {.bypass_validation = args.bypass_validation},
                                       failed, number));
  if (!problem.ok()) return problem;
  totals.inserted += n;
  return Outcome{.n = n, .modified = {}, .upserted = {}};
}

Result<Outcome> RunOneUpdate(Call& call, const BulkWriteArgs& args, bson::View op, const catalog::Namespace& ns,
                             int32_t number, Totals& totals) {
  UpdateStatement statement;
  std::optional<bson::View> constants;
  ArgReader reader(op, "bulkWrite.ops");
  reader.Ignore({"update", "sampleId", "upsertSupplied"});
  reader.Required("filter", statement.q);
  reader.Required("updateMods", statement.u);
  reader.Optional("multi", statement.multi);
  reader.Optional("upsert", statement.upsert);
  reader.Optional("arrayFilters", statement.array_filters);
  reader.Optional("collation", statement.collation);
  reader.Optional("constants", constants);
  reader.Optional("hint", statement.hint);
  reader.Optional("sort", statement.sort);
  BRAID_CHECK_OK(reader.Finish());
  statement.let = constants ? constants : args.let;
  statement.options.bypass_validation = args.bypass_validation;
  call.engine.counters.updates.fetch_add(1, std::memory_order_relaxed);
  BRAID_TRY(UpdateResult outcome, RunRetryableUpdate(call, ns, std::move(statement), number));
  totals.matched += outcome.matched;
  totals.modified += outcome.modified;
  totals.upserted += outcome.upserted ? 1 : 0;
  return Outcome{outcome.matched + (outcome.upserted ? 1 : 0), outcome.modified, outcome.upserted};
}

Result<Outcome> RunOneDelete(Call& call, const BulkWriteArgs& args, bson::View op, const catalog::Namespace& ns,
                             int32_t number, Totals& totals) {
  DeleteStatement statement;
  ArgReader reader(op, "bulkWrite.ops");
  reader.Ignore({"delete", "sampleId"});
  reader.Required("filter", statement.q);
  reader.Optional("multi", statement.multi);
  reader.Optional("collation", statement.collation);
  reader.Optional("hint", statement.hint);
  BRAID_CHECK_OK(reader.Finish());
  statement.let = args.let;
  call.engine.counters.deletes.fetch_add(1, std::memory_order_relaxed);
  BRAID_TRY(int64_t n, RunRetryableDelete(call, ns, std::move(statement), number));
  totals.deleted += n;
  return Outcome{.n = n, .modified = {}, .upserted = {}};
}

Result<Outcome> RunOne(Call& call, const BulkWriteArgs& args, int32_t number, Totals& totals) {
  const bson::View op = args.ops[static_cast<size_t>(number)];
  if (op.empty()) return Status(Code::kBadValue, "an operation of bulkWrite is empty");
  const auto [kind, index] = *op.begin();
  BRAID_TRY(const catalog::Namespace* ns, NamespaceOf(args, index));
  if (kind == "insert") return RunInsert(call, args, op, *ns, number, totals);
  if (kind == "update") return RunOneUpdate(call, args, op, *ns, number, totals);
  if (kind == "delete") return RunOneDelete(call, args, op, *ns, number, totals);
  return Status(Code::kFailedToParse, StrCat("an operation of bulkWrite must be insert, update or delete, not ", kind));
}

bson::Document Entry(int32_t index, const Result<Outcome>& outcome) {
  bson::Builder entry;
  entry.Append("ok", outcome.ok() ? 1.0 : 0.0).Append("idx", index);
  if (!outcome.ok()) {
    entry.Append("code", static_cast<int32_t>(outcome.error().code())).Append("errmsg", outcome.error().message());
    if (!outcome.error().details().empty()) entry.AppendAll(bson::View(outcome.error().details()));
  }
  entry.Append("n", static_cast<int32_t>(outcome.ok() ? outcome->n : 0));
  if (outcome.ok() && outcome->modified) entry.Append("nModified", static_cast<int32_t>(*outcome->modified));
  if (outcome.ok() && outcome->upserted) entry.OpenObject("upserted").Append("_id", *outcome->upserted).Close();
  return entry.Finish();
}

Result<bson::Document> RunBulkWrite(Call& call) {
  BRAID_TRY(BulkWriteArgs args, ParseBulkWrite(call.request));
  Totals totals;
  std::vector<bson::Document> entries;
  for (size_t i = 0; i < args.ops.size(); ++i) {
    const Result<Outcome> outcome = RunOne(call, args, static_cast<int32_t>(i), totals);
    if (!outcome.ok() && write::EndsCommand(outcome.error().code())) return outcome.error();
    if (!outcome.ok()) ++totals.errors;
    if (!outcome.ok() || !args.errors_only) entries.push_back(Entry(static_cast<int32_t>(i), outcome));
    if (!outcome.ok() && args.ordered) break;
  }
  BRAID_TRY(bson::Document reply,
            ListReply(call, {"admin", "$cmd.bulkWrite"}, "admin.$cmd.bulkWrite", std::move(entries), args.cursor));
  bson::Builder whole;
  whole.AppendAll(reply);
  whole.Append("nErrors", totals.errors).Append("nInserted", static_cast<int32_t>(totals.inserted));
  whole.Append("nMatched", static_cast<int32_t>(totals.matched))
      .Append("nModified", static_cast<int32_t>(totals.modified));
  whole.Append("nUpserted", static_cast<int32_t>(totals.upserted))
      .Append("nDeleted", static_cast<int32_t>(totals.deleted));
  return whole.Finish();
}

}  // namespace

constinit const Command kBulkWrite = {.name = "bulkWrite",
                                      .flags = kWrites | kRetryable | kInTransaction | kAdminOnly,
                                      .help = "Runs many writes on many collections.",
                                      .run = RunBulkWrite};
}  // namespace braid::commands
