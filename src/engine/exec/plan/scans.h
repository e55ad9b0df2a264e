// The stages that examine documents: COLLSCAN over stored documents or over rows made for one read, and FETCH after an
// index scan. All of them count what they examine and pass on documents that meet the rest of the filter.
#pragma once

#include <string>

#include "engine/exec/plan/stage.h"

namespace braid::query::plan {

/// The common base of the three.
class DocumentStage : public Stage {
 protected:
  DocumentStage(ShardRun& run, std::string_view name, Residual residual, std::unique_ptr<Stage> input = nullptr)
      : Stage(run, name, std::move(input)), residual_(std::move(residual)) {}

  /// Counts the document; true if it has not expired and meets the residual conditions.
  Result<bool> Passes(txn::Context& context, bson::View document);
  const Residual* filter() const override { return &residual_; }
  uint64_t examined() const { return examined_; }

 private:
  const Residual residual_;
  uint64_t examined_ = 0;
};

/// COLLSCAN: every document, in the order of _id or against it.
class CollectionScan final : public DocumentStage {
 public:
  CollectionScan(ShardRun& run, Residual residual, bool backward)
      : DocumentStage(run, "COLLSCAN", std::move(residual)), backward_(backward) {}

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool executed) const override;

 private:
  const bool backward_;
  std::unique_ptr<storage::Cursor> cursor_;  // null until the first pull
};

/// COLLSCAN over rows that were made for this one read, such as the collections of config.
class RowScan final : public DocumentStage {
 public:
  RowScan(ShardRun& run, Residual residual, bool backward)
      : DocumentStage(run, "COLLSCAN", std::move(residual)), backward_(backward) {}

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool executed) const override;

 private:
  const bool backward_;
  size_t next_ = 0;
  std::string key_;  // the document's, as if it were stored
};

/// FETCH: the document of an index entry, if it meets the conditions that the bounds do not decide.
class Fetch final : public DocumentStage {
 public:
  Fetch(ShardRun& run, Residual residual, std::unique_ptr<Stage> input)
      : DocumentStage(run, "FETCH", std::move(residual), std::move(input)) {}

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool executed) const override;

 private:
  storage::Buffer buffer_;
};

}  // namespace braid::query::plan
