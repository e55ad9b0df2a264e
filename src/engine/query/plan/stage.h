// Stage: one step of a physical plan. A plan is a tree of them; rows are pulled through it.
#pragma once

#include <chrono>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/query/plan/executor.h"
#include "engine/query/plan/index_path.h"

namespace braid::query::plan {

/// What travels between stages. Views are valid until the next pull.
struct Row {
  bson::View document;
  bool has_document = false;
  std::string_view document_key;     // whole key in the store; empty only above a projection
  const IndexPath* index = nullptr;  // where the row was found; null: in the collection
  bson::View values;                 // of the entry: {"0": v0, …}, missing ones left out
  std::string_view key;              // of the entry, without the index's prefix
  std::string_view sort_key;         // where it goes among the rows of other shards, if the query keeps it
};

/// Conditions that all have to hold.
using Residual = std::vector<const MatchNode*>;
Result<bool> MeetsAll(const Residual& residual, bson::View document);
/// filter: {…}; nothing if there are no conditions.
void AppendFilter(const Residual& residual, bson::Builder& out);
/// An int if it fits, else a long.
void AppendNumber(bson::Builder& out, std::string_view name, uint64_t number);

/// What a stage has done, under the names of explain.
struct StageFigures {
  uint64_t works = 0;
  uint64_t advanced = 0;
  bool at_end = false;
  std::chrono::nanoseconds time{0};
};

/// What the stages of one plan share.
struct Run {
  catalog::CollectionPtr collection;
  storage::ShardNumber shard;
  ExecutionFigures figures;
  bool timed = false;          // measure each stage, for explain
  bool hides_expired = false;  // the collection has a TTL index

  Run(const Query& query, storage::ShardNumber on)
      : collection(query.collection),
        shard(on),
        timed(query.explain),
        hides_expired(query.collection != nullptr && query.collection->has_ttl()) {}
};

/// Not thread-safe. Keeps no context: each pull may come with another one that reads the same snapshot.
class Stage {
 public:
  /// A stage without a name is not shown.
  Stage(Run& run, std::string_view name, std::unique_ptr<Stage> input = nullptr);
  virtual ~Stage() = default;

  /// False at the end.
  Result<bool> Next(txn::Context& context, Row* row);
  bson::Document Explain(bool executed) const;

 protected:
  virtual Result<bool> Pull(txn::Context& context, Row* row) = 0;
  /// What the stage was made of, such as indexBounds; with `executed` also figures of its own, such as keysExamined.
  virtual void Describe(bson::Builder& out, bool executed) const;
  /// Conditions that it checks; null: none.
  virtual const Residual* filter() const { return nullptr; }

  Stage& input() { return *inputs_.front(); }
  Run& run_;
  StageFigures figures_;
  std::vector<std::unique_ptr<Stage>> inputs_;

 private:
  Result<bool> Counted(txn::Context& context, Row* row);
  std::string_view name_;
};

}  // namespace braid::query::plan
