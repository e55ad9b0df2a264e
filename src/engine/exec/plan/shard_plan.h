// ShardPlan: the stages of a query on one shard, made from the access that suits the shard's data best.
#pragma once

#include "engine/exec/plan/planner.h"

namespace braid::query::plan {

/// True if rows come in the order of the entries of one index and every entry is a row: then the key of a shard's next
/// entry tells the place of its next row before the document is read.
bool IsKeyOrdered(const Query& query, const Access& access);

/// The stages of an access: reading, sorting, skipping, projecting, limiting.
std::unique_ptr<Stage> BuildStages(ShardRun& run, const Query& query, const Access& access);

/// Chooses among several accesses by a trial on the data: each may walk a few entries, and the one that ends soonest
/// wins. Reads the context's snapshot.
Result<size_t> ChooseAccess(txn::Context& context, const Query& query, storage::ShardNumber shard,
                            const std::vector<Access>& accesses);

/// The stages of a query on one shard. Not thread-safe, but shards of one query may run on different threads. `query`
/// and `accesses` outlive it.
class ShardPlan {
 public:
  ShardPlan(const Query& query, const std::vector<Access>& accesses, storage::ShardNumber shard)
      : query_(query), accesses_(accesses), run_(query, shard) {}

  storage::ShardNumber shard() const { return run_.shard; }
  /// Chooses the access by a short trial on the shard's data. The first Next() does it too.
  Status Prepare(txn::Context& context);
  /// False at the end.
  Result<bool> Next(txn::Context& context, Row* row);
  /// The same for a caller that has seen the row's key: the row may lack its sort key.
  Result<bool> NextPeeked(txn::Context& context, Row* row);
  /// As Stage::PeekKey, of the next row.
  Result<bool> PeekKey(txn::Context& context, SpareCursor* spare, std::string_view* key);
  /// As Stream::Rest.
  void Rest(txn::Context& context) {
    if (root_ != nullptr) root_->Rest(context);
  }
  const ExecutionFigures& figures() const { return run_.figures; }
  ShardReport Report(bool executed) const;

 private:
  bson::Document ExplainAccess(size_t i) const;

  const Query& query_;
  const std::vector<Access>& accesses_;
  size_t chosen_ = 0;
  ShardRun run_;
  std::unique_ptr<Stage> root_;  // null until Prepare
  std::chrono::nanoseconds time_{0};
};

}  // namespace braid::query::plan
