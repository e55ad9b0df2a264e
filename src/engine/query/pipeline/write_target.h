// What $out and $merge share: where they write, and how their writes go past the snapshot the pipeline reads.
#pragma once

#include "engine/query/pipeline/stage.h"

namespace braid::query::pipeline {

/// Databases and collections of the server's own are no targets.
struct ForbiddenCodes {
  int internal_database;
  int special_collection;
};
Status CheckTarget(std::string_view stage, const catalog::Namespace& target, const ForbiddenCodes& codes);

/// Runs `write` without the context's snapshot, so that it meets what was written before it, and gives it back.
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

}  // namespace braid::query::pipeline
