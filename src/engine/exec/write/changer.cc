// Finding, locking, checking again and changing.
#include "engine/exec/write/changer.h"

#include <utility>

#include "base/assert.h"
#include "engine/txn/records.h"

namespace braid::write {
namespace {

constexpr size_t kBatchDocuments = 64;  // changed by one statement before it commits and lets others in

/// While alive, the operation lets others go first when it runs long: it holds neither a gate nor, outside a
/// transaction, a lock.
class GivesWay {
 public:
  explicit GivesWay(txn::Operation& operation)
      : operation_(operation), before_(std::exchange(operation.gives_way, true)) {}
  ~GivesWay() { operation_.gives_way = before_; }
  GivesWay(const GivesWay&) = delete;
  GivesWay& operator=(const GivesWay&) = delete;

 private:
  txn::Operation& operation_;
  const bool before_;
};

/// The _id a filter asks for, if it fixes it to one plain value: then there is nothing to plan.
std::optional<bson::Value> FixedId(const query::Query& query) {
  if (!query.hint_name.empty() || query.hint || query.environment->collation != nullptr) return std::nullopt;
  const auto id_of = [](const query::MatchNode& node) -> std::optional<bson::Value> {
    if (node.op() != query::MatchOp::kEq || node.path() != "_id") return std::nullopt;
    const bson::Value id = node.operand();
    if (id.Is(bson::Type::kArray) || id.IsNullish() || id.Is(bson::Type::kRegex)) return std::nullopt;
    return id;
  };
  const query::MatchNode& root = query.filter.root();
  if (root.op() != query::MatchOp::kAnd) return id_of(root);
  for (const auto& child : root.children()) {
    if (auto id = id_of(*child)) return id;
  }
  return std::nullopt;
}

}  // namespace

Status WithoutConflict(Writer& writer, WriteAccess& access, const std::function<Status()>& step) {
  txn::Context& context = writer.context;
  while (true) {
    Status status = step();
    if (status.code() != Code::kWriteConflict || context.is_transaction()) return status;
    if (context.writes().empty()) {
      writer.conflicts.fetch_add(1, std::memory_order_relaxed);
      context.Abort();
      BRAID_CHECK_OK(access.LetGo(context, [&] { return context.WaitForConflict(); }));
    } else {
      BRAID_CHECK_OK(context.Commit());
    }
  }
}

Result<int64_t> Changer::Run(const ChangeDocument& change) {
  Status status = RunUncommitted(change);
  if (!context_.writes().empty()) BRAID_CHECK_OK(context_.CommitStatement());
  context_.AbortStatement();  // releases the locks on documents that were only read
  BRAID_ASSERT(context_.is_transaction() || context_.writes().empty());
  if (!status.ok()) return status;
  return matched_;
}

Status Changer::NoteMoved(const bson::Value& id) {
  return NoteMoved(txn::IdKey(id, query_.collection->collation.get()));
}

Status Changer::RunUncommitted(const ChangeDocument& change) {
  if (const auto id = FixedId(query_)) {
    query::plan::CountRouted(query_, {});  // its one shard shows when the document is written
    txn::Operation& operation = context_.operation();
    ++operation.cost.keys_examined;
    if (operation.cost.plan.empty()) operation.cost.plan = "IDHACK";
    return WithoutConflict(writer_, access_, [&]() -> Status {
      BRAID_TRY(const auto shard, txn::ReadForChange(context_, *access_.collection(), *id, &buffer_));
      return ChangeOne(shard, bson::View(buffer_.view()), {}, change);
    });
  }
  do {
    lost_ = false;
    if (!context_.is_transaction()) context_.TakeSnapshot();  // a fresh one for each attempt
    BRAID_CHECK_OK(RunPlan(change));
  } while (!multi_ && matched_ == 0 && lost_);
  return {};
}

Status Changer::RunPlan(const ChangeDocument& change) {
  BRAID_TRY(std::unique_ptr<query::Plan> plan, query::Plan::Make(query_));
  const query::PlanCost cost(context_, *plan);
  bool more = true;
  while (more) {
    BRAID_CHECK_OK(access_.LetGo(context_, [&] { return Search(*plan, &more); }));
    for (const Candidate& candidate : candidates_) {
      BRAID_CHECK_OK(ChangeCandidate(candidate, change));
      if (!multi_ && matched_ > 0) return {};
      if (context_.writes().bytes() <= kBatchBytesMax) continue;
      BRAID_CHECK_OK(context_.CommitStatement());
      BRAID_CHECK_OK(access_.LetChangesIn(context_));
    }
    BRAID_CHECK_OK(context_.CommitStatement());
  }
  return {};
}

Status Changer::Search(query::Plan& plan, bool* more) {
  const GivesWay gives_way(context_.operation());
  const size_t wanted = multi_ ? kBatchDocuments : 1;
  size_t bytes = 0;
  candidates_.clear();
  while (candidates_.size() < wanted && bytes < kBatchBytesMax) {
    bson::View document;
    BRAID_TRY(*more, plan.Next(context_, &document));
    if (!*more) break;
    candidates_.push_back({std::string(document.bytes()), plan.shard()});
    bytes += document.bytes().size();
  }
  return charge_.Set(context_.shared().memory, bytes);
}

Status Changer::ChangeCandidate(const Candidate& candidate, const ChangeDocument& change) {
  const bson::View seen(candidate.document);
  const std::string id_key = txn::IdKey(seen.Find("_id"), query_.collection->collation.get());
  if (moved_.Has(id_key)) return {};
  return WithoutConflict(writer_, access_, [&]() -> Status {
    const catalog::Collection& now = *access_.collection();
    BRAID_TRY(const bool is_newest, txn::LockNewest(context_, now, id_key, candidate.shard));
    if (is_newest) return ChangeOne(candidate.shard, seen, seen.bytes(), change);
    const auto guess = now.sharded() ? candidate.shard : now.placement->chunks.front().shard;
    BRAID_TRY(const auto shard, txn::ReadForChange(context_, now, id_key, guess, &buffer_));
    // Its chunk is moving, and it was moved since the snapshot.
    if (multi_ && shard && *shard != candidate.shard) BRAID_CHECK_OK(NoteMoved(id_key));
    return ChangeOne(shard, bson::View(buffer_.view()), seen.bytes(), change);
  });
}

Status Changer::ChangeOne(std::optional<storage::ShardNumber> shard, bson::View current, std::string_view seen,
                          const ChangeDocument& change) {
  if (!shard) {
    lost_ = true;
    return {};
  }
  if (seen.empty()) ++context_.operation().cost.documents_examined;
  query::MatchDetails details;
  BRAID_TRY(bool matches, query_.filter.Matches(current, &details));
  if (!matches || query_.collection->IsExpired(current, context_.now_millis())) {
    lost_ = lost_ || current.bytes() != seen;
    return {};
  }
  BRAID_CHECK_OK(change(*shard, current, details));
  ++matched_;
  return {};
}

}  // namespace braid::write
