// Store: opening, reading, committing.
#include "engine/storage/store.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/write_batch.h>

#include <atomic>
#include <chrono>
#include <cstring>

#include "base/assert.h"
#include "base/log.h"
#include "base/strings.h"
#include "engine/storage/directory.h"
#include "engine/storage/durable_record.h"
#include "engine/storage/failures.h"
#include "engine/storage/log_order.h"
#include "engine/storage/log_scan.h"
#include "engine/storage/options.h"
#include "engine/storage/start_check.h"
#include "engine/storage/store_cursor.h"
#include "engine/storage/store_files.h"
#include "engine/storage/syncer.h"
#include "engine/storage/table_check.h"

namespace braid::storage {
namespace {

// Reads have spent some hundred milliseconds on so many entries: more than it takes to write a memtable out.
constexpr uint64_t kSkippedMax = 1'000'000;
constexpr uint64_t kReclaimedMin = 10'000;  // entries of a memtable; with fewer, what is skipped lies in table files
constexpr std::chrono::seconds kReclaimPause{5};  // on many cores entries are skipped quickly
constexpr size_t kDeletesOneByOne = 1000;         // up to here deletes are cheaper for later reads than a range

uint64_t Property(rocksdb::DB& db, const std::string& name) {
  uint64_t value = 0;
  return db.GetIntProperty(name, &value) ? value : 0;
}

}  // namespace

struct Buffer::Impl {
  rocksdb::PinnableSlice slice;
};

Buffer::Buffer() : impl_(std::make_unique<Impl>()) {}
Buffer::~Buffer() = default;
Buffer::Buffer(Buffer&&) noexcept = default;
Buffer& Buffer::operator=(Buffer&&) noexcept = default;
std::string_view Buffer::view() const { return {impl_->slice.data(), impl_->slice.size()}; }
void Buffer::Copy(std::string_view bytes) {
  impl_->slice.Reset();
  impl_->slice.PinSelf(bytes);
}

struct Store::Impl {
  std::shared_ptr<FailureListener> failures = std::make_shared<FailureListener>();
  std::shared_ptr<DurableRecord> record;
  std::shared_ptr<LogOrder> files;
  std::unique_ptr<rocksdb::Env> env;
  std::unique_ptr<Syncer>
      syncer;  // stopped before db is destroyed, but RocksDB's threads report errors to it until then
  std::unique_ptr<rocksdb::DB> db;
  std::atomic<rocksdb::DB*> opened{nullptr};  // db, for threads that ask while it opens
  std::atomic<uint64_t> newest_log{0};        // its number
  std::atomic<LogPosition> log_first{0};      // no commit of the newest log is before it
  std::atomic<uint64_t> commits{0};
  std::atomic<uint64_t> bytes_written{0};
  std::atomic<int> pins{0};
  SkippedEntries skipped;
  std::atomic<std::chrono::steady_clock::time_point> reclaimed_at{
      std::chrono::steady_clock::time_point()};  // of Reclaim()

  LogMark Mark() const { return {.durable = syncer->durable(), .first = log_first}; }
  /// RocksDB has begun the newest log, and nothing is in it.
  void LogStarted(uint64_t number) {
    newest_log = number;
    if (opened == nullptr) return;
    log_first = opened.load()->GetLatestSequenceNumber() + 1;
    record->LogStarted(number, log_first);
  }
  Status Sync(LogPosition target) {
    const rocksdb::Status status = db->FlushWAL(/*sync=*/true);
    BRAID_CHECK_OK(files->failure());
    BRAID_CHECK_OK(Translate(status, "cannot sync the log"));
    return Translate(record->Reached(target), "cannot write the record of what is durable");
  }

  rocksdb::ReadOptions Reading(const Snapshot& snapshot) const {
    rocksdb::ReadOptions options;
    options.snapshot = static_cast<const rocksdb::Snapshot*>(snapshot.handle_.get());
    return options;
  }
};

LogPosition Snapshot::position() const {
  BRAID_ASSERT(!empty());
  return static_cast<const rocksdb::Snapshot*>(handle_.get())->GetSequenceNumber();
}

Result<std::unique_ptr<Store>> Store::Open(const StoreOptions& options) {
  const std::string path = options.directory.string();
  const auto base = options.file_system != nullptr ? options.file_system : rocksdb::FileSystem::Default();
  if (options.file_system == nullptr) {
    std::error_code error;
    std::filesystem::create_directories(options.directory, error);
    if (error) return Status(Code::kInternalError, StrCat("cannot create directory ", path, ": ", error.message()));
  } else {
    BRAID_CHECK_OK(Translate(base->CreateDirIfMissing(path, {}, nullptr), "cannot create the directory"));
  }
  BRAID_CHECK_OK(RefuseBackup(*base, path));
  auto impl = std::make_unique<Impl>();
  BRAID_TRY(impl->record, CheckStart(*base, path, options.accept_loss));
  const auto below = std::make_shared<DurableFiles>(std::make_shared<TableCheck>(base), impl->record);
  impl->files = std::make_shared<LogOrder>(below, [impl = impl.get()](uint64_t log) { impl->LogStarted(log); });
  impl->env = NewEnv(impl->files, impl->failures);
  rocksdb::Options rocks = MakeRocksOptions(options);
  rocks.env = impl->env.get();
  rocks.listeners.push_back(impl->failures);
  rocksdb::DB* db = nullptr;
  if (const rocksdb::Status status = rocksdb::DB::Open(rocks, path, &db); !status.ok()) {
    if (status.IsIOError() && status.ToString().find("LOCK") != std::string::npos) {
      return DirectoryInUse(path, status);
    }
    return OpenFailure(rocks, path, status);
  }
  impl->db.reset(db);
  impl->opened = db;
  impl->LogStarted(impl->newest_log);
  BRAID_CHECK_OK(
      Translate(impl->record->Reached(db->GetLatestSequenceNumber()), "cannot write the record of what is durable"));
  impl->syncer = std::make_unique<Syncer>(Syncer::Log{
      .newest = [db] { return db->GetLatestSequenceNumber(); },
      .sync = [impl = impl.get()](LogPosition target) { return impl->Sync(target); },
  });
  impl->failures->Attach(impl->syncer.get());
  return std::unique_ptr<Store>(new Store(std::move(impl)));
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

// Everything goes into table files: the next start has nothing to replay, and a byte that changes on the disk while the
// store is closed costs the block it is in, not the log and so the whole store.
Store::~Store() {
  impl_->syncer->Stop();
  rocksdb::DB& db = *impl_->db;
  if (writable().ok() && Property(db, rocksdb::DB::Properties::kNumEntriesActiveMemTable) > 0) {
    const rocksdb::Status flushed = db.Flush({});
    if (!flushed.ok()) log::warn("closing the store: {}; the log keeps everything", flushed.ToString());
  }
  const rocksdb::Status closed = db.Close();
  if (!closed.ok()) log::warn("closing the store: {}", closed.ToString());
}

Snapshot Store::TakeSnapshot() {
  Snapshot snapshot;
  snapshot.handle_ = std::shared_ptr<const rocksdb::Snapshot>(
      impl_->db->GetSnapshot(), [db = impl_->db.get()](const rocksdb::Snapshot* held) { db->ReleaseSnapshot(held); });
  return snapshot;
}

Result<bool> Store::Get(std::string_view key, const Snapshot& snapshot, Buffer* out) const {
  rocksdb::DB& db = *impl_->db;
  out->impl_->slice.Reset();
  rocksdb::SetPerfLevel(rocksdb::kDisable);
  const rocksdb::Status status = db.Get(impl_->Reading(snapshot), db.DefaultColumnFamily(), key, &out->impl_->slice);
  if (status.ok()) return true;
  if (status.IsNotFound()) return false;
  return ReadStatus(status, *impl_->syncer);
}

std::unique_ptr<Cursor> Store::NewCursor(Range range, const Snapshot& snapshot) const {
  return NewStoreCursor(*impl_->db, {.damage = *impl_->syncer, .skipped = impl_->skipped}, std::move(range),
                        static_cast<const rocksdb::Snapshot*>(snapshot.handle_.get()));
}

Result<int64_t> Store::ReadCounter(std::string_view key, const Snapshot& snapshot) const {
  Buffer buffer;
  BRAID_TRY(bool found, Get(key, snapshot, &buffer));
  if (!found) return int64_t{0};
  if (buffer.view().size() != 8) return Status(Code::kStorageCorrupt, StrCat("not a counter: key ", Hex(key)));
  int64_t value = 0;
  std::memcpy(&value, buffer.view().data(), 8);
  return value;
}

Result<LogPosition> Store::Commit(WriteSet& writes) {
  if (writes.empty()) return newest();
  BRAID_CHECK_OK(impl_->syncer->status());
  writes.Sort();
  rocksdb::WriteBatch& batch = writes.batch();
  AppendMark(batch, impl_->Mark());
  const size_t bytes = batch.GetDataSize();
  const LogPosition before = newest();
  rocksdb::SetPerfLevel(rocksdb::kDisable);
  const rocksdb::Status status = impl_->db->Write({}, &batch);
  Status failure = impl_->files->failure();
  if (failure.ok()) failure = Translate(status, "cannot write the log");
  if (!failure.ok()) {
    impl_->syncer->Fail(failure);  // it is not known how much of it is in the log: no later commit may follow it
    return writable();
  }
  writes.Clear();
  impl_->commits.fetch_add(1, std::memory_order_relaxed);
  impl_->bytes_written.fetch_add(bytes, std::memory_order_relaxed);
  // At or after our own last record, which is all that durability needs.
  const LogPosition position = newest();
  BRAID_ASSERT(position > before);
  impl_->syncer->Committed();
  return position;
}

Result<LogPosition> Store::DeleteRange(const Range& range) {
  BRAID_ASSERT(!range.end.empty());
  // Range tombstones slow down later reads of their neighbours, so they are used for large ranges only.
  WriteSet writes(*this);
  size_t keys = 0;
  const auto cursor = NewCursor(range, {});
  for (cursor->SeekToFirst(); cursor->Valid() && keys < kDeletesOneByOne; cursor->Next(), ++keys) {
    writes.Delete(cursor->key());
  }
  BRAID_CHECK_OK(cursor->status());
  if (!cursor->Valid()) return Commit(writes);
  writes.Clear();
  const rocksdb::Status status = writes.batch().DeleteRange(range.begin, range.end);
  BRAID_CHECK_OK(Translate(status, "cannot delete a range"));
  return Commit(writes);
}

LogPosition Store::durable() const { return impl_->syncer->durable(); }
LogPosition Store::newest() const { return impl_->db->GetLatestSequenceNumber(); }
Status Store::writable() const { return impl_->syncer->status(); }
void Store::WhenDurable(LogPosition position, OnDurable done) { impl_->syncer->WhenDurable(position, std::move(done)); }
Status Store::WaitDurable(LogPosition position) { return impl_->syncer->WaitDurable(position); }

uint64_t Store::ApproximateBytes(const Range& range) const {
  rocksdb::SizeApproximationOptions options;
  options.include_memtables = true;
  options.include_files = true;
  const rocksdb::Range slice(range.begin, range.end);
  uint64_t bytes = 0;
  rocksdb::DB& db = *impl_->db;
  if (!db.GetApproximateSizes(options, db.DefaultColumnFamily(), &slice, 1, &bytes).ok()) return 0;
  return bytes;
}

Status Store::Compact() {
  BRAID_CHECK_OK(writable());
  return Translate(impl_->db->CompactRange({}, nullptr, nullptr), "cannot compact");
}

bool Store::Reclaim() {
  const auto now = std::chrono::steady_clock::now();
  if (impl_->skipped.count() < kSkippedMax || now - impl_->reclaimed_at.load() < kReclaimPause || !writable().ok())
    return false;
  impl_->skipped.Reset();
  if (Property(*impl_->db, rocksdb::DB::Properties::kNumEntriesActiveMemTable) < kReclaimedMin) return false;
  impl_->reclaimed_at = now;
  rocksdb::FlushOptions flush;
  flush.wait = false;
  flush.allow_write_stall = true;  // otherwise this would wait
  const rocksdb::Status status = impl_->db->Flush(flush);
  if (!status.ok()) log::warn("cannot write a memtable out: {}", status.ToString());
  return status.ok();
}

Result<std::unique_ptr<StoreFiles>> Store::PinFiles(Pin pin) {
  const std::shared_ptr<void> place(&impl_->pins, [](std::atomic<int>* pins) {
    const int before = pins->fetch_sub(1);
    BRAID_ASSERT(before > 0);
  });
  if (impl_->pins.fetch_add(1) >= kPinsMax) {
    return Status(Code::kConflictingOperationInProgress,
                  StrCat("the files of the store are being copied or checked ", kPinsMax, " times already"));
  }
  if (pin == Pin::kTables) return StoreFiles::PinTables(*impl_->db, place);
  BRAID_CHECK_OK(writable());
  return StoreFiles::PinWhole(*impl_->db, place, [this] { return impl_->newest_log.load(); });
}

Store::Figures Store::figures() const {
  rocksdb::DB& db = *impl_->db;
  Figures figures;
  figures.syncs = impl_->syncer->syncs();
  figures.commits = impl_->commits.load(std::memory_order_relaxed);
  figures.bytes_written = impl_->bytes_written.load(std::memory_order_relaxed);
  figures.cache_bytes_used = Property(db, rocksdb::DB::Properties::kBlockCacheUsage);
  figures.memtable_bytes = Property(db, rocksdb::DB::Properties::kCurSizeAllMemTables);
  figures.disk_bytes = Property(db, rocksdb::DB::Properties::kTotalSstFilesSize);
  return figures;
}

std::string PrefixEnd(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

}  // namespace braid::storage
