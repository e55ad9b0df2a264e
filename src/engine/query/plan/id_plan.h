// IDHACK: one document by its _id, read without stages and, on one shard, without a snapshot.
#pragma once

#include "engine/bson/arena.h"
#include "engine/query/plan/executor.h"
#include "engine/sharding/placement.h"

namespace braid::query::plan {

/// True if the query asks for exactly one _id and nothing that needs more than a read.
bool IsIdLookup(const Query& query);

class IdPlan final : public Plan {
 public:
  explicit IdPlan(Query query) : query_(std::move(query)) {}
  Result<bool> Next(txn::Context& context, bson::View* document) override;
  Status Prepare(txn::Context& context) override;
  ExecutionFigures figures() const override;
  std::vector<ShardReport> Report(bool executed) const override;
  const Query& query() const override { return query_; }
  storage::ShardNumber shard() const override { return shards_[found_on_]; }

 private:
  bson::Document ExplainShard(size_t i, bool executed) const;
  bool Has(size_t i) const { return found_ && i == found_on_; }
  /// Looks on every shard of the route; false if it is on none.
  Result<bool> Look(txn::Context& context);

  Query query_;
  sharding::ShardNumbers shards_;  // empty until it is routed
  storage::Buffer buffer_;
  std::unique_ptr<bson::Document> projected_;
  size_t found_on_ = 0;  // position in shards_
  bool found_ = false;   // there is a document of that _id
  bool shown_ = false;   // and it was returned
  bool done_ = false;
};

}  // namespace braid::query::plan
