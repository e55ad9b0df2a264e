// find: documents that match a filter, in order, batch by batch.
#include "engine/commands/crud/batch.h"
#include "engine/commands/crud/find_args.h"
#include "engine/commands/parts.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

Result<bson::Document> RunFind(Call& call) {
  call.engine.counters.queries.fetch_add(1, std::memory_order_relaxed);
  BRAID_TRY(FindArgs args, ParseFind(call, call.request));
  auto cursor = std::make_unique<OpenCursor>();
  cursor->ns = std::move(args.ns);
  cursor->command = "find";
  cursor->no_timeout = args.no_cursor_timeout;
  if (args.query.limit > 0) cursor->remaining = args.query.limit;
  BRAID_TRY(cursor->stream, query::Plan::Make(std::move(args.query)));
  return FirstBatch(call, std::move(cursor), {.documents_max = args.batch_size, .single_batch = args.single_batch});
}

}  // namespace

constinit const Command kFind = {.name = "find",
                                 .flags = kReadOnly | kTakesReadConcern | kInTransaction,
                                 .help = "Returns the documents that match a filter.",
                                 .run = RunFind};
}  // namespace braid::commands
