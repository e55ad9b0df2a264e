// SKIP and LIMIT; EOF for a result that is known to be empty.
#pragma once

#include "engine/query/plan/stage.h"

namespace braid::query::plan {

class Skip final : public Stage {
 public:
  Skip(Run& run, uint64_t amount, std::unique_ptr<Stage> input)
      : Stage(run, "SKIP", std::move(input)), amount_(amount), left_(amount) {}

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool) const override { AppendNumber(out, "skipAmount", amount_); }

 private:
  const uint64_t amount_;
  uint64_t left_;
};

class Limit final : public Stage {
 public:
  Limit(Run& run, uint64_t amount, std::unique_ptr<Stage> input)
      : Stage(run, "LIMIT", std::move(input)), amount_(amount), left_(amount) {}

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool) const override { AppendNumber(out, "limitAmount", amount_); }

 private:
  const uint64_t amount_;
  uint64_t left_;
};

class End final : public Stage {
 public:
  explicit End(Run& run) : Stage(run, "EOF") {}

 protected:
  Result<bool> Pull(txn::Context&, Row*) override { return false; }
};

}  // namespace braid::query::plan
