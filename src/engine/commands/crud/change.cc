#include "engine/commands/crud/change.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <unordered_set>

#include "base/strings.h"
#include "engine/commands/config/update_view.h"
#include "engine/commands/config/views.h"
#include "engine/commands/crud/common.h"
#include "engine/commands/parts.h"
#include "engine/query/match/path.h"

namespace braid::commands {
namespace {

constexpr int kBatchDocuments = 64;       // changed by one statement before it commits and lets others in
constexpr size_t kBatchBytes = 4u << 20;  // likewise
constexpr int kUpsertAttemptsMax = 16;    // races between upserts of one key

/// Waits a little longer each time, without holding anything.
class BackOff {
 public:
  explicit BackOff(Call& call) : call_(call) {}
  Status Wait() {
    call_.engine.counters.write_conflicts.fetch_add(1, std::memory_order_relaxed);
    BRAID_CHECK_OK(call_.context.Check());
    if (tries_++ < kYields) {
      std::this_thread::yield();  // most holders are about to commit
    } else {
      std::this_thread::sleep_for(delay_);
      delay_ = std::min(delay_ * 2, std::chrono::microseconds(2000));
    }
    return {};
  }

 private:
  static constexpr int kYields = 4;
  Call& call_;
  int tries_ = 0;
  std::chrono::microseconds delay_{20};
};

/// Runs `step`, which changes one document of the collection, until it does not meet somebody else's lock.
Status WithoutConflict(Call& call, WriteAccess& access, const std::function<Status()>& step) {
  BackOff back_off(call);
  while (true) {
    Status status = step();
    if (status.code() != Code::kWriteConflict || call.context.is_transaction()) return status;
    if (call.context.writes().empty()) {
      call.context.Abort();
      BRAID_CHECK_OK(access.LetGo(call, [&] { return back_off.Wait(); }));
    } else {
      BRAID_CHECK_OK(call.context.Commit());
    }
  }
}

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

/// Finds, locks, re-checks and changes the matching documents of a query.
class Changer {
 public:
  using Change = std::function<Status(storage::ShardNumber shard, bson::View document, const query::MatchDetails&)>;
  Changer(Call& call, WriteAccess& access, query::Query query, bool multi)
      : call_(call), access_(access), query_(std::move(query)), multi_(multi) {}

  /// How many documents matched and went through `change`. Everything is committed on return, also on an error.
  Result<int64_t> Run(const Change& change) {
    Status status = RunUncommitted(change);
    if (!call_.context.writes().empty()) BRAID_CHECK_OK(call_.context.CommitStatement());
    call_.context.AbortStatement();  // lets go of locks on documents that were looked at only
    if (!status.ok()) return status;
    return matched_;
  }

  /// The document was taken to another shard. The statement may come to that one only now, and its cursors there show
  /// what it has written: the document is not to be met again. The same if it was found on another shard.
  void NoteMoved(const bson::Value& id) { moved_.insert(txn::IdKey(id, query_.collection->collation.get())); }

 private:
  Status RunUncommitted(const Change& change) {
    if (const auto id = FixedId(query_)) {
      query::plan::CountRouted(query_, 1);
      return WithoutConflict(call_, access_, [&]() -> Status {
        BRAID_TRY(const auto shard, txn::ReadForChange(call_.context, *access_.collection(), *id, &buffer_));
        return ChangeOne(shard, {}, change);
      });
    }
    do {
      lost_ = false;
      if (!call_.context.is_transaction()) call_.context.TakeSnapshot();  // a fresh one for each attempt
      BRAID_CHECK_OK(RunPlan(change));
    } while (!multi_ && matched_ == 0 && lost_);
    return {};
  }

  Status RunPlan(const Change& change) {
    BRAID_TRY(std::unique_ptr<query::Plan> plan, query::Plan::Make(query_));
    bson::View candidate;
    while (true) {
      BRAID_TRY(bool more, plan->Next(call_.context, &candidate));
      if (!more) return {};
      const std::string id_key = txn::IdKey(candidate.Find("_id"), query_.collection->collation.get());
      if (moved_.contains(id_key)) continue;
      BRAID_CHECK_OK(WithoutConflict(call_, access_, [&]() -> Status {
        const catalog::Collection& now = *access_.collection();
        const auto guess = now.sharded() ? plan->shard() : now.placement->chunks.front().shard;
        BRAID_TRY(const auto shard, txn::ReadForChange(call_.context, now, id_key, guess, &buffer_));
        // Its chunk is moving, and it was moved since the snapshot.
        if (multi_ && shard && *shard != plan->shard()) moved_.insert(id_key);
        return ChangeOne(shard, candidate.bytes(), change);
      }));
      if (!multi_ && matched_ > 0) return {};
      if (++uncommitted_ >= kBatchDocuments || call_.context.writes().bytes() > kBatchBytes) {
        BRAID_CHECK_OK(call_.context.CommitStatement());
        uncommitted_ = 0;
      }
    }
  }

  // The document is locked, and in buffer_ if it is on a shard. `seen` is the version the plan matched; empty if
  // nothing was checked yet.
  Status ChangeOne(std::optional<storage::ShardNumber> shard, std::string_view seen, const Change& change) {
    if (!shard) {
      lost_ = true;
      return {};
    }
    const bson::View current(buffer_.view());
    query::MatchDetails details;
    BRAID_TRY(bool matches, query_.filter.Matches(current, &details));
    if (!matches || query_.collection->IsExpired(current, call_.context.now_millis())) {
      lost_ = lost_ || current.bytes() != seen;
      return {};
    }
    BRAID_CHECK_OK(change(*shard, current, details));
    ++matched_;
    return {};
  }

  Call& call_;
  WriteAccess& access_;
  query::Query query_;
  const bool multi_;
  int64_t matched_ = 0;
  int uncommitted_ = 0;
  bool lost_ = false;  // a candidate was changed or removed by somebody else before we had it
  storage::Buffer buffer_;
  std::unordered_set<std::string> moved_;  // by key(_id)
};

/// True if the changed document is not on the shard that it was on.
Result<bool> HasLeft(const catalog::Collection& collection, storage::ShardNumber shard, bson::View after) {
  if (!collection.sharded()) return false;
  BRAID_TRY(const std::string key, collection.placement->key.KeyOf(after));
  return !collection.placement->ChunkOf(key).HasPart(shard);
}

Result<query::Query> MakeQuery(const catalog::CollectionPtr& collection, bson::View q, bson::View sort,
                               const bson::Value& hint, bool multi,
                               const std::shared_ptr<const query::Environment>& environment) {
  query::Query query;
  query.collection = collection;
  query.environment = environment;
  query.for_change = true;
  BRAID_TRY(query.filter, query::Filter::Parse(q, environment));
  BRAID_TRY(query.sort, query::SortPattern::Parse(sort, environment->collation));
  if (!query.sort.empty() && !multi) query.limit = 1;
  BRAID_CHECK_OK(ReadHint(hint, &query));
  return query;
}

Result<UpdateOutcome> RunUpsert(Call& call, WriteAccess& access, const UpdateStatement& statement,
                                const update::Update& update, const query::Filter& filter) {
  BRAID_TRY(bson::Document document, update.Upsert(filter));
  BRAID_TRY(document, update::PrepareForInsert(document, call.engine.cluster_clock.Now()));
  BRAID_CHECK_OK(WithoutConflict(
      call, access, [&] { return txn::Insert(call.context, access.collection(), document, statement.options); }));
  if (statement.seen) BRAID_CHECK_OK(statement.seen(nullptr, document));
  UpdateOutcome outcome;
  outcome.upserted = bson::OwnedValue(document.Find("_id"));
  if (statement.done) statement.done(outcome);
  BRAID_CHECK_OK(call.context.CommitStatement());
  return outcome;
}

}  // namespace

Result<WriteAccess> WriteAccess::Open(Call& call, const catalog::Namespace& ns, bool create) {
  BRAID_CHECK_OK(CheckNoConfigView(ns));
  WriteAccess access;
  access.collection_ = call.context.FindDraft(ns);
  if (access.collection_ != nullptr) return access;  // only this transaction knows it
  while (true) {
    access.collection_ = call.engine.catalog->Find(ns);
    if (access.collection_ == nullptr && create && call.context.is_transaction()) {
      BRAID_TRY(access.collection_, call.engine.catalog->Draft(ns, bson::View()));
      call.context.KeepDraft(access.collection_);
      return access;
    }
    if (access.collection_ == nullptr && create) {
      BRAID_TRY(catalog::Catalog::Change change, call.engine.catalog->Ensure(ns));
      call.context.NotePosition(change.position);
      access.collection_ = change.collection;
    }
    if (access.collection_ == nullptr) return access;
    if (access.Hold(call)) break;
  }
  BRAID_CHECK_OK(call.context.NoteWriter(access.collection_));
  return access;
}

bool WriteAccess::Hold(Call& call) {
  gate_ = std::shared_lock(collection_->state->gate);
  if (call.engine.catalog->Find(collection_->ns) == collection_) return true;
  gate_.unlock();  // it changed before we had the gate
  return false;
}

Status WriteAccess::LetGo(Call& call, const std::function<Status()>& wait) {
  if (!gate_.owns_lock()) return wait();
  gate_.unlock();
  BRAID_CHECK_OK(wait());
  while (!Hold(call)) {
    catalog::CollectionPtr now = call.engine.catalog->Find(collection_->ns);
    if (now == nullptr || now->number != collection_->number) {
      return {Code::kQueryPlanKilled, StrCat("the collection ", collection_->ns.ToString(), " was dropped")};
    }
    collection_ = std::move(now);
  }
  return {};
}

Result<int64_t> InsertDocuments(Call& call, const catalog::Namespace& ns, std::span<const bson::View> documents,
                                const txn::WriteOptions& options,
                                const std::function<bool(size_t, const Status&)>& failed, int32_t first_statement) {
  BRAID_TRY(WriteAccess access, WriteAccess::Open(call, ns, true));
  int64_t inserted = 0;
  for (size_t i = 0; i < documents.size(); ++i) {
    BRAID_CHECK_OK(call.context.Check());
    const int32_t statement = first_statement + static_cast<int32_t>(i);
    if (call.retry != nullptr && call.retry->Find(statement) != nullptr) {
      ++inserted;
      continue;
    }
    Status status;
    if (auto prepared = update::PrepareForInsert(documents[i], call.engine.cluster_clock.Now()); prepared.ok()) {
      status = WithoutConflict(call, access,
                               [&] { return txn::Insert(call.context, access.collection(), *prepared, options); });
    } else {
      status = prepared.error();
    }
    if (status.ok()) {
      ++inserted;
      if (call.retry != nullptr) call.retry->Note(statement);
      if (access.collection()->sharded()) {
        access.collection()->state->targeted.fetch_add(1, std::memory_order_relaxed);
      }
    } else if (status.code() == Code::kWriteConflict) {
      return status;  // only in a transaction, which is over then
    } else if (!failed(i, status)) {
      break;
    }
    if (call.context.writes().bytes() > kBatchBytes) BRAID_CHECK_OK(call.context.CommitStatement());
  }
  BRAID_CHECK_OK(call.context.CommitStatement());
  call.engine.counters.documents_inserted.fetch_add(inserted, std::memory_order_relaxed);
  return inserted;
}

Result<UpdateOutcome> RunUpdate(Call& call, const catalog::Namespace& ns, const UpdateStatement& statement) {
  WriteAccess access;
  catalog::CollectionPtr collection;
  if (IsConfigView(ns)) {
    BRAID_TRY(collection, FindForRead(call, ns));
  } else {
    BRAID_TRY(access, WriteAccess::Open(call, ns, statement.upsert));
    collection = access.collection();
  }
  BRAID_TRY(auto environment, MakeEnvironment(call, collection, statement.collation, statement.let));
  const update::Update::Options options{statement.array_filters, statement.multi, statement.upsert};
  BRAID_TRY(auto update, update::Update::Parse(statement.u, options, environment));
  BRAID_TRY(query::Query query,
            MakeQuery(collection, statement.q, statement.sort, statement.hint, statement.multi, environment));
  if (collection == nullptr) return UpdateOutcome{};
  if (collection->rows != nullptr) return UpdateConfigView(call, query, *update, statement);

  const query::Filter filter = query.filter;
  for (int attempt = 1;; ++attempt) {
    UpdateOutcome outcome;
    Changer changer(call, access, query, statement.multi);
    const auto change = [&](storage::ShardNumber shard, bson::View before,
                            const query::MatchDetails& details) -> Status {
      BRAID_TRY(std::optional<bson::Document> after, update->Apply(before, details));
      if (after) {
        BRAID_CHECK_OK(txn::Replace(call.context, access.collection(), shard, before, *after, statement.options));
        ++outcome.modified;
        if (statement.multi) {
          BRAID_TRY(const bool left, HasLeft(*access.collection(), shard, *after));
          if (left) changer.NoteMoved(before.Find("_id"));
        }
      }
      if (statement.seen) BRAID_CHECK_OK(statement.seen(&before, after ? after->view() : before));
      outcome.matched = 1;
      if (after && statement.done && !statement.multi) statement.done(outcome);
      return {};
    };
    BRAID_TRY(outcome.matched, changer.Run(change));
    call.engine.counters.documents_updated.fetch_add(outcome.modified, std::memory_order_relaxed);
    if (outcome.matched > 0 || !statement.upsert) return outcome;
    Result<UpdateOutcome> upserted = RunUpsert(call, access, statement, *update, filter);
    if (upserted.ok()) return upserted;
    if (call.context.is_transaction()) return upserted;  // which is over then
    call.context.Abort();
    // Somebody inserted the same key between our search and our insert: search again, and give up only if it is not a
    // race.
    if (upserted.error().code() != Code::kDuplicateKey || attempt >= kUpsertAttemptsMax) return upserted;
  }
}

Result<int64_t> RunDelete(Call& call, const catalog::Namespace& ns, const DeleteStatement& statement) {
  BRAID_TRY(WriteAccess access, WriteAccess::Open(call, ns, false));
  const catalog::CollectionPtr& collection = access.collection();
  BRAID_TRY(auto environment, MakeEnvironment(call, collection, statement.collation, statement.let));
  BRAID_TRY(query::Query query,
            MakeQuery(collection, statement.q, statement.sort, statement.hint, statement.multi, environment));
  if (collection == nullptr) return int64_t{0};
  BRAID_TRY(int64_t removed,
            Changer(call, access, std::move(query), statement.multi)
                .Run([&](storage::ShardNumber shard, bson::View before, const query::MatchDetails&) -> Status {
                  if (statement.seen) BRAID_CHECK_OK(statement.seen(before));
                  BRAID_CHECK_OK(txn::Remove(call.context, access.collection(), shard, before));
                  if (statement.done && !statement.multi) statement.done();
                  return {};
                }));
  call.engine.counters.documents_deleted.fetch_add(removed, std::memory_order_relaxed);
  return removed;
}

}  // namespace braid::commands
