// The same bytes in the same batches on bare RocksDB: what the disk and the library allow, without hashes, checks,
// heads or documents.
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/strings.h"
#include "bench/ledger_runs.h"

namespace braid::bench {
namespace {

using Clock = std::chrono::steady_clock;

Status FromRocks(const rocksdb::Status& status) {
  return status.ok() ? Status() : Status(Code::kInternalError, StrCat("bare RocksDB: ", status.ToString()));
}

/// A new directory, removed at the end.
class Directory {
 public:
  static Result<Directory> Make(const std::string& parent) {
    std::error_code error;
    std::filesystem::create_directories(parent, error);
    std::string name = (std::filesystem::path(parent) / "braid-bare-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) return Directory(std::move(name));
    return Status(Code::kBadValue,
                  StrCat("cannot make a directory for bare RocksDB in '", parent, "': ", strerror(errno),
                         "; choose another with --baseline-dir or use --no-baseline"));
  }
  Directory(Directory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Directory& operator=(Directory&&) = delete;
  ~Directory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit Directory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Threads that take one batch after another.
class BareWriters {
 public:
  BareWriters(rocksdb::DB& db, const LedgerOptions& options, const std::vector<ChainRecord>& records, uint32_t batch)
      : db_(db),
        options_(options),
        records_(records),
        batch_(batch),
        end_(Clock::now() + std::chrono::microseconds(static_cast<int64_t>(options.seconds_max * 1e6))) {}

  Status Run(uint32_t threads) {
    std::vector<Part> parts(threads);
    std::vector<std::thread> running;
    running.reserve(threads);
    for (Part& part : parts) running.emplace_back([this, &part] { part.status = Write(part); });
    for (std::thread& thread : running) thread.join();
    for (const Part& part : parts) {
      BRAID_CHECK_OK(part.status);
      micros_.Merge(part.micros);
      written_ += part.records;
    }
    return {};
  }

  uint64_t written() const { return written_; }
  const Histogram& micros() const { return micros_; }

 private:
  struct Part {
    Status status;
    Histogram micros;
    uint64_t records = 0;
  };

  Status Write(Part& part) {
    rocksdb::WriteOptions synced;
    synced.sync = true;
    rocksdb::WriteBatch batch;
    while (Clock::now() < end_ && !options_.stop->load()) {
      const size_t begin = next_.fetch_add(batch_);
      if (begin >= records_.size()) break;
      const size_t end = std::min(begin + batch_, records_.size());
      const Clock::time_point since = Clock::now();
      batch.Clear();
      for (size_t i = begin; i < end; ++i) BRAID_CHECK_OK(Put(records_[i], batch));
      BRAID_CHECK_OK(FromRocks(db_.Write(synced, &batch)));
      const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - since);
      part.micros.Record(static_cast<uint64_t>(took.count()));
      part.records += end - begin;
    }
    return {};
  }

  // The key is chain and sequence, big-endian: a scan is in the order of chains.
  static Status Put(const ChainRecord& record, rocksdb::WriteBatch& batch) {
    const uint64_t key[] = {__builtin_bswap64(static_cast<uint64_t>(record.chain)),
                            __builtin_bswap64(static_cast<uint64_t>(record.sequence))};
    return FromRocks(batch.Put({reinterpret_cast<const char*>(key), sizeof(key)}, record.payload));
  }

  rocksdb::DB& db_;
  const LedgerOptions& options_;
  const std::vector<ChainRecord>& records_;
  const size_t batch_;
  const Clock::time_point end_;
  std::atomic<size_t> next_ = 0;
  Histogram micros_;
  uint64_t written_ = 0;
};

}  // namespace

int64_t OwnCpuMicros() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto micros = [](const timeval& time) { return int64_t{time.tv_sec} * 1'000'000 + time.tv_usec; };
  return micros(usage.ru_utime) + micros(usage.ru_stime);
}

Status AppendToBare(const LedgerOptions& options, const std::vector<ChainRecord>& records, LedgerRow& row) {
  BRAID_TRY(const Directory directory, Directory::Make(options.bare_parent));
  rocksdb::Options how;
  how.create_if_missing = true;
  how.compression = rocksdb::kNoCompression;
  rocksdb::DB* opened = nullptr;
  BRAID_CHECK_OK(FromRocks(rocksdb::DB::Open(how, directory.path(), &opened)));
  const std::unique_ptr<rocksdb::DB> db(opened);
  BareWriters writers(*db, options, records, row.batch);
  const int64_t cpu_before = OwnCpuMicros();
  const Clock::time_point start = Clock::now();
  BRAID_CHECK_OK(writers.Run(row.writers));
  row.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const auto cpu = static_cast<double>(OwnCpuMicros() - cpu_before);
  row.records = writers.written();
  if (row.records > 0) {
    row.cpu_micros = cpu / static_cast<double>(row.records);
    row.commit_records = static_cast<double>(row.records) / static_cast<double>(writers.micros().count());
  }
  SetLatencies(writers.micros(), row);
  return {};
}

}  // namespace braid::bench
