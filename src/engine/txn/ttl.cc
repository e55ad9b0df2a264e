// The TTL sweeper.
#include "engine/txn/ttl.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "base/mutex.h"
#include "engine/bson/arena.h"
#include "engine/bson/key_encoding.h"
#include "engine/storage/keys.h"
#include "engine/txn/records.h"

namespace braid::txn {
namespace {

constexpr size_t kExpiredPerBatch = 500;
constexpr auto kEvery = std::chrono::seconds(1);

/// The entries of dates up to `until_millis`.
storage::Range DatesUntil(const catalog::Index& index, storage::ShardNumber shard, int64_t until_millis) {
  const bool descending = index.spec.fields[0].descending;
  const auto bound = [&](int64_t millis) {
    bson::Arena arena;
    std::string key = storage::IndexPrefix(index.number, shard);
    bson::AppendKey(&key, arena.DateMillis(millis), descending);
    return key;
  };
  std::string first = bound(std::numeric_limits<int64_t>::min());
  std::string last = bound(until_millis);
  if (descending) std::swap(first, last);
  BRAID_ASSERT(first <= last);
  return {std::move(first), storage::PrefixEnd(last)};
}

/// Removes a batch of expired documents, from `from` in the index on; returns how many. `from` is then where to go on,
/// empty at the end.
Result<uint64_t> SweepBatch(Shared& shared, Operation& operation, const catalog::Namespace& ns,
                            const std::string& index_name, storage::ShardNumber shard, std::string* from) {
  const std::string begin = std::exchange(*from, {});
  const catalog::CollectionPtr collection = shared.catalog.Find(ns);
  if (collection == nullptr) return uint64_t{0};
  BRAID_TRY(const Gate::Pass gate, collection->state->gate.Share(operation));
  const catalog::Index* index = collection->FindIndex(index_name);
  if (shared.catalog.Find(ns) != collection || index == nullptr || !index->spec.is_ttl() || index->building) {
    return uint64_t{0};
  }
  Context context(shared, operation);
  const int64_t until = context.now_millis() - *index->spec.expire_after_seconds * 1000;
  const auto cursor = context.NewCursor(DatesUntil(*index, shard, until));
  uint64_t removed = 0;
  size_t seen = 0;
  storage::Buffer document;
  for (cursor->Seek(begin); cursor->Valid() && seen < kExpiredPerBatch; cursor->Next(), ++seen) {
    BRAID_TRY(StoredEntry entry, ReadEntry(*index, cursor->key(), cursor->value()));
    const auto found = ReadForChange(context, *collection, entry.id_key, shard, &document);
    if (!found.ok() && found.error().code() == Code::kWriteConflict) continue;  // in use: the next pass
    if (!found.ok()) return found.error();
    if (!*found || !collection->IsExpired(bson::View(document.view()), context.now_millis())) continue;
    const Status status = Remove(context, collection, **found, bson::View(document.view()));
    if (status.code() == Code::kWriteConflict) continue;
    BRAID_CHECK_OK(status);
    ++removed;
  }
  BRAID_CHECK_OK(cursor->status());
  *from = cursor->Valid() ? std::string(cursor->key()) : std::string();
  BRAID_CHECK_OK(context.Commit());
  return removed;
}

}  // namespace

TtlSweeper::TtlSweeper(Shared& shared)
    : shared_(shared), clean_until_millis_(shared.clock.NowMillis()), thread_([this] { Loop(); }) {}

TtlSweeper::~TtlSweeper() {
  {
    const MutexLock lock(mu_);
    stop_ = true;
  }
  wake_.NotifyAll();
  thread_.join();
}

Result<uint64_t> TtlSweeper::Sweep() {
  const MutexLock one_at_a_time(sweep_mu_);
  const int64_t began_millis = shared_.clock.NowMillis();
  Operations::Handle operation = shared_.operations.Start([](Operation& started) { started.name = "ttl"; });
  uint64_t total = 0;
  for (const catalog::CollectionPtr& collection : shared_.catalog.All()) {
    if (!collection->has_ttl()) continue;
    for (const auto& index : collection->indexes) {
      if (!index->spec.is_ttl() || index->building) continue;
      for (const storage::ShardNumber shard : collection->placement->Shards()) {
        std::string from;
        do {
          BRAID_CHECK_OK(operation->Check());
          BRAID_TRY(uint64_t removed, SweepBatch(shared_, *operation, collection->ns, index->spec.name, shard, &from));
          total += removed;
          removed_ += removed;
        } while (!from.empty());
      }
    }
  }
  ++passes_;
  clean_until_millis_ = began_millis;
  return total;
}

std::chrono::milliseconds TtlSweeper::lag() const {
  return std::chrono::milliseconds(std::max<int64_t>(0, shared_.clock.NowMillis() - clean_until_millis_));
}

void TtlSweeper::Loop() {
  MutexLock lock(mu_);
  while (!wake_.WaitFor(lock, kEvery, [this]() BRAID_REQUIRES(mu_) { return stop_; })) {
    lock.Unlock();
    const auto swept = Sweep();
    if (!swept.ok()) log::warn("TTL pass: {}", swept.error().ToString());
    lock.Lock();
  }
}

}  // namespace braid::txn
