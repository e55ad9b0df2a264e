// Store: one RocksDB directory with one write-ahead log. This folder is the only one that uses RocksDB.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "braid/status.h"

namespace rocksdb {
class FileSystem;
class WriteBatch;
}  // namespace rocksdb

namespace braid::storage {

class StoreFiles;

/// A point in the log: everything committed up to it. 0: the beginning.
using LogPosition = uint64_t;
/// Called once a position is durable, or with the reason why it never will be. `turn` counts the callbacks that one
/// thread runs in a row, from 0: a callback with a high turn should leave slow work to another thread.
using OnDurable = std::function<void(Status status, size_t turn)>;

struct StoreOptions {
  std::filesystem::path directory;
  /// Block cache and write buffers together.
  uint64_t cache_bytes = 512ull << 20;
  /// Opens a store that has lost durable data instead of refusing it. The server's log says what is missing. Damage
  /// within the remaining data is refused all the same.
  bool accept_loss = false;
  /// Where the files are; null: on the disk. Tests put one here that fails (testing/faulty_file_system.h).
  std::shared_ptr<rocksdb::FileSystem> file_system;
};

/// A fixed read view; copies share it, and the last one releases it. Must not outlive the store. Empty: reads see the
/// newest state.
class Snapshot {
 public:
  bool empty() const { return handle_ == nullptr; }
  /// The position of the snapshot: everything committed up to it is seen, and nothing else. Not for an empty snapshot.
  LogPosition position() const;

 private:
  friend class Store;
  std::shared_ptr<const void> handle_;  // rocksdb::Snapshot
};

/// A value read without a copy where RocksDB allows it. Reusable: keeps its buffer.
class Buffer {
 public:
  Buffer();
  ~Buffer();
  Buffer(Buffer&&) noexcept;
  Buffer& operator=(Buffer&&) noexcept;
  std::string_view view() const;

 private:
  friend class Store;
  friend class WriteSet;
  struct Impl;
  void Copy(std::string_view bytes);
  std::unique_ptr<Impl> impl_;
};

struct Range {
  std::string begin;  // inclusive
  std::string end;    // exclusive; empty: no end
};

/// Walks keys in order within [begin, end); starts invalid, with no position. Views are valid until the next move.
class Cursor {
 public:
  virtual ~Cursor() = default;
  virtual bool Valid() const = 0;
  virtual std::string_view key() const = 0;
  virtual std::string_view value() const = 0;
  virtual void Next() = 0;  ///< forward; Prev() walks back
  virtual void Prev() = 0;
  virtual void SeekToFirst() = 0;                      ///< first key of the range
  virtual void SeekToLast() = 0;                       ///< last key of the range
  virtual void Seek(std::string_view key) = 0;         ///< first key >= `key` in the range
  virtual void SeekForPrev(std::string_view key) = 0;  ///< last key <= `key` in the range
  /// Why Valid() became false: OK at the end of the range, else the read error.
  virtual Status status() const = 0;
  /// Moves the cursor to another range of the same state, without a position: cheaper than a new cursor. False if it
  /// cannot; it is unchanged then.
  virtual bool MoveTo(const Range& range) = 0;
};

/// The smallest string greater than every string that starts with `prefix`; empty if there is none.
std::string PrefixEnd(std::string_view prefix);

/// Changes to be committed together. Reads through it see its own changes first; several threads may read at the same
/// time while no thread changes it. Costs nothing until the first change, and keeps no second copy of its contents.
class WriteSet {
 public:
  explicit WriteSet(class Store& store);
  ~WriteSet();
  WriteSet(WriteSet&&) noexcept;
  WriteSet& operator=(WriteSet&&) noexcept;

  void Put(std::string_view key, std::string_view value);
  void Delete(std::string_view key);
  /// Adds a signed amount to a counter (Store::ReadCounter); never conflicts with other writers, and is not seen by
  /// reads through this set.
  void Add(std::string_view key, int64_t amount);
  bool empty() const;
  size_t bytes() const;
  void Clear();

  /// Marks a point; RollbackTo forgets what was written since, and the mark. Save points nest.
  void SetSavePoint();
  void RollbackToSavePoint();
  void PopSavePoint();

  /// True if the set has a change to the key.
  bool HasChange(std::string_view key) const;
  /// This set's change to the key, else the store's state in `snapshot`. False: no such key.
  Result<bool> Get(std::string_view key, const Snapshot& snapshot, Buffer* out) const;
  /// A cursor over the store's state in `snapshot` with this set's changes laid over it. Both are fixed here: changes
  /// made later are not seen, so a statement may change what it walks over. `spare`: a cursor over the same snapshot
  /// that is no longer needed, for reuse; may be null.
  std::unique_ptr<Cursor> NewCursor(Range range, const Snapshot& snapshot,
                                    std::unique_ptr<Cursor> spare = nullptr) const;

 private:
  friend class Store;
  struct Impl;
  Impl& impl();
  rocksdb::WriteBatch& batch();
  /// Puts a large batch into the order of its keys; afterwards it can only be committed.
  void Sort();
  std::unique_ptr<Cursor> StoreCursorOver(Range range, const Snapshot& snapshot, std::unique_ptr<Cursor> spare) const;
  class Store* store_;
  std::unique_ptr<Impl> impl_;  // null until the first change
};

/// Any thread. A directory belongs to one Store at a time, in one process.
class Store {
 public:
  /// kFileAlreadyOpen if another process has the directory; kStorageCorrupt names the damaged file, or what is missing
  /// of what had been durable (start_check.h). A torn end of the log is dropped.
  static Result<std::unique_ptr<Store>> Open(const StoreOptions& options);
  ~Store();  ///< syncs what was committed
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  Snapshot TakeSnapshot();
  Result<bool> Get(std::string_view key, const Snapshot& snapshot, Buffer* out) const;
  std::unique_ptr<Cursor> NewCursor(Range range, const Snapshot& snapshot) const;
  Result<int64_t> ReadCounter(std::string_view key, const Snapshot& snapshot) const;

  /// Makes the set visible as one atomic step and appends it to the log; durable later (WhenDurable). The set is
  /// cleared.
  Result<LogPosition> Commit(WriteSet& writes);
  /// Removes every key of the range, in one step with one log record. No other thread may write to the range meanwhile.
  Result<LogPosition> DeleteRange(const Range& range);

  /// Everything up to here survives a crash.
  LogPosition durable() const;
  LogPosition newest() const;
  /// OK; or kStoreReadOnly and why, once a write or sync has failed, the disk is full, or damage was read. Every Commit
  /// and every wait then returns it, reads continue, and only opening the store again (which checks it) ends it.
  Status writable() const;
  /// `done` runs on the thread that syncs or fails (or at once, here) and must be short.
  void WhenDurable(LogPosition position, OnDurable done);
  Status WaitDurable(LogPosition position);

  uint64_t ApproximateBytes(const Range& range) const;
  /// Writes memtables out and compacts everything: for `compact` and benchmarks.
  Status Compact();
  /// Begins to write the memtable out if reads have stepped over many old versions and deletions of late: scans of a
  /// collection whose documents change all the time would become slower and slower until the memtable is full. True if
  /// it has begun. To be called now and then.
  bool Reclaim();

  enum class Pin { kWholeStore, kTables };
  /// The files of this moment, which stay until the result ends (store_files.h). kWholeStore writes memtables out, so
  /// that the files hold everything that is committed; it needs a writable store. kConflictingOperationInProgress if
  /// kPinsMax results are in use.
  Result<std::unique_ptr<StoreFiles>> PinFiles(Pin pin);
  static constexpr int kPinsMax = 16;

  /// Figures for serverStatus and collStats.
  struct Figures {
    uint64_t syncs = 0;
    uint64_t commits = 0;
    uint64_t bytes_written = 0;
    uint64_t cache_bytes_used = 0;
    uint64_t memtable_bytes = 0;
    uint64_t disk_bytes = 0;
  };
  Figures figures() const;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace braid::storage
