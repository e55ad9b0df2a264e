// update: changes documents by operators, replacement or pipeline; inserts if asked and nothing matches.
#include "engine/commands/parts.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/shared/statements.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

struct UpdateArgs {
  std::string_view collection;
  std::vector<bson::View> updates;
  bool ordered = true;
  bool bypass_validation = false;
  std::optional<bson::View> let;
};

Result<UpdateArgs> ParseUpdate(const Request& request) {
  UpdateArgs args;
  ArgReader reader(request);
  reader.Collection("update", args.collection);
  reader.Required("updates", args.updates);
  reader.Optional("ordered", args.ordered);
  reader.Optional("bypassDocumentValidation", args.bypass_validation);
  reader.Optional("let", args.let);
  reader.Ignore({"isTimeseriesNamespace", "rawData"});
  BRAID_CHECK_OK(reader.Finish());
  BRAID_CHECK_OK(CheckBatchSize(args.updates.size()));
  return args;
}

Result<bson::Document> RunUpdateCommand(Call& call) {
  BRAID_TRY(UpdateArgs args, ParseUpdate(call.request));
  BRAID_TRY(catalog::Namespace ns, catalog::Namespace::Make(call.request.database, args.collection));
  std::vector<UpdateStatement> statements;
  for (bson::View update : args.updates) {
    BRAID_TRY(statements.emplace_back(), ParseUpdateStatement(update, args.let));
    statements.back().options.bypass_validation = args.bypass_validation;
  }
  int64_t matched = 0;
  int64_t modified = 0;
  bson::Builder upserted;
  bool any_upserted = false;
  StatementLoop loop(args.ordered);
  for (size_t i = 0; i < statements.size(); ++i) {
    call.engine.counters.updates.fetch_add(1, std::memory_order_relaxed);
    const Result<UpdateResult> outcome = RunRetryableUpdate(call, ns, statements[i], static_cast<int32_t>(i));
    if (!loop.Note(static_cast<int32_t>(i), outcome.status())) break;
    if (!outcome.ok()) continue;
    matched += outcome->matched + (outcome->upserted ? 1 : 0);
    modified += outcome->modified;
    if (outcome->upserted) {
      upserted.OpenNextObject().Append("index", static_cast<int32_t>(i)).Append("_id", *outcome->upserted).Close();
      any_upserted = true;
    }
  }
  bson::Builder reply;
  reply.Append("n", static_cast<int32_t>(matched)).Append("nModified", static_cast<int32_t>(modified));
  if (any_upserted) reply.AppendArray("upserted", upserted.Finish());
  BRAID_CHECK_OK(loop.Finish(reply));
  return reply.Finish();
}

}  // namespace

constinit const Command kUpdate = {.name = "update",
                                   .flags = kWrites | kRetryable | kInTransaction,
                                   .help = "Changes documents.",
                                   .run = RunUpdateCommand};
}  // namespace braid::commands
