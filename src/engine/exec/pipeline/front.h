// The front of a pipeline: the stages that become one query for the planner, and a stage right behind them that only
// counts, for which no document has to be read.
#pragma once

#include "engine/exec/pipeline/stage.h"

namespace braid::query::pipeline {

/// Takes the stages that join a query off the front of `stages`, and adds to the query what the rest needs to read.
Result<Query> TakeFront(const PipelineOptions& options, std::vector<StagePtr>* stages);

/// Tells every $sort how many documents the stages behind it let through.
void NoteWindows(const std::vector<StagePtr>& stages);

/// Replaces the query and the stage ($count, or a $group that only counts). Gives no document if none matches.
class Counted final : public Stream {
 public:
  Counted(Query query, StagePtr stage) : query_(std::move(query)), stage_(std::move(stage)) {}

  Result<bool> Next(txn::Context& context, bson::View* document) override;
  /// Plans without counting, for explain.
  Status Prepare(txn::Context& context);
  /// Of the query; kept only if the query is to be explained. `planned`: as before it was run.
  const CountExplanation& planned() const { return planned_; }
  const CountExplanation& executed() const { return executed_; }
  bson::Document ExplainStage(bool executed) const;

 private:
  const Query query_;
  const StagePtr stage_;
  CountExplanation planned_;
  CountExplanation executed_;
  bson::Document output_;
  bool done_ = false;
};

}  // namespace braid::query::pipeline
