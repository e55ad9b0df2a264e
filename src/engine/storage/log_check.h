// The check of the write-ahead log before the store opens. Inside this folder only.
//
// RocksDB skips zeroed blocks of a log without a word and refuses a torn end that is garbage, so the logs are read here
// first (log_scan.h). A damaged place that had been synced, as the marks behind it or the record of what is durable
// say, may have held acknowledged commits: then the store must not open. If it had not, it is the end that a power
// failure has torn, and is cut off.
#pragma once

#include <string>
#include <vector>

#include "braid/status.h"
#include "engine/storage/durable_record.h"

namespace rocksdb {
class FileSystem;
}  // namespace rocksdb

namespace braid::storage {

/// A log as it was found.
struct FoundLog {
  uint64_t number = 0;
  std::string path;
  uint64_t size = 0;
  uint64_t whole = 0;     // where the last commit ends that is there with all before it
  LogPosition first = 0;  // the first commit; 0: there is none
  LogPosition next = 0;   // the position behind the last commit
  bool damaged = false;   // behind `whole`, where it had been synced
};

/// Every log of the directory, in the order of their numbers. Changes nothing.
Result<std::vector<FoundLog>> ReadLogs(rocksdb::FileSystem& files, const std::string& directory);

/// What had been durable, and is not there.
struct LogLoss {
  std::string what;   // for people; empty: nothing is missing
  uint64_t last = 0;  // the number of the last log that continues those before it, up to its `whole`
};
Result<LogLoss> FindLoss(rocksdb::FileSystem& files, const std::string& directory, const std::vector<FoundLog>& logs,
                         const DurableState& durable);

/// Puts the logs behind `last` aside, as *.lost, so that what is left is the state after some commit.
Status DropLogsBehind(rocksdb::FileSystem& files, const std::string& directory, uint64_t last,
                      std::vector<FoundLog>& logs);

/// Drops the torn end of the newest log, and says so in the server's log. Afterwards every log is whole and on the
/// disk. `keep`: what is dropped stays beside it, as *.lost.
Status DropTornEnd(rocksdb::FileSystem& files, const std::string& directory, const std::vector<FoundLog>& logs,
                   bool keep);

}  // namespace braid::storage
