// insert: stores documents; each gets an _id if it has none.
#include "engine/commands/parts.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/shared/statements.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

struct InsertArgs {
  std::string_view collection;
  std::vector<bson::View> documents;
  bool ordered = true;
  bool bypass_validation = false;
};

Result<InsertArgs> ParseInsert(const Request& request) {
  InsertArgs args;
  ArgReader reader(request);
  reader.Collection("insert", args.collection);
  reader.Required("documents", args.documents);
  reader.Optional("ordered", args.ordered);
  reader.Optional("bypassDocumentValidation", args.bypass_validation);
  reader.Ignore({"isTimeseriesNamespace", "rawData"});
  BRAID_CHECK_OK(reader.Finish());
  BRAID_CHECK_OK(CheckBatchSize(args.documents.size()));
  return args;
}

Result<bson::Document> RunInsertCommand(Call& call) {
  BRAID_TRY(InsertArgs args, ParseInsert(call.request));
  BRAID_TRY(catalog::Namespace ns, catalog::Namespace::Make(call.request.database, args.collection));
  call.engine.counters.inserts.fetch_add(args.documents.size(), std::memory_order_relaxed);
  bson::Builder errors;
  bool any = false;
  const auto failed = [&](size_t index, const Status& status) {
    AppendWriteError(errors, static_cast<int32_t>(index), status);
    any = true;
    return !args.ordered;
  };
  BRAID_TRY(int64_t n,
            InsertDocuments(call, ns, args.documents, {.bypass_validation = args.bypass_validation}, failed));
  bson::Builder reply;
  reply.Append("n", static_cast<int32_t>(n));
  if (any) reply.AppendArray("writeErrors", errors.Finish());
  return reply.Finish();
}

}  // namespace

constinit const Command kInsert = {.name = "insert",
                                   .flags = kWrites | kRetryable | kInTransaction,
                                   .help = "Stores documents.",
                                   .run = RunInsertCommand};
}  // namespace braid::commands
