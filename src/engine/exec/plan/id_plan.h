// Documents by single values of _id: IDHACK for one value, an IXSCAN for several. Each is read by its key, which the
// filters of the store answer at once if there is no such document.
#pragma once

#include <string>

#include "engine/bson/arena.h"
#include "engine/exec/plan/plan.h"
#include "engine/exec/plan/stage.h"
#include "engine/sharding/placement.h"
#include "engine/storage/store.h"

namespace braid::query::plan {

/// True if the query asks for exactly one _id and nothing that needs more than a read.
bool IsIdLookup(const Query& query);

/// IDHACK: one document by its _id, read without stages and, on one shard, without a snapshot.
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

/// IXSCAN over single values of _id, each read by its key.
class IdPoints final : public Stage {
 public:
  /// True for a forward walk over the _id index that is bounded to single values.
  static bool Serves(const IndexPath& path);
  IdPoints(ShardRun& run, IndexPath path);

 protected:
  Result<bool> Pull(txn::Context& context, Row* row) override;
  void Describe(bson::Builder& out, bool executed) const override;

 private:
  const IndexPath path_;
  size_t next_ = 0;  // of the points
  std::string key_;  // begins with the prefix of the collection's documents
  const size_t prefix_size_;
  storage::Buffer document_;
  uint64_t found_ = 0;
};

}  // namespace braid::query::plan
