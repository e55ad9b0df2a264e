// The check of the files before RocksDB opens them: nothing that had been durable may be missing. Inside this folder
// only. Tables are not among them: the manifest names them with their sizes, and RocksDB notices what is missing.
//
// RocksDB silently skips zeroed blocks of a log and refuses a torn end that is garbage, so the logs are read here first
// (log_scan.h). A damaged place that had been synced, according to the marks after it or the record of what is durable,
// may have held acknowledged commits: then the store must not open. Otherwise it is an end that was torn by a power
// failure, and is cut off.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "braid/status.h"
#include "engine/storage/durable_record.h"

namespace rocksdb {
class FileSystem;
}  // namespace rocksdb

namespace braid::storage {

/// Compares manifest and logs with the record of what is durable, under the directory's lock. kStorageCorrupt says what
/// is missing, and then nothing was changed. Afterwards the logs are complete, and the returned record describes the
/// present files. `accept_loss`: missing data is only reported in the server's log, and the rest opens.
Result<std::unique_ptr<DurableRecord>> CheckStart(rocksdb::FileSystem& files, const std::string& directory,
                                                  bool accept_loss);

// The part that is about the logs (log_check.cc).

/// A log as it was found.
struct FoundLog {
  uint64_t number = 0;
  std::string path;
  uint64_t size = 0;
  uint64_t whole = 0;     // the end of the last commit before any damage
  LogPosition first = 0;  // the first commit; 0: there is none
  LogPosition next = 0;   // the position behind the last commit
  bool damaged = false;   // behind `whole`, where it had been synced
};

/// Every log of the directory, in the order of their numbers. Changes nothing.
Result<std::vector<FoundLog>> ReadLogs(rocksdb::FileSystem& files, const std::string& directory);

/// Data that had been durable and is missing.
struct LogLoss {
  std::string what;   // for people; empty: nothing is missing
  uint64_t last = 0;  // the number of the last log that continues those before it, up to its `whole`
};
Result<LogLoss> FindLoss(rocksdb::FileSystem& files, const std::string& directory, const std::vector<FoundLog>& logs,
                         const DurableState& durable);

/// Renames the logs after `last` to *.lost, so that the remaining state is the one after some commit.
Status DropLogsBehind(rocksdb::FileSystem& files, const std::string& directory, uint64_t last,
                      std::vector<FoundLog>& logs);

/// Drops the torn end of the newest log, with a line in the server's log. Afterwards every log is complete and on the
/// disk. `keep`: the dropped bytes are kept beside it, as *.lost.
Status DropTornEnd(rocksdb::FileSystem& files, const std::string& directory, const std::vector<FoundLog>& logs,
                   bool keep);

}  // namespace braid::storage
