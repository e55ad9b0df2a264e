// Stage: one step of a pipeline. Pulls documents from its input, hands its own out one at a time. WriteStage is the
// common base of $out and $merge: their target, and how their writes bypass the snapshot that the pipeline reads.
// At the end the parsers of all stages.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/arena.h"
#include "engine/bson/builder.h"
#include "engine/exec/pipeline/pipeline.h"

namespace braid::query::pipeline {

/// The part of a stream that a sequence of $skip and $limit keeps.
struct Window {
  int64_t skip = 0;
  int64_t limit = 0;  // 0: all
};

/// The work that stages at the front leave to the planner. A stage that joins is not run.
struct Front {
  std::vector<bson::Document> matches;  // all of them have to match
  SortPattern sort;
  std::shared_ptr<const Projection> projection;
  bson::Document projection_spec;
  Window window;
  bool cut() const { return window.skip != 0 || window.limit != 0; }
};

/// The part of its input that a stage reads.
enum class Needs {
  kMore,   // the paths it names, and those that later stages read
  kOnly,   // the paths it names and nothing else
  kWhole,  // everything
};

/// Not thread-safe. Keeps no context: each pull may come with another one that reads the same snapshot. A document that
/// was handed out is valid until the next pull.
class Stage : public Stream {
 public:
  /// As written in the pipeline, for explain.
  Stage(std::string_view name, const bson::Value& specification) : name_(name), specification_(specification) {}

  void set_input(Stream* input) { input_ = input; }
  Result<bool> Next(txn::Context& context, bson::View* document) final;
  /// {$name: specification}, with `executed` also nReturned.
  bson::Document Explain(bool executed) const;
  std::string_view name() const { return name_; }
  bson::Value specification() const { return specification_; }
  /// Whether its documents may be nested too deeply.
  void CheckNestingOfOutput() { checks_nesting_ = true; }

  /// True if the query takes over the stage's work.
  virtual bool JoinFront(Front&) const { return false; }
  /// True if the stage only cuts the stream, and the window takes that over.
  virtual bool JoinWindow(Window&) const { return false; }
  /// Only the first `count` documents will be asked for.
  virtual void Expect(uint64_t /*count*/) {}
  virtual Needs CollectPaths(std::set<std::string>*) const { return Needs::kWhole; }
  /// True if the output depends on the number of input documents alone; it is then asked for by FromCount.
  virtual bool counts() const { return false; }
  /// The only output document for `count` input documents (at least one).
  virtual bson::Document FromCount(int64_t /*count*/) const { return {}; }
  virtual bool writes() const { return false; }

 protected:
  virtual Result<bool> Pull(txn::Context& context, bson::View* document) = 0;
  Stream& input() { return *input_; }

 private:
  const std::string name_;
  const bson::OwnedValue specification_;
  Stream* input_ = nullptr;  // null: the stage makes its documents itself
  uint64_t returned_ = 0;
  bool at_end_ = false;
  bool checks_nesting_ = false;
};
using StagePtr = std::unique_ptr<Stage>;

/// The arguments of parsing a stage, and its destination: one written stage may become several.
struct StageParser {
  const PipelineOptions& options;
  std::vector<StagePtr>& stages;

  const std::shared_ptr<const Environment>& environment() const { return options.environment; }
};

enum StagePlace : uint32_t {
  kAnywhere = 0,
  kFirst = 1,         // only as the first stage: it makes its documents itself
  kLast = 2,          // only as the last stage
  kNoCollection = 4,  // {aggregate: 1} instead of a collection
  kAdminOnly = 8,     // on the database admin
  kInUpdate = 16,     // also in the pipeline of an update or of $merge
};

struct StageDefinition {
  std::string_view name;
  Status (*parse)(StageParser& parser, std::string_view name, const bson::Value& specification);
  uint32_t place = kAnywhere;
};

/// The stage of that name; kCommandNotSupported for those Braid does not have, Location(40324) for unknown ones.
Result<const StageDefinition*> FindStage(std::string_view name);
/// {$name: specification}: kTypeMismatch if it is not an object, Location(40323) if it does not have exactly one field.
Result<bson::Element> SplitStage(const bson::Value& stage);

/// The most levels by which a stage can nest documents deeper than its input.
int LevelsAddedBy(const bson::Value& specification);
/// kOverflow if the document is nested deeper than a reply may be.
Status CheckNesting(bson::View document);

/// kOperationNotSupportedInTransaction if the context is a transaction's.
Status RefuseInTransaction(txn::Context& context, std::string_view stage);
/// The memory that a stage holds until its end.
class StageMemory {
 public:
  /// kQueryExceededMemoryLimitNoDiskUseAllowed past kSortBytesMax: nothing is written to disk, whatever allowDiskUse
  /// says. kExceededMemoryLimit if all requests together hold too much.
  Status Set(txn::Context& context, std::string_view stage, size_t bytes);

 private:
  MemoryCharge charge_{MemoryHolder::kGroups};
};

/// The server's own databases and collections cannot be targets.
struct ForbiddenCodes {
  int internal_database;
  int special_collection;
};
Status CheckTarget(std::string_view stage, const catalog::Namespace& target, const ForbiddenCodes& codes);

/// Runs `write` without the context's snapshot, so that it sees earlier writes, and then restores the snapshot.
template <typename Write>
Status PastSnapshot(txn::Context& context, const Write& write) {
  storage::Snapshot kept = context.TakeSnapshot();
  Status status = write();
  context.UseSnapshot(std::move(kept));
  return status;
}

/// A stage that takes all its input at the first pull and hands nothing out.
class WriteStage : public Stage {
 public:
  using Stage::Stage;
  bool writes() const override { return true; }

 protected:
  Result<bool> Pull(txn::Context& context, bson::View* document) final;
  virtual Status Begin(txn::Context&) { return {}; }
  virtual Status Write(txn::Context& context, bson::View document) = 0;
  virtual Status Finish(txn::Context&) { return {}; }
};

// The parsers of the stages. One file per stage or per few similar stages; the table is in stages.cc.
using ParseStage = Status(StageParser& parser, std::string_view name, const bson::Value& specification);

ParseStage ParseAddFields, ParseProject, ParseUnset;                                                    // project.cc
ParseStage ParseBucket;                                                                                 // bucket.cc
ParseStage ParseCount;                                                                                  // count.cc
ParseStage ParseCurrentOp, ParseCollStats, ParseIndexStats, ParseListLocalSessions, ParseListSessions,  // report.cc
    ParseListSampledQueries, ParseShardedDataDistribution;
ParseStage ParseGroup;                          // group.cc
ParseStage ParseLimit, ParseSkip;               // limit.cc
ParseStage ParseMatch;                          // match.cc
ParseStage ParseMerge;                          // merge.cc
ParseStage ParseOut;                            // out.cc
ParseStage ParseReplaceRoot, ParseReplaceWith;  // replace_root.cc
ParseStage ParseSample;                         // sample.cc
ParseStage ParseSort;                           // sort.cc
ParseStage ParseSortByCount;                    // sort_by_count.cc
ParseStage ParseUnwind;                         // unwind.cc

}  // namespace braid::query::pipeline
