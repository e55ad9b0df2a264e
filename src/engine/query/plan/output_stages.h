// Stages that make the documents to be shown: PROJECTION_*, RETURN_KEY and the record id.
#pragma once

#include "engine/bson/arena.h"
#include "engine/query/plan/stage.h"

namespace braid::query::plan {

/// PROJECTION_COVERED if the entry's values are enough (the input is an index scan), else SIMPLE or DEFAULT.
class Project final : public Stage {
 public:
  Project(Run& run, const Query& query, bool covered, std::unique_ptr<Stage> input);

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool) const override;

 private:
  const Query& query_;
  bson::Arena arena_;
  bson::Document covered_;
  bson::Document output_;
};

/// The values of the index entry under the names of the key pattern; an empty document if no index was used.
class ReturnKey final : public Stage {
 public:
  ReturnKey(Run& run, std::unique_ptr<Stage> input) : Stage(run, "RETURN_KEY", std::move(input)) {}

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;

 private:
  bson::Document output_;
};

/// Adds $recordId. Documents lie in the order of _id, so the record id is the key of _id, as binary data.
class RecordId final : public Stage {
 public:
  RecordId(Run& run, std::unique_ptr<Stage> input) : Stage(run, "RECORD_ID", std::move(input)) {}

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;

 private:
  bson::Document output_;
};

/// The stage's name in explain.
std::string_view ProjectionName(const Query& query, bool covered);

/// True if the projection can be made of the path's entries alone.
bool Covers(const IndexPath& path, const Projection& projection);

}  // namespace braid::query::plan
