// explain: how a command would run, or ran: stages, bounds, keys and documents examined.
#include "engine/commands/crud/reads.h"

#include <chrono>

#include "base/strings.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/shared/statements.h"
#include "engine/commands/table.h"
#include "engine/exec/plan/stage.h"

namespace braid::commands {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// The result of an explained command on each shard: its stages and figures.
struct Explained {
  catalog::Namespace ns;
  bool write = false;
  bool sorted = false;
  bson::Document parsed_query;
  std::vector<query::ShardReport> planned;
  std::vector<query::ShardReport> executed;  // empty if nothing was run
  query::ExecutionFigures figures;           // of all shards together
  uint64_t millis = 0;

  /// The stage that merges the shards' results.
  std::string_view stage() const {
    if (write) return "SHARD_WRITE";
    if (planned.size() == 1) return "SINGLE_SHARD";
    return sorted ? "SHARD_MERGE_SORT" : "SHARD_MERGE";
  }
};

/// A write's stage on top of its search. Nothing is written: the documents that it would change are counted.
bson::Document UnderWrite(std::string_view stage, const bson::Document& search,
                          const query::ExecutionFigures* figures) {
  bson::Builder builder;
  builder.Append("stage", stage);
  if (figures != nullptr) {
    builder.Append("nReturned", 0);
    builder.Append(stage == "DELETE" ? "nWouldDelete" : "nWouldModify", static_cast<int64_t>(figures->returned));
  }
  return builder.Append("inputStage", search).Finish();
}

struct PlanOptions {
  std::string_view write_stage;  // "UPDATE" or "DELETE"; empty: a read
  bool one = false;              // stops at the first match
};

/// Plans the query and, if asked, runs it to its end for its figures.
Result<Explained> ExplainPlan(Call& call, catalog::Namespace ns, query::Query query, Verbosity verbosity,
                              const PlanOptions& options) {
  Explained explained{.ns = std::move(ns), .write = !options.write_stage.empty(), .sorted = !query.sort.empty()};
  explained.parsed_query = query.filter.ToBson();
  query.explain = true;
  const auto started = steady_clock::now();
  BRAID_TRY(std::unique_ptr<query::Plan> plan, query::Plan::Make(std::move(query)));
  BRAID_CHECK_OK(plan->Prepare(call.context));
  explained.planned = plan->Report(false);
  bson::View document;
  for (bool more = verbosity != Verbosity::kQueryPlanner; more;) {
    BRAID_TRY(more, plan->Next(call.context, &document));
    more = more && !options.one;
  }
  explained.millis = duration_cast<milliseconds>(steady_clock::now() - started).count();
  explained.figures = plan->figures();
  if (verbosity != Verbosity::kQueryPlanner) explained.executed = plan->Report(true);
  if (!explained.write) return explained;
  for (query::ShardReport& shard : explained.planned) {
    shard.stages = UnderWrite(options.write_stage, shard.stages, nullptr);
  }
  for (query::ShardReport& shard : explained.executed) {
    shard.stages = UnderWrite(options.write_stage, shard.stages, &shard.figures);
    shard.figures.returned = 0;
  }
  explained.figures.returned = 0;
  return explained;
}

void AppendPlanner(bson::Builder& reply, Call& call, const Explained& explained) {
  reply.OpenObject("queryPlanner").OpenObject("winningPlan");
  reply.Append("stage", explained.stage()).OpenArray("shards");
  for (const query::ShardReport& shard : explained.planned) {
    reply.OpenNextObject().Append("explainVersion", "1").Append("shardName", ShardName(call.engine, shard.shard));
    reply.Append("connectionString", ShardHost(call.engine, shard.shard)).Append("serverInfo", ServerInfo(call.engine));
    reply.Append("namespace", explained.ns.ToString()).Append("parsedQuery", explained.parsed_query);
    reply.Append("indexFilterSet", false).Append("winningPlan", shard.stages).OpenArray("rejectedPlans");
    for (const bson::Document& rejected : shard.rejected) reply.AppendNext(rejected);
    reply.Close().Close();
  }
  reply.Close().Close().Close();
}

void AppendFigures(bson::Builder& reply, const query::ExecutionFigures& figures, uint64_t millis) {
  query::plan::AppendNumber(reply, "nReturned", figures.returned);
  query::plan::AppendNumber(reply, "executionTimeMillis", millis);
  query::plan::AppendNumber(reply, "totalKeysExamined", figures.keys_examined);
  query::plan::AppendNumber(reply, "totalDocsExamined", figures.documents_examined);
}

void AppendExecution(bson::Builder& reply, Call& call, const Explained& explained, Verbosity verbosity) {
  reply.OpenObject("executionStats");
  AppendFigures(reply, explained.figures, explained.millis);
  reply.OpenObject("executionStages").Append("stage", explained.stage());
  AppendFigures(reply, explained.figures, explained.millis);
  uint64_t child_millis = 0;
  for (const query::ShardReport& shard : explained.executed) child_millis += shard.millis;
  query::plan::AppendNumber(reply, "totalChildMillis", child_millis);
  reply.OpenArray("shards");
  for (const query::ShardReport& shard : explained.executed) {
    reply.OpenNextObject().Append("shardName", ShardName(call.engine, shard.shard)).Append("executionSuccess", true);
    AppendFigures(reply, shard.figures, shard.millis);
    reply.Append("executionStages", shard.stages).Close();
  }
  reply.Close().Close();
  if (verbosity == Verbosity::kAllPlansExecution) {
    reply.OpenArray("allPlansExecution");
    for (const query::ShardReport& shard : explained.executed) {
      reply.OpenNextObject().Append("shardName", ShardName(call.engine, shard.shard)).OpenArray("allPlans");
      for (const bson::Document& rejected : shard.rejected) reply.AppendNext(rejected);
      reply.Close().Close();
    }
    reply.Close();
  }
  reply.Close();
}

bson::Document Show(Call& call, const Explained& explained, Verbosity verbosity) {
  bson::Builder reply;
  AppendPlanner(reply, call, explained);
  if (verbosity != Verbosity::kQueryPlanner) AppendExecution(reply, call, explained, verbosity);
  reply.Append("serverInfo", ServerInfo(call.engine));
  return reply.Finish();
}

catalog::Namespace TargetOf(const Request& inner) {
  return {std::string(inner.database), std::string(inner.body.begin()->value.AsString())};
}

Result<Explained> ExplainFind(Call& call, const Request& inner, Verbosity verbosity) {
  BRAID_TRY(FindArgs args, ParseFind(call, inner));
  return ExplainPlan(call, args.ns, std::move(args.query), verbosity, {});
}

Result<Explained> ExplainCountCommand(Call& call, const Request& inner, Verbosity verbosity) {
  BRAID_TRY(query::Query query, ParseCount(call, inner));
  Explained explained{.ns = TargetOf(inner), .parsed_query = query.filter.ToBson()};
  query.explain = true;
  const auto started = steady_clock::now();
  BRAID_TRY(query::CountExplanation counted, query::ExplainCount(call.context, query, false));
  explained.planned = std::move(counted.shards);
  if (verbosity == Verbosity::kQueryPlanner) return explained;
  BRAID_TRY(counted, query::ExplainCount(call.context, query, true));
  explained.millis = duration_cast<milliseconds>(steady_clock::now() - started).count();
  explained.figures = counted.figures();
  explained.executed = std::move(counted.shards);
  return explained;
}

Result<Explained> ExplainDistinct(Call& call, const Request& inner, Verbosity verbosity) {
  BRAID_TRY(DistinctArgs args, ParseDistinct(call, inner));
  return ExplainPlan(call, TargetOf(inner), std::move(args.query), verbosity, {});
}

/// The search of a write, which finds the documents that it would change.
struct WriteSearch {
  bson::View q;
  bson::View sort;
  bson::Value hint;
  std::optional<bson::View> collation;
  std::optional<bson::View> let;
  bool multi = false;
};

Result<Explained> ExplainWrite(Call& call, const Request& inner, const WriteSearch& search, std::string_view stage,
                               Verbosity verbosity) {
  BRAID_TRY(catalog::Namespace ns, catalog::Namespace::Make(inner.database, inner.body.begin()->value.AsString()));
  query::Query query;
  BRAID_TRY(query.collection, FindForRead(call, ns));
  query.for_change = true;
  BRAID_TRY(query.environment, MakeEnvironment(call, query.collection, search.collation, search.let));
  BRAID_TRY(query.filter, query::Filter::Parse(search.q, query.environment));
  BRAID_TRY(query.sort, query::SortPattern::Parse(search.sort, query.environment->collation));
  if (!query.sort.empty() && !search.multi) query.limit = 1;
  BRAID_CHECK_OK(ReadHint(search.hint, &query));
  return ExplainPlan(call, ns, std::move(query), verbosity, {.write_stage = stage, .one = !search.multi});
}

Result<bson::View> OnlyStatement(const Request& inner, std::string_view list) {
  std::string_view collection;
  std::vector<bson::View> statements;
  ArgReader reader(inner);
  reader.Collection(inner.name, collection);
  reader.Required(list, statements);
  reader.Ignore({"ordered", "bypassDocumentValidation", "let", "rawData"});
  BRAID_CHECK_OK(reader.Finish());
  if (statements.size() != 1)
    return Status(Code::kInvalidLength, StrCat("explained write batches must be of size 1, not ", statements.size()));
  return statements[0];
}

Result<Explained> ExplainUpdate(Call& call, const Request& inner, Verbosity verbosity) {
  BRAID_TRY(bson::View only, OnlyStatement(inner, "updates"));
  std::optional<bson::View> let;
  if (const bson::Value value = inner.body.Find("let"); value.Is(bson::Type::kObject)) let = value.AsView();
  BRAID_TRY(UpdateStatement update, ParseUpdateStatement(only, let));
  return ExplainWrite(call, inner, {update.q, update.sort, update.hint, update.collation, update.let, update.multi},
                      "UPDATE", verbosity);
}

Result<Explained> ExplainDelete(Call& call, const Request& inner, Verbosity verbosity) {
  BRAID_TRY(bson::View only, OnlyStatement(inner, "deletes"));
  std::optional<bson::View> let;
  if (const bson::Value value = inner.body.Find("let"); value.Is(bson::Type::kObject)) let = value.AsView();
  BRAID_TRY(DeleteStatement remove, ParseDeleteStatement(only, let));
  return ExplainWrite(call, inner, {remove.q, {}, remove.hint, remove.collation, remove.let, remove.multi}, "DELETE",
                      verbosity);
}

Result<Explained> ExplainFindAndModify(Call& call, const Request& inner, Verbosity verbosity) {
  std::string_view collection;
  WriteSearch search;
  bool remove = false;
  ArgReader reader(inner);
  reader.Collection(inner.name, collection);
  reader.Optional("query", search.q);
  reader.Optional("sort", search.sort);
  reader.Optional("hint", search.hint);
  reader.Optional("collation", search.collation);
  reader.Optional("let", search.let);
  reader.Optional("remove", remove);
  reader.Ignore({"update", "fields", "new", "upsert", "arrayFilters", "bypassDocumentValidation", "rawData"});
  BRAID_CHECK_OK(reader.Finish());
  return ExplainWrite(call, inner, search, remove ? "DELETE" : "UPDATE", verbosity);
}

Result<Verbosity> ParseVerbosity(std::string_view text) {
  if (text == "queryPlanner") return Verbosity::kQueryPlanner;
  if (text == "executionStats") return Verbosity::kExecutionStats;
  if (text == "allPlansExecution") return Verbosity::kAllPlansExecution;
  return Status(Code::kBadValue,
                "verbosity string must be one of {'queryPlanner', 'executionStats', 'allPlansExecution'}");
}

struct ExplainableCommand {
  std::string_view name;
  Result<Explained> (*explain)(Call&, const Request&, Verbosity);
};
constexpr ExplainableCommand kExplainable[] = {
    {"count", ExplainCountCommand},
    {"delete", ExplainDelete},
    {"distinct", ExplainDistinct},
    {"find", ExplainFind},
    {"findAndModify", ExplainFindAndModify},
    {"findandmodify", ExplainFindAndModify},
    {"update", ExplainUpdate},
};

Result<bson::Document> Explain(Call& call, const Request& inner, Verbosity verbosity) {
  if (inner.name == "aggregate") {
    BRAID_TRY(AggregateArgs args, ParseAggregate(call, inner, true));
    return ExplainPipeline(call, args, verbosity);
  }
  for (const ExplainableCommand& command : kExplainable) {
    if (command.name != inner.name) continue;
    BRAID_TRY(Explained explained, command.explain(call, inner, verbosity));
    return Show(call, explained, verbosity);
  }
  return Status(Code::kCommandNotFound, StrCat("Explain failed due to unknown command: ", inner.name));
}

Result<bson::Document> RunExplain(Call& call) {
  bson::View command;
  std::string_view verbosity_text = "allPlansExecution";
  ArgReader reader(call.request);
  reader.Required("explain", command);
  reader.Optional("verbosity", verbosity_text);
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(Verbosity verbosity, ParseVerbosity(verbosity_text));
  if (command.empty()) return Status(Code::kFailedToParse, "explain needs a command");
  Request inner{.body = command, .sequences = {}, .name = command.begin()->name, .database = call.request.database};
  BRAID_TRY(bson::Document reply, Explain(call, inner, verbosity));
  bson::Builder whole;
  whole.AppendAll(reply).Append("command", command);
  return whole.Finish();
}

}  // namespace

Result<bson::Document> ExplainPipeline(Call& call, AggregateArgs& args, Verbosity verbosity) {
  const bool executed = verbosity != Verbosity::kQueryPlanner;
  if (executed && args.pipeline->writes()) {
    return Status(Location(51029), "explain of a pipeline that writes is possible with verbosity 'queryPlanner' only");
  }
  if (!executed) BRAID_CHECK_OK(args.pipeline->Prepare(call.context));
  bson::View document;
  for (bool more = executed; more;) {
    BRAID_TRY(more, args.pipeline->Next(call.context, &document));
  }
  const std::vector<storage::ShardNumber> shards = args.pipeline->shards();
  bson::Builder reply;
  if (!args.sharded) {
    reply.Append("explainVersion", "1").AppendAll(args.pipeline->Explain(executed));
    return reply.Append("serverInfo", ServerInfo(call.engine)).Finish();
  }
  if (shards.size() > 1) {
    reply.Append("mergeType", "mongos").Append("splitPipeline", args.pipeline->SplitPipeline());
  } else {
    reply.Append("splitPipeline", bson::Null{});
  }
  reply.OpenObject("shards");
  for (size_t i = 0; i == 0 || i < shards.size(); ++i) {
    reply.OpenObject(ShardName(call.engine, i < shards.size() ? shards[i] : storage::ShardNumber{0}));
    reply.Append("host", call.engine.options.advertised_host).Append("explainVersion", "1");
    reply.AppendAll(args.pipeline->Explain(executed, i)).Close();
  }
  reply.Close().Append("serverInfo", ServerInfo(call.engine));
  return reply.Finish();
}

constinit const Command kExplain = {
    .name = "explain", .flags = kReadOnly | kTakesReadConcern, .help = "Tells how a command runs.", .run = RunExplain};
}  // namespace braid::commands
