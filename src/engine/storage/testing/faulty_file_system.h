// A disk in memory for tests: forgets what was not synced when its power fails, tears the end of files, returns errors,
// runs out of space. Everything follows from its seed and the order of the calls.
#pragma once

#include <rocksdb/file_system.h>

#include <memory>
#include <string>
#include <string_view>

namespace braid::storage {

enum class Fault {
  kPowerLoss,    // at the n-th change: from then on every call fails, and only what was synced (and some more) is left
  kSyncError,    // the n-th sync of a file or directory fails; what it should have written may be gone for good
  kAppendError,  // the n-th append fails half-way
  kFullDisk,     // no append fits after n more bytes
  kReadError,    // the n-th read fails, or each from there on
};
constexpr Fault kFaults[] = {Fault::kPowerLoss, Fault::kSyncError, Fault::kAppendError, Fault::kFullDisk,
                             Fault::kReadError};
std::string_view FaultName(Fault fault);

/// What is on the disk after a power failure:
///   - of each file what was synced, and a prefix of the rest; a part of that may be garbage or missing (zeros), except
///     in a manifest, whose records RocksDB takes to be whole or cut;
///   - of sectors that were written over and not synced, each old, new or torn;
///   - of the names what the last sync of the directory found, and the first few of the creations, renames and removals
///     since: file systems write them in order.
/// Any thread.
class FaultyFileSystem final : public rocksdb::FileSystem {
 public:
  explicit FaultyFileSystem(uint64_t seed);
  ~FaultyFileSystem() override;

  /// Schedules one fault, `after` the given number of calls of its kind (or bytes).
  void Arm(Fault fault, uint64_t after);
  /// True if it has happened.
  bool Fired() const;

  void LosePower();  ///< at once
  void Kill();       ///< the process dies: nothing more is written, and nothing that was written is lost
  /// The machine (or process) starts again on the remaining data, without faults. No files may be open.
  void Restart();
  /// Changes a byte of some table file; false if there is none.
  bool DamageTable();

  const char* Name() const override { return "braid.faulty"; }
  using Options = rocksdb::IOOptions;
  using Debug = rocksdb::IODebugContext;
  using IOStatus = rocksdb::IOStatus;
  IOStatus NewSequentialFile(const std::string& name, const rocksdb::FileOptions& options,
                             std::unique_ptr<rocksdb::FSSequentialFile>* result, Debug* debug) override;
  IOStatus NewRandomAccessFile(const std::string& name, const rocksdb::FileOptions& options,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* result, Debug* debug) override;
  IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* result, Debug* debug) override;
  IOStatus ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* result, Debug* debug) override;
  IOStatus NewRandomRWFile(const std::string& name, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSRandomRWFile>* result, Debug* debug) override;
  IOStatus NewDirectory(const std::string& name, const Options& options, std::unique_ptr<rocksdb::FSDirectory>* result,
                        Debug* debug) override;
  IOStatus FileExists(const std::string& name, const Options& options, Debug* debug) override;
  IOStatus GetChildren(const std::string& directory, const Options& options, std::vector<std::string>* result,
                       Debug* debug) override;
  IOStatus DeleteFile(const std::string& name, const Options& options, Debug* debug) override;
  IOStatus CreateDir(const std::string& name, const Options& options, Debug* debug) override;
  IOStatus CreateDirIfMissing(const std::string& name, const Options& options, Debug* debug) override;
  IOStatus DeleteDir(const std::string& name, const Options& options, Debug* debug) override;
  IOStatus GetFileSize(const std::string& name, const Options& options, uint64_t* size, Debug* debug) override;
  IOStatus GetFileModificationTime(const std::string& name, const Options& options, uint64_t* time,
                                   Debug* debug) override;
  IOStatus RenameFile(const std::string& from, const std::string& to, const Options& options, Debug* debug) override;
  IOStatus LockFile(const std::string& name, const Options& options, rocksdb::FileLock** lock, Debug* debug) override;
  IOStatus UnlockFile(rocksdb::FileLock* lock, const Options& options, Debug* debug) override;
  IOStatus GetTestDirectory(const Options& options, std::string* path, Debug* debug) override;
  IOStatus GetAbsolutePath(const std::string& path, const Options& options, std::string* result, Debug* debug) override;
  IOStatus IsDirectory(const std::string& path, const Options& options, bool* is, Debug* debug) override;

 private:
  const std::shared_ptr<struct SimulatedDisk> disk_;  // shared with open files
};

}  // namespace braid::storage
