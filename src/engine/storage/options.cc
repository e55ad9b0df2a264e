// RocksDB's options, each with its reason; the merge operator of counters; the translation of errors.
#include "engine/storage/options.h"

#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/merge_operator.h>
#include <rocksdb/options.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table.h>
#include <rocksdb/utilities/table_properties_collectors.h>
#include <rocksdb/write_buffer_manager.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <thread>

#include "base/descriptors.h"
#include "base/log.h"
#include "base/strings.h"
#include "engine/storage/memtable.h"
#include "engine/storage/store.h"

namespace braid::storage {
namespace {

/// Counters: 8 bytes little-endian, merged by addition, so that writers never read them.
class AddOperator final : public rocksdb::AssociativeMergeOperator {
 public:
  bool Merge(const rocksdb::Slice& /*key*/, const rocksdb::Slice* existing, const rocksdb::Slice& value,
             std::string* result, rocksdb::Logger* /*logger*/) const override {
    if (value.size() != 8 || (existing != nullptr && existing->size() != 8)) return false;
    uint64_t sum = 0;
    uint64_t amount = 0;
    if (existing != nullptr) std::memcpy(&sum, existing->data(), 8);
    std::memcpy(&amount, value.data(), 8);
    sum += amount;  // two's complement: signed amounts add up
    result->assign(reinterpret_cast<const char*>(&sum), 8);
    return true;
  }
  const char* Name() const override { return "braid.add"; }
};

/// RocksDB's own warnings, into our log. Not a file beside the data: when the disk is full, writing to that file fails
/// too, and this build of RocksDB then aborts the process.
class LogForwarder final : public rocksdb::Logger {
 public:
  LogForwarder() : Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}
  using Logger::Logv;
  void Logv(const rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (level < GetInfoLogLevel()) return;
    char line[1024];
    std::vsnprintf(line, sizeof(line), format, arguments);
    // Listing the files for a backup disables file deletions a second time, within the backup's own, and RocksDB warns
    // of that.
    if (std::strstr(line, "File Deletions ") != nullptr) return;
    const bool is_error = level >= rocksdb::InfoLogLevel::ERROR_LEVEL;
    log::Event(is_error ? log::Level::kError : log::Level::kWarning, "storage", StrCat("rocksdb: ", line));
  }
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}  // without a level: not worth a line
};

/// RocksDB counts every comparison of keys for the thread that makes it, which costs more than many a comparison. Only
/// the counts of cursors are ever read (store_cursor.cc), not those of flushes and compactions.
class UncountedWork final : public rocksdb::EventListener {
 public:
  void OnFlushBegin(rocksdb::DB* /*db*/, const rocksdb::FlushJobInfo& /*job*/) override { StopCounting(); }
  void OnCompactionBegin(rocksdb::DB* /*db*/, const rocksdb::CompactionJobInfo& /*job*/) override { StopCounting(); }

 private:
  static void StopCounting() { rocksdb::SetPerfLevel(rocksdb::kDisable); }
};

rocksdb::CompressionType Supported(std::initializer_list<rocksdb::CompressionType> wanted) {
  const auto have = rocksdb::GetSupportedCompressions();
  for (rocksdb::CompressionType type : wanted) {
    if (std::find(have.begin(), have.end(), type) != have.end()) return type;
  }
  return rocksdb::kNoCompression;
}

}  // namespace

rocksdb::Options MakeRocksOptions(const StoreOptions& store) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.merge_operator = std::make_shared<AddOperator>();

  // One budget: memtables are charged to the block cache, which gives way to them.
  const auto cache = rocksdb::NewLRUCache(store.cache_bytes, -1, /*strict_capacity_limit=*/false,
                                          /*high_pri_pool_ratio=*/0.2);
  const uint64_t memtables = store.cache_bytes / 4;
  options.write_buffer_manager = std::make_shared<rocksdb::WriteBufferManager>(memtables, cache);
  // One table may take all of it: the budget has it written out before it is quite full, or at half of it while another
  // one is being written. Large tables make fewer files, which are compacted less often.
  options.write_buffer_size = std::clamp<uint64_t>(memtables, 1u << 20, 128u << 20);
  options.max_write_buffer_number = 4;
  if (auto list = NewMemtableFactory(); list != nullptr) {
    options.memtable_factory = std::move(list);
    options.allow_concurrent_memtable_write = false;  // most batches have merges, of which RocksDB writes one at a time
  }
  options.memtable_whole_key_filtering = true;  // an insert looks for its _id first, and mostly finds nothing
  options.memtable_prefix_bloom_size_ratio = 0.02;
  options.max_total_wal_size = 2 * memtables;  // bounds what a start has to replay

  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.block_size = 8 << 10;
  table.format_version = 5;  // table_check.cc relies on these two
  table.checksum = rocksdb::kXXH3;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.whole_key_filtering = true;
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  // Recent writes are read again soon: by the next update of a document, by the pop of an epoch.
  table.prepopulate_block_cache = rocksdb::BlockBasedTableOptions::PrepopulateBlockCache::kFlushOnly;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));

  // What was written lately is soon compacted again: Zstandard, which takes several times the CPU of LZ4, is for the
  // deep levels of a store of some gigabytes. Of it level 1: level 3, the default, makes tables that are hardly
  // smaller.
  const auto quick = Supported({rocksdb::kLZ4Compression, rocksdb::kSnappyCompression});
  const auto dense = Supported({rocksdb::kZSTD, rocksdb::kLZ4Compression});
  options.compression = quick;
  options.compression_per_level = {quick, quick, quick,
                                   dense};  // level 0, the first that is filled, the one below it, …
  options.compression_opts.level = 1;
  options.level_compaction_dynamic_level_bytes = true;
  // A table file that is half deletions over 16 000 entries is compacted early: scans have to step over them.
  options.table_properties_collector_factories.push_back(rocksdb::NewCompactOnDeletionCollectorFactory(16'000, 8'000));
  options.max_background_jobs = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 2u, 8u));
  options.bytes_per_sync = 1 << 20;

  // The log. Commits go to its buffer, the syncer writes and syncs it (syncer.h). RocksDB finds every log complete,
  // because CheckStart has dropped a torn end (start_check.h): any remaining fault is damage, and is refused.
  // CheckStart also checks that no log is missing. RocksDB's own way, track_and_verify_wals_in_manifest, stays off: it
  // does not know the newest log, and after simulated power failures it refused a store that had lost nothing.
  options.manual_wal_flush = true;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kAbsoluteConsistency;
  options.avoid_flush_during_recovery = true;

  options.listeners.push_back(std::make_shared<UncountedWork>());
  options.max_bgerror_resume_count = 0;  // no retries after an error: a restart checks the files (store.h, writable)

  options.skip_stats_update_on_db_open = true;  // a quick start
  options.max_open_files = static_cast<int>(ShareDescriptors().store);

  options.info_log = std::make_shared<LogForwarder>();
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

Status DirectoryInUse(std::string_view directory, const rocksdb::Status& why) {
  if (why.ToString().find("while open a file for lock") != std::string::npos) {  // a read-only file system, no right
    return {Code::kInternalError, StrCat("cannot write to the directory ", directory, ": ", why.ToString())};
  }
  return {Code::kFileAlreadyOpen, StrCat("the directory ", directory,
                                         " is in use by another process (or this one): stop it, or choose another "
                                         "directory (",
                                         why.ToString(), ")")};
}

Status Translate(const rocksdb::Status& status, std::string_view doing) {
  if (status.ok()) return {};
  const std::string text = StrCat(doing, ": ", status.ToString());
  if (status.IsCorruption()) return {Code::kStorageCorrupt, text};
  if (status.IsNoSpace()) return {Code::kOutOfDiskSpace, text};
  if (status.IsShutdownInProgress()) return {Code::kShutdownInProgress, text};
  return {Code::kInternalError, text};
}

}  // namespace braid::storage
