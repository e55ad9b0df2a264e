// Pipeline: the stages of an aggregate, parsed and run as one stream. One file per stage, one table (stages.cc).
#pragma once

#include <memory>
#include <vector>

#include "engine/exec/plan/plan.h"

namespace braid::query {

/// The services that stages need from the server; implemented by commands/.
class PipelineHost {
 public:
  virtual ~PipelineHost() = default;
  /// The documents of a stage that reports on the server: $collStats, $currentOp, $listLocalSessions, $indexStats, ….
  virtual Result<std::vector<bson::Document>> Report(txn::Context& context, std::string_view stage,
                                                     bson::View specification) = 0;
  /// $out: takes the whole result, replaces the target at the end. $merge: one document at a time.
  virtual Status BeginOut(txn::Context& context, const catalog::Namespace& target) = 0;
  virtual Status AddOut(txn::Context& context, bson::View document) = 0;
  virtual Status FinishOut(txn::Context& context) = 0;
  /// `specification` is $merge's, already checked.
  virtual Status Merge(txn::Context& context, bson::View document, bson::View specification) = 0;
};

struct PipelineOptions {
  catalog::Namespace ns;              // collection empty: a database-level aggregate ({aggregate: 1})
  catalog::CollectionPtr collection;  // null: none
  std::shared_ptr<const Environment> environment;
  std::optional<bson::Document> hint;
  std::string hint_name;
  bool allow_disk_use = true;
  bool explain = false;  // keep what Explain() needs, measure the time of the plan's stages
  std::shared_ptr<PipelineHost> host;
};

/// A parsed pipeline that has not run yet, or a running one. $match, $sort, $skip, $limit and a covering $project at
/// the front go to the planner. Not thread-safe; goes on across requests like a Plan.
class Pipeline : public Stream {
 public:
  /// Codes as MongoDB's: not exactly one field 40323, unknown stage 40324, refused stages by name, $out/$merge not last
  /// 40601, ….
  static Result<std::unique_ptr<Pipeline>> Parse(bson::View stages_array, PipelineOptions options);

  /// Chooses the plan; explain calls it when nothing is run.
  virtual Status Prepare(txn::Context& context) = 0;
  /// True if the last stage is $out or $merge: the stream is empty, everything happens at the first Next().
  virtual bool writes() const = 0;
  /// The planner's part and the stages after it, for explain: {stages: [{$cursor: {queryPlanner: …}}, {$group: …}]} or
  /// the plan alone. After Prepare() or, with `executed`, after the last Next().
  /// Of the shard at a position of shards(). With several shards the stages behind the plan run where their documents
  /// come together: SplitPipeline tells both parts.
  virtual bson::Document Explain(bool executed, size_t shard = 0) const = 0;
  virtual std::vector<storage::ShardNumber> shards() const = 0;
  /// {shardsPart: […], mergerPart: […]}
  virtual bson::Document SplitPipeline() const = 0;
  /// The plan at the front; null if the pipeline starts with a report stage, or only counts documents and is not to be
  /// explained.
  const Plan* plan() const override = 0;
};

OperatorNames PipelineStages();

}  // namespace braid::query
