// COLLSCAN over rows that were made for this one read, such as the collections of config.
#pragma once

#include "engine/query/plan/stage.h"

namespace braid::query::plan {

class RowScan final : public Stage {
 public:
  RowScan(Run& run, Residual residual, bool backward)
      : Stage(run, "COLLSCAN"), residual_(std::move(residual)), backward_(backward) {}

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool executed) const override;
  const Residual* filter() const override { return &residual_; }

 private:
  const Residual residual_;
  const bool backward_;
  size_t next_ = 0;  // also how many were looked at
  std::string key_;  // the document's, as if it were stored
};

}  // namespace braid::query::plan
