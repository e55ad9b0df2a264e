// COLLSCAN: every document, in the order of _id or against it.
#pragma once

#include "engine/query/plan/stage.h"

namespace braid::query::plan {

class CollectionScan final : public Stage {
 public:
  CollectionScan(Run& run, Residual residual, bool backward);

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool executed) const override;
  const Residual* filter() const override { return &residual_; }

 private:
  const Residual residual_;
  const bool backward_;
  std::unique_ptr<storage::Cursor> cursor_;  // null until the first pull
  uint64_t examined_ = 0;
};

}  // namespace braid::query::plan
