// find: documents that match a filter, in order, batch by batch.
#include "base/strings.h"
#include "engine/commands/crud/reads.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/batch.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

struct RawArgs {
  std::string_view collection;
  bson::View filter;
  bson::View sort;
  bson::View projection;
  bson::Value hint;
  bson::View min;
  bson::View max;
  std::optional<bson::View> collation;
  std::optional<bson::View> let;
  int64_t skip = 0;
  int64_t limit = 0;
  std::optional<int64_t> batch_size;
  bool single_batch = false;
  bool return_key = false;
  bool show_record_id = false;
  bool tailable = false;
  bool await_data = false;
  bool no_cursor_timeout = false;
};

Result<RawArgs> ParseRaw(const Request& request) {
  RawArgs args;
  ArgReader reader(request);
  reader.Collection("find", args.collection);
  reader.Optional("filter", args.filter);
  reader.Optional("sort", args.sort);
  reader.Optional("projection", args.projection);
  reader.Optional("hint", args.hint);
  reader.Optional("min", args.min);
  reader.Optional("max", args.max);
  reader.Optional("collation", args.collation);
  reader.Optional("let", args.let);
  reader.Optional("skip", args.skip);
  reader.Optional("limit", args.limit);
  reader.Optional("batchSize", args.batch_size);
  reader.Optional("singleBatch", args.single_batch);
  reader.Optional("returnKey", args.return_key);
  reader.Optional("showRecordId", args.show_record_id);
  reader.Optional("tailable", args.tailable);
  reader.Optional("awaitData", args.await_data);
  reader.Optional("noCursorTimeout", args.no_cursor_timeout);
  bool disk = true;
  reader.Optional("allowDiskUse", disk);  // sorts stay in memory: past the limit they fail either way
  reader.Ignore({"oplogReplay", "allowPartialResults", "maxScan", "rawData", "includeQueryStatsMetrics"});
  reader.AtLeast("skip", args.skip, 0);
  reader.AtLeast("limit", args.limit, 0);
  reader.AtLeast("batchSize", args.batch_size.value_or(0), 0);
  reader.Check(!args.await_data || args.tailable, Code::kFailedToParse,
               "Cannot set 'awaitData' without also setting 'tailable'");
  BRAID_CHECK_OK(reader.Finish());
  return args;
}

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

Result<FindArgs> ParseFind(Call& call, const Request& request) {
  BRAID_TRY(RawArgs raw, ParseRaw(request));
  FindArgs args;
  BRAID_TRY(args.ns, catalog::Namespace::Make(request.database, raw.collection));
  args.batch_size = raw.batch_size.value_or(101);
  args.single_batch = raw.single_batch;
  args.no_cursor_timeout = raw.no_cursor_timeout;

  query::Query& query = args.query;
  BRAID_TRY(query.collection, FindForRead(call, args.ns));
  if (raw.tailable && query.collection != nullptr) {
    return Status(Code::kBadValue, StrCat("error processing query: ns=", args.ns.ToString(),
                                          " tailable cursor requested on non capped collection"));
  }
  BRAID_TRY(query.environment, MakeEnvironment(call, query.collection, raw.collation, raw.let));
  BRAID_TRY(query.filter, query::Filter::Parse(raw.filter, query.environment));
  BRAID_TRY(query.sort, ParseSortOrNatural(raw.sort, query));
  if (!raw.projection.empty()) {
    BRAID_TRY(query.projection, query::Projection::Parse(raw.projection, query::Projection::Use::kFind, &query.filter,
                                                         query.environment));
  }
  query.skip = raw.skip;
  query.limit = raw.limit;
  if (!raw.hint.missing()) BRAID_CHECK_OK(ReadHint(raw.hint, &query));
  if (!raw.min.empty()) query.min = bson::Document(raw.min);
  if (!raw.max.empty()) query.max = bson::Document(raw.max);
  query.return_key = raw.return_key;
  query.show_record_id = raw.show_record_id;
  return args;
}

constinit const Command kFind = {.name = "find",
                                 .flags = kReadOnly | kTakesReadConcern | kInTransaction | kGivesWay,
                                 .help = "Returns the documents that match a filter.",
                                 .run = RunFind};

}  // namespace braid::commands
