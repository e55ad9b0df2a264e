// Inserting, updating and deleting documents.
#include "engine/exec/write/write.h"

#include "base/assert.h"
#include "base/work.h"
#include "engine/txn/insert_batch.h"

namespace braid::write {
namespace {

constexpr int kUpsertAttemptsMax = 16;  // races between upserts of one key
constexpr size_t kCursorFrom = 16;      // documents of an insert; for fewer a cursor does not pay

Result<UpdateResult> Upsert(Writer& writer, WriteAccess& access, const Updating& updating) {
  BRAID_TRY(bson::Document document, updating.update.Upsert(updating.query.filter));
  BRAID_TRY(document, update::PrepareForInsert(document, writer.cluster_time()));
  BRAID_CHECK_OK(WithoutConflict(
      writer, access, [&] { return txn::Insert(writer.context, access.collection(), document, updating.options); }));
  if (updating.seen) BRAID_CHECK_OK(updating.seen(nullptr, document));
  UpdateResult result;
  result.upserted = bson::OwnedValue(document.Find("_id"));
  if (updating.done) updating.done(result);
  BRAID_CHECK_OK(writer.context.CommitStatement());
  return result;
}

}  // namespace

bool EndsCommand(Code code) {
  switch (code) {
    case Code::kWriteConflict:
    case Code::kSnapshotUnavailable:
    case Code::kMaxTimeMSExpired:
    case Code::kClientDisconnect:
    case Code::kInterrupted:
    case Code::kInterruptedAtShutdown: return true;
    default: return false;
  }
}

Result<int64_t> Insert(Writer& writer, WriteAccess& access, const Insertion& insertion) {
  BRAID_ASSERT(access.collection() != nullptr);
  txn::Context& context = writer.context;
  txn::InsertBatch batch(context);
  if (insertion.documents.size() < kCursorFrom) batch.UseLookUps();
  int64_t inserted = 0;
  bson::Document changed;
  for (size_t i = 0; i < insertion.documents.size(); ++i) {
    BRAID_CHECK_OK(context.Check());
    BRAID_CHECK_OK(Work::Current().Tick(StepsFor(insertion.documents[i].size())));
    if (insertion.was_done && insertion.was_done(i)) {
      ++inserted;
      continue;
    }
    Status status;
    const bson::View given = insertion.documents[i];
    if (auto prepared = update::PrepareForInsert(given, writer.cluster_time(), changed); prepared.ok()) {
      status = WithoutConflict(writer, access, [&] {
        return txn::Insert(batch, context, access.collection(), *prepared, insertion.options);
      });
    } else {
      status = prepared.error();
    }
    if (status.ok()) {
      ++inserted;
      if (insertion.done) insertion.done(i);
      if (access.collection()->sharded()) {
        access.collection()->state->targeted.fetch_add(1, std::memory_order_relaxed);
      }
    } else if (EndsCommand(status.code())) {
      return status;
    } else if (!insertion.failed(i, status)) {
      break;
    }
    if (context.writes().bytes() > kBatchBytesMax) {
      BRAID_CHECK_OK(context.CommitStatement());
      BRAID_CHECK_OK(access.LetChangesIn(context));
    }
  }
  BRAID_CHECK_OK(context.CommitStatement());
  return inserted;
}

Result<UpdateResult> Update(Writer& writer, WriteAccess& access, const Updating& updating) {
  BRAID_ASSERT(access.collection() != nullptr);
  txn::Context& context = writer.context;
  for (int attempt = 1;; ++attempt) {
    UpdateResult result;
    Changer changer(writer, access, updating.query, updating.multi);
    const auto change = [&](storage::ShardNumber shard, bson::View before,
                            const query::MatchDetails& details) -> Status {
      BRAID_TRY(std::optional<bson::Document> after, updating.update.Apply(before, details));
      if (after) {
        BRAID_CHECK_OK(txn::Replace(context, access.collection(), shard, before, *after, updating.options));
        ++result.modified;
        if (updating.multi) {
          BRAID_TRY(const auto now_on, txn::ShardOfChanged(*access.collection(), shard, before, *after));
          if (now_on != shard) BRAID_CHECK_OK(changer.NoteMoved(before.Find("_id")));
        }
      }
      if (updating.seen) BRAID_CHECK_OK(updating.seen(&before, after ? after->view() : before));
      result.matched = 1;
      if (after && updating.done && !updating.multi) updating.done(result);
      return {};
    };
    BRAID_TRY(result.matched, changer.Run(change));
    if (result.matched > 0 || !updating.upsert) return result;
    Result<UpdateResult> upserted = Upsert(writer, access, updating);
    if (upserted.ok()) return upserted;
    if (context.is_transaction()) return upserted;  // which is over then
    context.Abort();
    // Another writer inserted the same key between this search and this insert: search again, and give up only if it is
    // not a race.
    if (upserted.error().code() != Code::kDuplicateKey || attempt >= kUpsertAttemptsMax) return upserted;
  }
}

Result<int64_t> Delete(Writer& writer, WriteAccess& access, Deletion deletion) {
  BRAID_ASSERT(access.collection() != nullptr);
  Changer changer(writer, access, std::move(deletion.query), deletion.multi);
  return changer.Run([&](storage::ShardNumber shard, bson::View before, const query::MatchDetails&) -> Status {
    if (deletion.seen) BRAID_CHECK_OK(deletion.seen(before));
    BRAID_CHECK_OK(txn::Remove(writer.context, access.collection(), shard, before));
    if (deletion.done && !deletion.multi) deletion.done();
    return {};
  });
}

}  // namespace braid::write
