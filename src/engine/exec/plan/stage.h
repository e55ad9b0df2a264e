// Stage: one step of a physical plan. A plan is a tree of them; rows are pulled through it.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/memory_budget.h"
#include "engine/bson/builder.h"
#include "engine/exec/plan/index_path.h"
#include "engine/exec/plan/plan.h"
#include "engine/txn/context.h"

namespace braid::query::plan {

/// A row that is passed between stages. Views are valid until the next pull.
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

/// The figures of a stage, under the names of explain.
struct StageFigures {
  uint64_t works = 0;
  uint64_t advanced = 0;
  bool at_end = false;
  std::chrono::nanoseconds time{0};
};

/// The state that the stages of one plan share while it runs on one shard.
struct ShardRun {
  catalog::CollectionPtr collection;
  storage::ShardNumber shard;
  ExecutionFigures figures;
  bool timed = false;          // measure each stage, for explain
  bool hides_expired = false;  // the collection has a TTL index
  bool needs_sort_key = true;  // of the next row, if the query keeps it at all

  ShardRun(const Query& query, storage::ShardNumber on)
      : collection(query.collection),
        shard(on),
        timed(query.explain),
        hides_expired(query.collection != nullptr && query.collection->has_ttl()) {}
};

/// What the access of one shard leaves for that of the next one, which reads the same range there.
struct SpareCursor {
  std::unique_ptr<storage::Cursor> cursor;  ///< unused; may be null
  bool ranges_are_short = true;             ///< of the shards so far
};

/// Not thread-safe. Keeps no context: each pull may come with another one that reads the same snapshot.
class Stage {
 public:
  /// A stage without a name is not shown.
  Stage(ShardRun& run, std::string_view name, std::unique_ptr<Stage> input = nullptr);
  virtual ~Stage() = default;

  /// False at the end.
  Result<bool> Next(txn::Context& context, Row* row);
  bson::Document Explain(bool executed) const;
  /// As Stream::Rest.
  virtual void Rest(txn::Context& context) {
    for (const std::unique_ptr<Stage>& input : inputs_) input->Rest(context);
  }
  /// The key of the entry that the next row is made of (Row::key), found without the row; false at the end. Only of an
  /// access that is key-ordered (shard_plan.h). The key is valid until the next call. `spare` is handed from shard to
  /// shard; null: no reuse.
  virtual Result<bool> PeekKey(txn::Context& context, SpareCursor* spare, std::string_view* key) {
    return input().PeekKey(context, spare, key);
  }

 protected:
  virtual Result<bool> Pull(txn::Context& context, Row* row) = 0;
  /// Appends the stage's parameters, such as indexBounds; with `executed` also its figures, such as keysExamined.
  virtual void Describe(bson::Builder& out, bool executed) const;
  /// Conditions that it checks; null: none.
  virtual const Residual* filter() const { return nullptr; }

  Stage& input() { return *inputs_.front(); }
  ShardRun& run_;
  StageFigures figures_;
  std::vector<std::unique_ptr<Stage>> inputs_;

 private:
  Result<bool> Counted(txn::Context& context, Row* row);
  std::string_view name_;
};

/// The documents that a plan has already returned, if it could meet one twice. Charged to the server's memory.
class SeenKeys {
 public:
  /// True if it was not in the set.
  Result<bool> Add(txn::Context& context, std::string_view key) {
    if (!keys_.emplace(key).second) return false;
    bytes_ += key.size() + kBytesPerKey;
    BRAID_CHECK_OK(charge_.Set(context.shared().memory, bytes_));
    return true;
  }
  bool Has(const std::string& key) const { return keys_.contains(key); }

 private:
  static constexpr size_t kBytesPerKey = sizeof(std::string) + 4 * sizeof(void*);  // about what a node of the set takes
  std::unordered_set<std::string> keys_;
  size_t bytes_ = 0;
  MemoryCharge charge_{MemoryHolder::kScans};
};

}  // namespace braid::query::plan
