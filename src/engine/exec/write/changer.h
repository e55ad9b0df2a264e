// Changer: finds the documents of a query, locks each, checks it again and changes it.
//
// A plain statement finds its candidates in a snapshot, some at a time. It searches without the collection's gate and
// without locks, so that a search may take long and hold up nobody. Then it takes the gate and for each candidate:
// locks the document, reads its newest version, checks the filter again if it changed meanwhile, changes it; and
// commits. Nothing waits while it holds a lock: a lock that cannot be had makes the statement commit what it has, let
// go of everything and try again (so there is no deadlock), up to maxTimeMS.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/exec/plan/plan.h"
#include "engine/exec/plan/stage.h"
#include "engine/exec/write/access.h"

namespace braid::write {

constexpr size_t kBatchBytesMax = 4u << 20;  // changed by one statement before it commits and lets others in

/// The parameters of a statement that writes. They outlive the statement.
struct Writer {
  txn::Context& context;
  std::atomic<uint64_t>& conflicts;        // how many locks of other writers were waited for
  std::function<uint64_t()> cluster_time;  // the newest: for documents with a zero timestamp
};

/// Runs `step`, which changes one document of the collection, until it does not meet another owner's lock.
Status WithoutConflict(Writer& writer, WriteAccess& access, const std::function<Status()>& step);

/// One statement. Not thread-safe.
class Changer {
 public:
  using ChangeDocument =
      std::function<Status(storage::ShardNumber shard, bson::View document, const query::MatchDetails& details)>;
  Changer(Writer& writer, WriteAccess& access, query::Query query, bool multi)
      : writer_(writer), context_(writer.context), access_(access), query_(std::move(query)), multi_(multi) {}

  /// How many documents matched and went through `change`. Everything is committed on return, also on an error.
  Result<int64_t> Run(const ChangeDocument& change);

  /// Notes that the document was moved to another shard. The statement may scan that shard later, and its cursors there
  /// show its own writes: the document must not be processed again. The same if it was found on another shard.
  Status NoteMoved(const bson::Value& id);

 private:
  struct Candidate {
    std::string document;  // as the plan matched it
    storage::ShardNumber shard;
  };
  Status NoteMoved(std::string_view id_key) { return moved_.Add(context_, id_key).status(); }
  Status RunUncommitted(const ChangeDocument& change);
  Status RunPlan(const ChangeDocument& change);
  /// The next candidates; fewer than a batch has room for only at the end, where `more` becomes false.
  Status Search(query::Plan& plan, bool* more);
  Status ChangeCandidate(const Candidate& candidate, const ChangeDocument& change);
  /// The document is locked, and `current` its newest version if it is on a shard. `seen` is the version the plan
  /// matched; empty if nothing was checked yet.
  Status ChangeOne(std::optional<storage::ShardNumber> shard, bson::View current, std::string_view seen,
                   const ChangeDocument& change);

  Writer& writer_;
  txn::Context& context_;
  WriteAccess& access_;
  query::Query query_;
  const bool multi_;
  int64_t matched_ = 0;
  std::vector<Candidate> candidates_;
  MemoryCharge charge_{MemoryHolder::kScans};  // of the candidates
  bool lost_ = false;  // a candidate was changed or removed by another writer before it was locked
  storage::Buffer buffer_;
  query::plan::SeenKeys moved_;  // by key(_id)
};

}  // namespace braid::write
