// IDHACK: one document by its _id, read without stages or a snapshot.
#pragma once

#include "engine/bson/arena.h"
#include "engine/query/plan/executor.h"

namespace braid::query::plan {

/// True if the query asks for exactly one _id and nothing that needs more than a read.
bool IsIdLookup(const Query& query);

class IdPlan final : public Plan {
 public:
  explicit IdPlan(Query query);
  Result<bool> Next(txn::Context& context, bson::View* document) override;
  Status Prepare(txn::Context&) override { return {}; }
  const ExecutionFigures& figures() const override { return figures_; }
  bson::Document Explain(bool executed) const override;
  std::vector<bson::Document> RejectedPlans() const override { return {}; }
  const Query& query() const override { return query_; }

 private:
  const Query query_;
  const std::string key_;
  storage::Buffer buffer_;
  std::unique_ptr<bson::Document> projected_;
  ExecutionFigures figures_;
  bool done_ = false;
};

}  // namespace braid::query::plan
