#include "engine/commands/profile_writer.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/number.h"
#include "engine/exec/plan/plan.h"
#include "engine/txn/records.h"

namespace braid::commands {
namespace {

constexpr size_t kEntriesMax = 4096;
constexpr size_t kQueueBytesMax = 8u << 20;
constexpr size_t kBatchEntriesMax = 64;  // written in one commit
constexpr std::chrono::seconds kFlushPatience{1};

int64_t LimitOf(const catalog::Collection& collection) {
  const bson::Value size = collection.options.Find("size");
  return size.IsNumber() ? bson::Number::Of(size).ToInt64Clamped() : kProfileBytesDefault;
}

}  // namespace

ProfileWriter::ProfileWriter(txn::Shared& shared)
    : shared_(shared), thread_([this] {
        pthread_setname_np(pthread_self(), "braid-profile");
        Loop();
      }) {}

ProfileWriter::~ProfileWriter() {
  {
    const MutexLock lock(mu_);
    stopping_ = true;
  }
  more_.NotifyOne();
  thread_.join();
}

void ProfileWriter::Add(std::string database, bson::Document entry) {
  const MutexLock lock(mu_);
  const size_t bytes = entry.bytes().size();
  if (entries_.size() >= kEntriesMax || bytes_ + bytes > kQueueBytesMax) {
    ++dropped_;
    return;
  }
  bytes_ += bytes;
  ++added_;
  entries_.push_back({std::move(database), std::move(entry)});
  more_.NotifyOne();
}

void ProfileWriter::Flush() {
  MutexLock lock(mu_);
  const uint64_t before = added_;
  idle_.WaitFor(lock, kFlushPatience, [this, before]() BRAID_REQUIRES(mu_) { return passed_ >= before; });
}

void ProfileWriter::Forget(std::string_view database) {
  MutexLock lock(mu_);
  passed_ += std::erase_if(entries_, [&](const Entry& entry) BRAID_REQUIRES(mu_) {
    if (entry.database != database) return false;
    BRAID_ASSERT(bytes_ >= entry.document.bytes().size());
    bytes_ -= entry.document.bytes().size();
    return true;
  });
  idle_.NotifyAll();
  idle_.WaitFor(lock, kFlushPatience, [this]() BRAID_REQUIRES(mu_) { return !writing_; });
}

ProfileWriter::Figures ProfileWriter::figures() const {
  const MutexLock lock(mu_);
  return {written_, dropped_};
}

void ProfileWriter::Loop() {
  MutexLock lock(mu_);
  while (true) {
    more_.Wait(lock, [this]() BRAID_REQUIRES(mu_) { return stopping_ || !entries_.empty(); });
    if (entries_.empty()) return;
    const std::vector<Entry> batch = TakeBatch();
    BRAID_ASSERT(!batch.empty());
    writing_ = true;
    lock.Unlock();
    const Status written = Write(batch);
    // A collection that was dropped since is not made again.
    if (!written.ok() && written.code() != Code::kNamespaceNotFound) {
      if (const uint64_t times = failures_.Count(); times > 0) {
        log::warn("{}.{}: entries could not be written, {} times since this was last said: {}", batch.front().database,
                  kProfileCollection, times, written.ToString());
      }
    }
    lock.Lock();
    writing_ = false;
    passed_ += batch.size();
    BRAID_ASSERT(passed_ <= added_);  // Flush() waits for it
    (written.ok() ? written_ : dropped_) += batch.size();
    idle_.NotifyAll();
  }
}

// The oldest entries, as far as they are of one database.
std::vector<ProfileWriter::Entry> ProfileWriter::TakeBatch() {
  std::vector<Entry> batch;
  batch.reserve(std::min(entries_.size(), kBatchEntriesMax));
  while (!entries_.empty() && batch.size() < kBatchEntriesMax &&
         (batch.empty() || entries_.front().database == batch.front().database)) {
    BRAID_ASSERT(bytes_ >= entries_.front().document.bytes().size());
    bytes_ -= entries_.front().document.bytes().size();
    batch.push_back(std::move(entries_.front()));
    entries_.pop_front();
  }
  return batch;
}

Result<catalog::CollectionPtr> ProfileWriter::Ensure(txn::Shared& shared, std::string_view database) {
  const catalog::Namespace ns{std::string(database), std::string(kProfileCollection)};
  if (catalog::CollectionPtr found = shared.catalog.Find(ns)) return found;
  BRAID_TRY(const catalog::Catalog::Change made,
            shared.catalog.Create(ns, bson::Make("capped", true, "size", kProfileBytesDefault)));
  return made.collection;
}

Status ProfileWriter::Write(const std::vector<Entry>& batch) {
  const txn::Operations::Handle operation =
      shared_.operations.Start([](txn::Operation& started) { started.name = "profiler"; });
  while (true) {
    const catalog::CollectionPtr collection = shared_.catalog.Find(batch.front().database, kProfileCollection);
    if (collection == nullptr) return {Code::kNamespaceNotFound, "there is no such collection any more"};
    BRAID_TRY(const Gate::Pass gate, collection->state->gate.Share(*operation));
    if (shared_.catalog.Find(collection->ns) != collection) continue;  // it changed before we had the gate
    BRAID_CHECK_OK(Insert(collection, *operation, batch));
    return Trim(collection, *operation);
  }
}

Status ProfileWriter::Insert(const catalog::CollectionPtr& collection, txn::Operation& operation,
                             const std::vector<Entry>& batch) {
  txn::Context context(shared_, operation);
  for (const Entry& entry : batch) BRAID_CHECK_OK(txn::Insert(context, collection, entry.document));
  return context.Commit();
}

// Removes the oldest entries. An eighth at a time: looking for the oldest passes over those that were removed before.
Status ProfileWriter::Trim(const catalog::CollectionPtr& collection, txn::Operation& operation) {
  const int64_t limit = LimitOf(*collection);
  int64_t bytes = collection->state->bytes.load();
  if (bytes <= limit) return {};
  txn::Context context(shared_, operation);
  query::Query query;
  query.collection = collection;
  query.environment = std::make_shared<query::Environment>();
  query.for_change = true;
  BRAID_TRY(const std::unique_ptr<query::Plan> plan, query::Plan::Make(std::move(query)));
  bson::View oldest;
  storage::Buffer buffer;
  while (bytes > limit - limit / 8) {
    BRAID_TRY(const bool more, plan->Next(context, &oldest));
    if (!more) break;
    BRAID_TRY(const auto shard, txn::ReadForChange(context, *collection, oldest.Find("_id"), &buffer));
    if (!shard) continue;
    const bson::View current(buffer.view());
    bytes -= current.size();
    BRAID_CHECK_OK(txn::Remove(context, collection, *shard, current));
  }
  return context.Commit();
}

Status CheckNotProfile(const catalog::Namespace& ns) {
  if (ns.collection != kProfileCollection) return {};
  return {Code::kInvalidNamespace, StrCat("cannot write to ", ns.ToString())};
}

}  // namespace braid::commands
