// ShardPlan: the stages of a query on one shard.
#pragma once

#include "engine/query/plan/access.h"

namespace braid::query::plan {

/// Not thread-safe, but shards of one query may run on different threads. `query` and `accesses` outlive it.
class ShardPlan {
 public:
  ShardPlan(const Query& query, const std::vector<Access>& accesses, storage::ShardNumber shard)
      : query_(query), accesses_(accesses), run_(query, shard) {}

  storage::ShardNumber shard() const { return run_.shard; }
  /// Settles which access is taken, by a short look at the shard's data. The first Next() does it too.
  Status Prepare(txn::Context& context);
  /// False at the end.
  Result<bool> Next(txn::Context& context, Row* row);
  const ExecutionFigures& figures() const { return run_.figures; }
  ShardReport Report(bool executed) const;

 private:
  bson::Document ExplainAccess(size_t i) const;

  const Query& query_;
  const std::vector<Access>& accesses_;
  size_t chosen_ = 0;
  Run run_;
  std::unique_ptr<Stage> root_;  // null until Prepare
  std::chrono::nanoseconds time_{0};
};

}  // namespace braid::query::plan
