// Counted: a stage that counts documents, right behind the planner's part: no document has to be read for it.
#pragma once

#include "engine/query/pipeline/stage.h"

namespace braid::query::pipeline {

/// Stands for the query and the stage ($count, or a $group that only counts). No document if none matches.
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
