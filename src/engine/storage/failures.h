// Errors of RocksDB: those that end the writing (of its background work, and damage that a read comes upon), and those
// that keep the store from opening. Inside this folder only.
#pragma once

#include <rocksdb/listener.h>

#include <atomic>
#include <memory>

#include "base/mutex.h"
#include "braid/status.h"

namespace rocksdb {
class Env;
class FileSystem;
struct Options;
}  // namespace rocksdb

namespace braid::storage {

class Syncer;

/// A failed flush or compaction (a full disk, a damaged block) makes the store read-only. RocksDB may resume by itself
/// when there is space again; the store does not: it has to be opened again, which checks the files.
class FailureListener final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override;
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason reason, rocksdb::Status error, bool* recover) override;
  /// Sets the receiver of failures, which also gets earlier ones. It must outlive RocksDB's threads.
  void Attach(Syncer* syncer);
  bool failed() const { return failed_; }

 private:
  std::atomic<bool> failed_{false};
  Mutex mu_;
  Syncer* syncer_ BRAID_GUARDED_BY(mu_) = nullptr;
  Status early_ BRAID_GUARDED_BY(mu_);
};

/// RocksDB's environment: these files, and the system's clock, which does not wait any more after a failure. RocksDB
/// would wait a second before it tries again, and closing the store would wait for that.
std::unique_ptr<rocksdb::Env> NewEnv(const std::shared_ptr<rocksdb::FileSystem>& files,
                                     std::shared_ptr<const FailureListener> failures);

/// Why the store in `directory` does not open: kStorageCorrupt names the damaged or missing file.
Status OpenFailure(const rocksdb::Options& options, const std::string& directory, const rocksdb::Status& status);

/// The status of a read. Damage makes the store read-only, because more may be damaged.
Status ReadStatus(const rocksdb::Status& status, Syncer& syncer);

}  // namespace braid::storage
