#include "engine/storage/durable_files.h"

#include <xxhash.h>

#include "base/mutex.h"
#include "engine/storage/directory.h"

namespace braid::storage {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

namespace {

struct FreeHash {
  void operator()(XXH3_state_t* hash) const { XXH3_freeState(hash); }
};

/// Notes its size and hash at every sync.
class ManifestFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  ManifestFile(std::unique_ptr<rocksdb::FSWritableFile> file, uint64_t number, std::shared_ptr<DurableRecord> record)
      : FSWritableFileOwnerWrapper(std::move(file)), number_(number), record_(std::move(record)) {
    XXH3_64bits_reset(hash_.get());
  }

  using FSWritableFileOwnerWrapper::Append;
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options, IODebugContext* debug) override {
    {
      const MutexLock lock(mu_);
      XXH3_64bits_update(hash_.get(), data.data(), data.size());
      size_ += data.size();
    }
    return target()->Append(data, options, debug);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return Noted(target()->Sync(options, debug));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Noted(target()->Fsync(options, debug));
  }

 private:
  IOStatus Noted(const IOStatus& synced) {
    if (!synced.ok()) return synced;
    MutexLock lock(mu_);
    const DurableState::Manifest manifest{number_, size_, XXH3_64bits_digest(hash_.get())};
    lock.Unlock();
    return record_->ManifestSynced(manifest);
  }

  const uint64_t number_;
  const std::shared_ptr<DurableRecord> record_;
  // RocksDB writes to a manifest from one thread at a time, but ThreadSanitizer does not see RocksDB's own mutex.
  Mutex mu_;
  const std::unique_ptr<XXH3_state_t, FreeHash> hash_ BRAID_PT_GUARDED_BY(mu_){XXH3_createState()};
  uint64_t size_ BRAID_GUARDED_BY(mu_) = 0;
};

}  // namespace

IOStatus DurableFiles::NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* result, IODebugContext* debug) {
  IOStatus status = target()->NewWritableFile(name, options, result, debug);
  const auto manifest = ManifestNumber(name);
  if (status.ok() && manifest) *result = std::make_unique<ManifestFile>(std::move(*result), *manifest, record_);
  return status;
}

IOStatus DurableFiles::DeleteFile(const std::string& name, const IOOptions& options, IODebugContext* debug) {
  auto number = LogNumber(name);
  if (!number) number = ManifestNumber(name);
  if (number) {
    if (IOStatus status = record_->Forget(*number); !status.ok()) return status;
  }
  return target()->DeleteFile(name, options, debug);
}

}  // namespace braid::storage
