// Pipeline: parsing the stages in their places, and pulling documents through them.
#include "engine/exec/pipeline/pipeline.h"

#include <algorithm>
#include <chrono>

#include "base/strings.h"
#include "engine/bson/validate.h"
#include "engine/exec/pipeline/front.h"
#include "engine/exec/plan/sort_stage.h"
#include "engine/exec/plan/stage.h"

namespace braid::query {
namespace pipeline {
namespace {

constexpr size_t kStagesMax = 1000;

class Chain final : public Pipeline {
 public:
  Chain(PipelineOptions options, std::vector<StagePtr> stages)
      : options_(std::move(options)), stages_(std::move(stages)) {}

  /// `reports`: the first stage makes its documents itself.
  Status Connect(bool reports) {
    writes_ = !stages_.empty() && stages_.back()->writes();
    if (!reports) BRAID_CHECK_OK(MakeSource());
    NoteWindows(stages_);
    NoteNesting();
    last_ = counted_ != nullptr ? static_cast<Stream*>(counted_.get()) : plan_.get();
    for (const StagePtr& stage : stages_) {
      stage->set_input(last_);
      last_ = stage.get();
    }
    return {};
  }

  Result<bool> Next(txn::Context& context, bson::View* document) override {
    if (!options_.explain) return Checked(context, document);
    const auto started = std::chrono::steady_clock::now();
    Result<bool> more = Checked(context, document);
    time_ += std::chrono::steady_clock::now() - started;
    return more;
  }

  void Rest(txn::Context& context) override {
    if (plan_ != nullptr) plan_->Rest(context);
    for (const StagePtr& stage : stages_) stage->Rest(context);
  }

  Status Prepare(txn::Context& context) override {
    if (counted_ != nullptr) return counted_->Prepare(context);
    return plan_ == nullptr ? Status() : plan_->Prepare(context);
  }

  bool writes() const override { return writes_; }
  const Plan* plan() const override { return plan_.get(); }

  std::vector<storage::ShardNumber> shards() const override {
    std::vector<storage::ShardNumber> numbers;
    for (const ShardReport& report : Reports(false)) numbers.push_back(report.shard);
    return numbers;
  }

  bson::Document Explain(bool executed, size_t shard) const override {
    const std::vector<ShardReport> planned = Reports(false);
    const bool merged = planned.size() > 1;
    bson::Builder out;
    if ((merged || (stages_.empty() && counted_ == nullptr)) && !planned.empty()) {
      AppendPlan(out, planned[shard], executed ? &Reports(true)[shard] : nullptr);
      return out.Finish();
    }
    out.OpenArray("stages");
    if (!planned.empty()) {
      out.OpenNextObject().OpenObject("$cursor");
      AppendPlan(out, planned[shard], executed ? &Reports(true)[shard] : nullptr);
      out.Close().Close();
    }
    AppendStages(out, executed);
    out.Close();
    return out.Finish();
  }

  bson::Document SplitPipeline() const override {
    bson::Builder out;
    out.OpenArray("shardsPart");
    if (plan_ != nullptr) AppendFront(out, plan_->query());
    out.Close().OpenArray("mergerPart");
    AppendStages(out, false);
    return out.Close().Finish();
  }

 private:
  Status MakeSource() {
    BRAID_TRY(Query query, TakeFront(options_, &stages_));
    // A projection of the front's own does not change how many documents there are.
    if (!stages_.empty() && stages_.front()->counts()) {
      counted_ = std::make_unique<Counted>(query, std::move(stages_.front()));
      stages_.erase(stages_.begin());
      if (!options_.explain) return {};
    }
    BRAID_TRY(plan_, Plan::Make(std::move(query)));
    return {};
  }

  /// Each stage may nest the documents of the previous one: stages after which a document may be too deep check it.
  void NoteNesting() {
    int levels = bson::kDepthMax;
    if (plan_ != nullptr) levels += LevelsAddedBy(bson::Value(plan_->query().projection_spec.view()));
    plan_may_nest_ = levels > bson::kNestingMax;
    levels = std::min(levels, bson::kNestingMax);
    for (const StagePtr& stage : stages_) {
      levels += LevelsAddedBy(stage->specification());
      if (levels <= bson::kNestingMax) continue;
      stage->CheckNestingOfOutput();
      levels = bson::kNestingMax;
    }
  }

  Result<bool> Checked(txn::Context& context, bson::View* document) {
    BRAID_TRY(const bool more, last_->Next(context, document));
    if (more && plan_may_nest_) BRAID_CHECK_OK(CheckNesting(*document));
    if (more && document->size() > bson::kInternalBytesMax) {
      return Status(Code::kBSONObjectTooLarge, StrCat("a document of ", document->size(), " bytes came out of the ",
                                                      "pipeline, more than the ", bson::kInternalBytesMax, " allowed"));
    }
    return more;
  }

  std::vector<ShardReport> Reports(bool executed) const {
    if (counted_ != nullptr) return executed ? counted_->executed().shards : counted_->planned().shards;
    return plan_ == nullptr ? std::vector<ShardReport>() : plan_->Report(executed);
  }

  /// The part that each shard does, written as stages.
  static void AppendFront(bson::Builder& out, const Query& query) {
    if (!query.filter.matches_everything()) {
      out.OpenNextObject().Append("$match", query.filter.ToBson()).Close();
    }
    if (!query.sort.empty()) out.OpenNextObject().Append("$sort", plan::ToBson(query.sort)).Close();
    if (query.limit != 0) out.OpenNextObject().Append("$limit", query.limit + query.skip).Close();
    if (!query.projection_spec.empty()) out.OpenNextObject().Append("$project", query.projection_spec).Close();
  }

  void AppendStages(bson::Builder& out, bool executed) const {
    if (counted_ != nullptr) out.AppendNext(counted_->ExplainStage(executed));
    for (const StagePtr& stage : stages_) out.AppendNext(stage->Explain(executed));
  }

  void AppendPlan(bson::Builder& out, const ShardReport& planned, const ShardReport* executed) const {
    out.OpenObject("queryPlanner").Append("namespace", options_.ns.ToString());
    out.Append("parsedQuery", plan_->query().filter.ToBson()).Append("indexFilterSet", false);
    out.Append("winningPlan", planned.stages).OpenArray("rejectedPlans");
    for (const bson::Document& plan : planned.rejected) out.AppendNext(plan);
    out.Close().Close();
    if (executed == nullptr) return;
    const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(time_).count();
    out.OpenObject("executionStats").Append("executionSuccess", true);
    plan::AppendNumber(out, "nReturned", executed->figures.returned);
    plan::AppendNumber(out, "executionTimeMillis", static_cast<uint64_t>(millis));
    plan::AppendNumber(out, "totalKeysExamined", executed->figures.keys_examined);
    plan::AppendNumber(out, "totalDocsExamined", executed->figures.documents_examined);
    out.Append("executionStages", executed->stages);
    out.Close();
  }

  const PipelineOptions options_;
  std::unique_ptr<Plan> plan_;        // null if the first stage reports, or if documents are counted and not explained
  std::unique_ptr<Counted> counted_;  // null: the plan's documents are read
  std::vector<StagePtr> stages_;      // behind them
  Stream* last_ = nullptr;
  bool writes_ = false;
  bool plan_may_nest_ = false;  // documents deeper than a reply may be
  std::chrono::nanoseconds time_{0};
};

Status CheckNamespace(const catalog::Namespace& ns, const StageDefinition* first) {
  const uint32_t place = first == nullptr ? kAnywhere : first->place;
  if (ns.collection.empty() && (place & kNoCollection) == 0) {
    return {Code::kInvalidNamespace,
            first == nullptr
                ? std::string("{aggregate: 1} is not valid for an empty pipeline.")
                : StrCat("{aggregate: 1} is not valid for '", first->name, "'; a collection is required.")};
  }
  if ((place & kNoCollection) == 0) return {};
  const bool admin = (place & kAdminOnly) != 0;
  if (ns.collection.empty() && (!admin || ns.database == "admin")) return {};
  return {Code::kInvalidNamespace,
          StrCat(first->name, " must be run against ", admin ? "the 'admin' database" : "a database",
                 " with {aggregate: 1}, not against a collection")};
}

Status CheckPlaces(const std::vector<const StageDefinition*>& definitions) {
  for (size_t i = 0; i < definitions.size(); ++i) {
    const StageDefinition& definition = *definitions[i];
    if ((definition.place & kFirst) != 0 && i != 0)
      return {Location(40602), StrCat(definition.name, " is only valid as the first stage in a pipeline.")};
    if ((definition.place & kLast) != 0 && i + 1 != definitions.size())
      return {Location(40601), StrCat(definition.name, " can only be the final stage in the pipeline")};
  }
  return {};
}

}  // namespace
}  // namespace pipeline

Result<std::unique_ptr<Pipeline>> Pipeline::Parse(bson::View stages_array, PipelineOptions options) {
  if (options.environment == nullptr) options.environment = std::make_shared<Environment>();
  std::vector<pipeline::StagePtr> stages;
  std::vector<const pipeline::StageDefinition*> definitions;
  pipeline::StageParser parser{options, stages};
  for (const bson::Element& element : stages_array) {
    BRAID_TRY(const bson::Element stage, pipeline::SplitStage(element.value));
    BRAID_TRY(const pipeline::StageDefinition* definition, pipeline::FindStage(stage.name));
    BRAID_CHECK_OK(definition->parse(parser, stage.name, stage.value));
    definitions.push_back(definition);
  }
  if (definitions.size() > pipeline::kStagesMax) {
    return Status(Location(7749501),
                  StrCat("Pipeline length must be no longer than ", pipeline::kStagesMax, " stages"));
  }
  BRAID_CHECK_OK(pipeline::CheckPlaces(definitions));
  const pipeline::StageDefinition* first = definitions.empty() ? nullptr : definitions.front();
  BRAID_CHECK_OK(pipeline::CheckNamespace(options.ns, first));
  const bool reports = first != nullptr && (first->place & pipeline::kFirst) != 0;
  auto chain = std::make_unique<pipeline::Chain>(std::move(options), std::move(stages));
  BRAID_CHECK_OK(chain->Connect(reports));
  return std::unique_ptr<Pipeline>(std::move(chain));
}

}  // namespace braid::query
