// FETCH: the document of an index entry, if it meets what the bounds left open.
#pragma once

#include "engine/query/plan/stage.h"

namespace braid::query::plan {

class Fetch final : public Stage {
 public:
  Fetch(Run& run, Residual residual, std::unique_ptr<Stage> input);

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool executed) const override;
  const Residual* filter() const override { return &residual_; }

 private:
  const Residual residual_;
  storage::Buffer buffer_;
  uint64_t examined_ = 0;
};

}  // namespace braid::query::plan
