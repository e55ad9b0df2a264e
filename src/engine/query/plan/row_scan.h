// ROWS: what was made for this one read, such as the collections of config.
#pragma once

#include "engine/query/plan/stage.h"

namespace braid::query::plan {

class RowScan final : public Stage {
 public:
  RowScan(Run& run, Residual residual) : Stage(run, "COLLSCAN"), residual_(std::move(residual)) {}

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  const Residual* filter() const override { return &residual_; }

 private:
  const Residual residual_;
  size_t next_ = 0;
};

}  // namespace braid::query::plan
