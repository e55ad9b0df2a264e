// Stages that make the documents to be shown: PROJECTION_*, RETURN_KEY and the record id. SKIP, LIMIT and EOF.
#pragma once

#include "engine/bson/arena.h"
#include "engine/exec/plan/stage.h"

namespace braid::query::plan {

/// PROJECTION_COVERED if the entry's values are enough (the input is an index scan), else SIMPLE or DEFAULT.
class Project final : public Stage {
 public:
  Project(ShardRun& run, const Query& query, bool covered, std::unique_ptr<Stage> input);

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool) const override;

 private:
  const Query& query_;
  bson::Arena arena_{bson::Arena::Use::kQuery};
  bson::Document covered_;
  bson::Document output_;
};

/// The values of the index entry under the names of the key pattern; an empty document if no index was used.
class ReturnKey final : public Stage {
 public:
  ReturnKey(ShardRun& run, std::unique_ptr<Stage> input) : Stage(run, "RETURN_KEY", std::move(input)) {}

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;

 private:
  bson::Document output_;
};

/// Adds $recordId. Documents lie in the order of _id, so the record id is the key of _id, as binary data.
class RecordId final : public Stage {
 public:
  RecordId(ShardRun& run, std::unique_ptr<Stage> input) : Stage(run, "RECORD_ID", std::move(input)) {}

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;

 private:
  bson::Document output_;
};

/// The stage's name in explain.
std::string_view ProjectionName(const Query& query, bool covered);

/// True if the projection can be made of the path's entries alone.
bool Covers(const IndexPath& path, const Projection& projection);

/// SKIP.
class Skip final : public Stage {
 public:
  Skip(ShardRun& run, uint64_t amount, std::unique_ptr<Stage> input)
      : Stage(run, "SKIP", std::move(input)), amount_(amount), left_(amount) {}

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool) const override { AppendNumber(out, "skipAmount", amount_); }

 private:
  const uint64_t amount_;
  uint64_t left_;
};

/// LIMIT.
class Limit final : public Stage {
 public:
  Limit(ShardRun& run, uint64_t amount, std::unique_ptr<Stage> input)
      : Stage(run, "LIMIT", std::move(input)), amount_(amount), left_(amount) {}

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool) const override { AppendNumber(out, "limitAmount", amount_); }

 private:
  const uint64_t amount_;
  uint64_t left_;
};

/// EOF: a result that is known to be empty.
class End final : public Stage {
 public:
  explicit End(ShardRun& run) : Stage(run, "EOF") {}

 protected:
  Result<bool> Pull(txn::Context&, Row*) override { return false; }
};

}  // namespace braid::query::plan
