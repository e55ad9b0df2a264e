// aggregate: documents through a pipeline of stages.
#include "engine/commands/crud/reads.h"

#include "engine/commands/crud/pipeline_host.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/batch.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

bool IsLinearizable(const Request& request) {
  const bson::Value concern = request.body.Find("readConcern");
  const bson::Value level = concern.Is(bson::Type::kObject) ? concern.AsView().Find("level") : bson::Value();
  return level.Is(bson::Type::kString) && level.AsString() == "linearizable";
}

}  // namespace

Result<AggregateArgs> ParseAggregate(Call& call, const Request& request, bool inside_explain) {
  bson::Value target;
  bson::Value stages;
  bson::Value hint;
  std::optional<bson::View> cursor;
  std::optional<bson::View> collation;
  std::optional<bson::View> let;
  AggregateArgs args;
  bool allow_disk_use = true;
  bool bypass_validation = false;
  ArgReader reader(request);
  reader.Required("aggregate", target);
  reader.Required("pipeline", stages);
  reader.Optional("cursor", cursor);
  reader.Optional("explain", args.explain);
  reader.Optional("allowDiskUse", allow_disk_use);
  reader.Optional("bypassDocumentValidation", bypass_validation);
  reader.Optional("collation", collation);
  reader.Optional("hint", hint);
  reader.Optional("let", let);
  reader.Ignore({"rawData", "includeQueryStatsMetrics"});
  BRAID_CHECK_OK(reader.Finish());
  if (!stages.Is(bson::Type::kArray))
    return Status(Code::kTypeMismatch, "'pipeline' option must be specified as an array");
  if (!cursor && !args.explain && !inside_explain) {
    return Status(Code::kFailedToParse,
                  "The 'cursor' option is required, except for aggregate with the explain argument");
  }
  BRAID_TRY(args.batch_size, BatchSizeOf(cursor));

  query::PipelineOptions options;
  if (target.Is(bson::Type::kString)) {
    BRAID_TRY(args.ns, catalog::Namespace::Make(request.database, target.AsString()));
    BRAID_TRY(options.collection, FindForRead(call, args.ns));
    args.sharded = options.collection != nullptr && options.collection->sharded();
  } else if (target.IsNumber()) {
    args.ns = {std::string(request.database), ""};
  } else {
    return Status(Code::kFailedToParse,
                  "Invalid command format: the 'aggregate' field must specify a collection name or 1");
  }
  options.ns = args.ns;
  BRAID_TRY(options.environment, MakeEnvironment(call, options.collection, collation, let));
  query::Query hinted;
  BRAID_CHECK_OK(ReadHint(hint, &hinted));
  options.hint = std::move(hinted.hint);
  options.hint_name = std::move(hinted.hint_name);
  options.allow_disk_use = allow_disk_use;
  options.explain = args.explain || inside_explain;
  options.host = MakePipelineHost(call.engine, args.ns, bypass_validation);
  BRAID_TRY(args.pipeline, query::Pipeline::Parse(stages.AsView(), std::move(options)));
  if (args.pipeline->writes() && IsLinearizable(request)) {
    return Status(Code::kInvalidOptions, "$out and $merge cannot be used with a 'linearizable' read concern level");
  }
  return args;
}

namespace {

Result<bson::Document> RunAggregate(Call& call) {
  BRAID_TRY(AggregateArgs args, ParseAggregate(call, call.request, false));
  if (args.explain) return ExplainPipeline(call, args, Verbosity::kQueryPlanner);
  if (args.pipeline->writes()) call.context.operation().gives_way = false;  // it holds the gate of what it writes to
  auto cursor = std::make_unique<OpenCursor>();
  cursor->ns = args.ns;
  cursor->ns_shown = args.ns.collection.empty() ? args.ns.database + ".$cmd.aggregate" : args.ns.ToString();
  cursor->command = "aggregate";
  cursor->stream = std::move(args.pipeline);
  return FirstBatch(call, std::move(cursor), {.documents_max = args.batch_size});
}

}  // namespace

constinit const Command kAggregate = {.name = "aggregate",
                                      .flags = kReadOnly | kWrites | kTakesReadConcern | kInTransaction | kGivesWay,
                                      .help = "Runs documents through a pipeline.",
                                      .run = RunAggregate};
}  // namespace braid::commands
