#include "engine/commands/crud/explain.h"

#include <chrono>

#include "base/strings.h"
#include "engine/commands/crud/common.h"
#include "engine/commands/crud/count.h"
#include "engine/commands/crud/distinct.h"
#include "engine/commands/crud/find_args.h"
#include "engine/commands/crud/statements.h"
#include "engine/commands/parts.h"
#include "engine/commands/table.h"
#include "engine/commands/topology.h"

namespace braid::commands {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// What an explained command comes down to: a plan, perhaps with a stage on top of it.
struct Explained {
  catalog::Namespace ns;
  std::unique_ptr<query::Plan> plan;
  std::string_view top_stage;  // "UPDATE", "DELETE", …; empty: none
  bool write = false;
  bool one = false;  // stops at the first match
};

/// Runs the plan to its end for its figures. Writes are not done: the documents they would meet are counted.
Status Execute(Call& call, query::Plan& plan, bool one) {
  bson::View document;
  while (true) {
    BRAID_TRY(bool more, plan.Next(call.context, &document));
    if (!more || one) return {};
  }
}

bson::Document WithTopStage(const Explained& explained, bson::Document inner, bool executed) {
  if (explained.top_stage.empty()) return inner;
  bson::Builder builder;
  builder.Append("stage", explained.top_stage);
  if (executed) {
    const auto returned = static_cast<int64_t>(explained.plan->figures().returned);
    if (explained.write) {
      builder.Append("nReturned", 0)
          .Append(explained.top_stage == "DELETE" ? "nWouldDelete" : "nWouldModify", returned);
    } else {
      builder.Append("nReturned", 0).Append("nCounted", returned);
    }
  }
  builder.Append("inputStage", inner);
  return builder.Finish();
}

void AppendPlanner(bson::Builder& reply, Call& call, const Explained& explained, storage::ShardNumber shard) {
  const query::Plan& plan = *explained.plan;
  reply.OpenObject("queryPlanner").OpenObject("winningPlan");
  reply.Append("stage", explained.write ? "SHARD_WRITE" : "SINGLE_SHARD").OpenArray("shards").OpenNextObject();
  reply.Append("explainVersion", "1").Append("shardName", ShardName(shard));
  reply.Append("connectionString", ShardHost(call.engine, shard)).Append("serverInfo", ServerInfo(call.engine));
  reply.Append("namespace", explained.ns.ToString()).Append("parsedQuery", plan.query().filter.ToBson());
  reply.Append("indexFilterSet", false);
  reply.Append("winningPlan", WithTopStage(explained, plan.Explain(false), false));
  reply.OpenArray("rejectedPlans");
  for (const bson::Document& rejected : plan.RejectedPlans()) reply.AppendNext(rejected);
  reply.Close().Close().Close().Close().Close();
}

void AppendFigures(bson::Builder& reply, const query::ExecutionFigures& figures, int64_t millis) {
  reply.Append("nReturned", static_cast<int64_t>(figures.returned)).Append("executionTimeMillis", millis);
  reply.Append("totalKeysExamined", static_cast<int64_t>(figures.keys_examined));
  reply.Append("totalDocsExamined", static_cast<int64_t>(figures.documents_examined));
}

void AppendExecution(bson::Builder& reply, const Explained& explained, storage::ShardNumber shard, int64_t millis,
                     Verbosity verbosity) {
  query::ExecutionFigures figures = explained.plan->figures();
  if (!explained.top_stage.empty()) figures.returned = 0;
  reply.OpenObject("executionStats");
  AppendFigures(reply, figures, millis);
  reply.OpenObject("executionStages").Append("stage", explained.write ? "SHARD_WRITE" : "SINGLE_SHARD");
  AppendFigures(reply, figures, millis);
  reply.Append("totalChildMillis", millis).OpenArray("shards").OpenNextObject();
  reply.Append("shardName", ShardName(shard)).Append("executionSuccess", true);
  AppendFigures(reply, figures, millis);
  reply.Append("executionStages", WithTopStage(explained, explained.plan->Explain(true), true));
  reply.Close().Close().Close();
  if (verbosity == Verbosity::kAllPlansExecution) {
    reply.OpenArray("allPlansExecution").OpenNextObject().Append("shardName", ShardName(shard)).OpenArray("allPlans");
    for (const bson::Document& rejected : explained.plan->RejectedPlans()) reply.AppendNext(rejected);
    reply.Close().Close().Close();
  }
  reply.Close();
}

Result<bson::Document> Describe(Call& call, const Explained& explained, Verbosity verbosity) {
  const auto started = steady_clock::now();
  const auto& collection = explained.plan->query().collection;
  const storage::ShardNumber shard = collection == nullptr ? 0 : collection->primary_shard;
  if (verbosity != Verbosity::kQueryPlanner) BRAID_CHECK_OK(Execute(call, *explained.plan, explained.one));
  bson::Builder reply;
  AppendPlanner(reply, call, explained, shard);
  if (verbosity != Verbosity::kQueryPlanner) {
    AppendExecution(reply, explained, shard, duration_cast<milliseconds>(steady_clock::now() - started).count(),
                    verbosity);
  }
  reply.Append("serverInfo", ServerInfo(call.engine));
  return reply.Finish();
}

Result<Explained> ExplainFind(Call& call, const Request& inner) {
  BRAID_TRY(FindArgs args, ParseFind(call, inner));
  Explained explained{.ns = args.ns};
  BRAID_TRY(explained.plan, query::Plan::Make(std::move(args.query)));
  return explained;
}

Result<Explained> ExplainCountCommand(Call& call, const Request& inner) {
  BRAID_TRY(query::Query query, ParseCount(call, inner));
  Explained explained{.ns = {std::string(inner.database), std::string(inner.body.begin()->value.AsString())},
                      .top_stage = "COUNT"};
  BRAID_TRY(explained.plan, query::Plan::Make(std::move(query)));
  return explained;
}

Result<Explained> ExplainDistinct(Call& call, const Request& inner) {
  BRAID_TRY(DistinctArgs args, ParseDistinct(call, inner));
  Explained explained{.ns = {std::string(inner.database), std::string(inner.body.begin()->value.AsString())}};
  BRAID_TRY(explained.plan, query::Plan::Make(std::move(args.query)));
  return explained;
}

/// The search behind a write: what it would change.
struct WriteSearch {
  bson::View q;
  bson::View sort;
  bson::Value hint;
  std::optional<bson::View> collation;
  std::optional<bson::View> let;
  bool multi = false;
};

Result<Explained> ExplainWrite(Call& call, const Request& inner, const WriteSearch& search, std::string_view stage) {
  Explained explained{.top_stage = stage, .write = true, .one = !search.multi};
  BRAID_TRY(explained.ns, catalog::Namespace::Make(inner.database, inner.body.begin()->value.AsString()));
  query::Query query;
  query.collection = call.engine.catalog->Find(explained.ns);
  query.for_change = true;
  BRAID_TRY(query.environment, MakeEnvironment(call, query.collection, search.collation, search.let));
  BRAID_TRY(query.filter, query::Filter::Parse(search.q, query.environment));
  BRAID_TRY(query.sort, query::SortPattern::Parse(search.sort, query.environment->collation));
  if (!query.sort.empty() && !search.multi) query.limit = 1;
  BRAID_CHECK_OK(ReadHint(search.hint, &query));
  BRAID_TRY(explained.plan, query::Plan::Make(std::move(query)));
  return explained;
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

Result<Explained> ExplainUpdate(Call& call, const Request& inner) {
  BRAID_TRY(bson::View only, OnlyStatement(inner, "updates"));
  std::optional<bson::View> let;
  if (const bson::Value value = inner.body.Find("let"); value.Is(bson::Type::kObject)) let = value.AsView();
  BRAID_TRY(UpdateStatement update, ParseUpdateStatement(only, let));
  return ExplainWrite(call, inner, {update.q, update.sort, update.hint, update.collation, update.let, update.multi},
                      "UPDATE");
}

Result<Explained> ExplainDelete(Call& call, const Request& inner) {
  BRAID_TRY(bson::View only, OnlyStatement(inner, "deletes"));
  std::optional<bson::View> let;
  if (const bson::Value value = inner.body.Find("let"); value.Is(bson::Type::kObject)) let = value.AsView();
  BRAID_TRY(DeleteStatement remove, ParseDeleteStatement(only, let));
  return ExplainWrite(call, inner, {remove.q, {}, remove.hint, remove.collation, remove.let, remove.multi}, "DELETE");
}

Result<Explained> ExplainFindAndModify(Call& call, const Request& inner) {
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
  return ExplainWrite(call, inner, search, remove ? "DELETE" : "UPDATE");
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
  Result<Explained> (*explain)(Call&, const Request&);
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
    BRAID_TRY(Explained explained, command.explain(call, inner));
    return Describe(call, explained, verbosity);
  }
  return Status(Code::kCommandNotFound, StrCat("Explain failed due to unknown command: ", inner.name));
}

Result<bson::Document> Run(Call& call) {
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
  bson::View document;
  for (bool more = executed; more;) {
    BRAID_TRY(more, args.pipeline->Next(call.context, &document));
  }
  const query::Plan* plan = args.pipeline->plan();
  const storage::ShardNumber shard =
      plan == nullptr || plan->query().collection == nullptr ? 0 : plan->query().collection->primary_shard;
  bson::Builder reply;
  reply.Append("splitPipeline", bson::Null{}).OpenObject("shards").OpenObject(ShardName(shard));
  reply.Append("host", call.engine.options.advertised_host).Append("explainVersion", "1");
  reply.AppendAll(args.pipeline->Explain(executed)).Close().Close();
  reply.Append("serverInfo", ServerInfo(call.engine));
  return reply.Finish();
}

constinit const Command kExplain = {
    .name = "explain", .flags = kReadOnly | kTakesReadConcern, .help = "Tells how a command runs.", .run = Run};
}  // namespace braid::commands
