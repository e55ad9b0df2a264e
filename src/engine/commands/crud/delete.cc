// delete: removes matching documents, one or all.
#include "engine/commands/parts.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/shared/statements.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

struct DeleteArgs {
  std::string_view collection;
  std::vector<bson::View> deletes;
  bool ordered = true;
  std::optional<bson::View> let;
};

Result<DeleteArgs> ParseDelete(const Request& request) {
  DeleteArgs args;
  ArgReader reader(request);
  reader.Collection("delete", args.collection);
  reader.Required("deletes", args.deletes);
  reader.Optional("ordered", args.ordered);
  reader.Optional("let", args.let);
  reader.Ignore({"isTimeseriesNamespace", "rawData"});
  BRAID_CHECK_OK(reader.Finish());
  BRAID_CHECK_OK(CheckBatchSize(args.deletes.size()));
  return args;
}

Result<bson::Document> RunDeleteCommand(Call& call) {
  BRAID_TRY(DeleteArgs args, ParseDelete(call.request));
  BRAID_TRY(catalog::Namespace ns, catalog::Namespace::Make(call.request.database, args.collection));
  std::vector<DeleteStatement> statements;
  for (bson::View statement : args.deletes) {
    BRAID_TRY(statements.emplace_back(), ParseDeleteStatement(statement, args.let));
  }
  int64_t n = 0;
  StatementLoop loop(args.ordered);
  for (size_t i = 0; i < statements.size(); ++i) {
    call.engine.counters.deletes.fetch_add(1, std::memory_order_relaxed);
    const Result<int64_t> removed = RunRetryableDelete(call, ns, statements[i], static_cast<int32_t>(i));
    if (!loop.Note(static_cast<int32_t>(i), removed.status())) break;
    n += removed.value_or(0);
  }
  bson::Builder reply;
  reply.Append("n", static_cast<int32_t>(n));
  BRAID_CHECK_OK(loop.Finish(reply));
  return reply.Finish();
}

}  // namespace

constinit const Command kDelete = {.name = "delete",
                                   .flags = kWrites | kRetryable | kInTransaction,
                                   .help = "Removes documents.",
                                   .run = RunDeleteCommand};
}  // namespace braid::commands
