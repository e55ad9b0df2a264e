// Plan: a query on a collection, planned, which streams matching documents in order and explains itself.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/language/match/filter.h"
#include "engine/language/match/sort_pattern.h"
#include "engine/language/project/projection.h"
#include "engine/txn/context.h"

namespace braid::query {

/// The parsed query. It owns everything, so that a cursor can outlive its request.
struct Query {
  catalog::CollectionPtr collection;  // null: no such collection, an empty result
  Filter filter;
  SortPattern sort;
  int64_t skip = 0;
  int64_t limit = 0;                             // 0: none
  std::shared_ptr<const Projection> projection;  // null: the whole document
  bson::Document projection_spec;                // as given, for explain's transformBy; may be left empty
  bool projection_optional = false;              // it only names what is needed: documents may come whole as well
  std::shared_ptr<const Environment> environment;
  std::optional<bson::Document> hint;  // {$natural: ±1} or a key pattern
  std::string hint_name;               // or an index name
  std::optional<bson::Document> min;   // index bounds, with hint
  std::optional<bson::Document> max;
  bool return_key = false;
  bool show_record_id = false;
  storage::LogPosition read_at = UINT64_MAX;  // of the snapshot, once it is fixed: younger indexes are of no use
  bool keeps_sort_key = false;                // the rows are merged with those of other shards (gather.h)
  bool for_change = false;                    // update, delete, findAndModify: whole documents, no covering
  bool explain = false;                       // measure the time of each stage

  /// With those to be skipped; the limit must not be 0.
  int64_t LimitAndSkip() const { return limit > INT64_MAX - skip ? INT64_MAX : limit + skip; }
};

class Plan;

/// A stream of documents, pulled one at a time. Not thread-safe.
class Stream {
 public:
  virtual ~Stream() = default;
  /// False at the end. The view is valid until the next call. Checks context for deadline and kill.
  virtual Result<bool> Next(txn::Context& context, bson::View* document) = 0;
  /// Called when Next() may not be called for a long time: rows held until then go to disk if the server is short of
  /// memory and that is possible.
  virtual void Rest(txn::Context& /*context*/) {}
  /// The plan that its documents come from; null: none.
  virtual const Plan* plan() const { return nullptr; }
};

struct ExecutionFigures {
  uint64_t returned = 0;
  uint64_t keys_examined = 0;
  uint64_t documents_examined = 0;

  void Add(const ExecutionFigures& other) {
    returned += other.returned;
    keys_examined += other.keys_examined;
    documents_examined += other.documents_examined;
  }
};

/// A plan and its figures on one shard, for explain.
struct ShardReport {
  storage::ShardNumber shard = 0;
  bson::Document stages;  // {stage: "FETCH", inputStage: {stage: "IXSCAN", …}}; if executed also nReturned, works, …
  std::vector<bson::Document> rejected;  // stages that were considered and not taken
  ExecutionFigures figures;
  uint64_t millis = 0;
};

/// A planned query. Fixes the context's snapshot at the first Next() (unless it has one) and reads that to the end, so
/// it never meets what the caller writes meanwhile: an update that moves a document ahead in an index does not see it
/// again. Keeps no context: the caller hands the snapshot from one request to the next (TakeSnapshot, UseSnapshot).
class Plan : public Stream {
 public:
  /// kBadValue for a hint that names no index; 51173 … 51176 for min and max; hidden and partial indexes as MongoDB.
  static Result<std::unique_ptr<Plan>> Make(Query query);

  /// Chooses among several plans by a short trial on the data. The first Next() does it too; explain calls it when
  /// nothing is run.
  virtual Status Prepare(txn::Context& context) = 0;
  virtual ExecutionFigures figures() const = 0;  ///< of all shards together
  /// A report for each shard that it reads; after Prepare().
  virtual std::vector<ShardReport> Report(bool executed) const = 0;
  virtual const Query& query() const = 0;
  /// The shard of the last document.
  virtual storage::ShardNumber shard() const = 0;
  const Plan* plan() const override { return this; }
};

/// Where the documents come from, as MongoDB's planSummary: "COLLSCAN", "IXSCAN { a: 1 }", "IDHACK". Of the first
/// shard.
std::string PlanSummary(const std::vector<ShardReport>& shards);

/// While alive, the work of a stream's plan is added to the cost of the request's operation. Both must outlive it.
class PlanCost {
 public:
  PlanCost(txn::Context& context, const Stream& stream);
  ~PlanCost();
  PlanCost(const PlanCost&) = delete;
  PlanCost& operator=(const PlanCost&) = delete;

 private:
  txn::Context& context_;
  const Plan* const plan_;  // null: nothing to add
  ExecutionFigures before_;
};

namespace plan {
/// Notes in the collection's figures which shards an operation looks at, and whether one was enough.
void CountRouted(const Query& query, const sharding::ShardNumbers& shards);
}  // namespace plan

/// The number of matching documents (with skip and limit), without fetching where an index or the collection's figure
/// tells it.
Result<int64_t> Count(txn::Context& context, const Query& query);

/// Count with its stages: {stage: "COUNT", inputStage: {stage: "COUNT_SCAN", …}}. Counts only if `executed`.
struct CountExplanation {
  std::vector<ShardReport> shards;
  int64_t count = 0;

  ExecutionFigures figures() const;
};
Result<CountExplanation> ExplainCount(txn::Context& context, const Query& query, bool executed);

/// Sorts and groups hold at most this in memory: kQueryExceededMemoryLimitNoDiskUseAllowed past it.
constexpr size_t kSortBytesMax = 100u << 20;

}  // namespace braid::query
