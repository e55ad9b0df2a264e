// The same bytes in the same batches on bare RocksDB: what the disk and the library allow, without hashes, checks,
// heads or documents.
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "bench/bare_rocks.h"
#include "bench/ledger_runs.h"

namespace braid::bench {
namespace {

using Clock = std::chrono::steady_clock;

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
  BRAID_TRY(const BareDirectory directory, BareDirectory::Make(options.bare_parent));
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
