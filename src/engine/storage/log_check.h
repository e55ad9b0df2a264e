// The check of the write-ahead log before the store opens. Inside this folder only.
//
// RocksDB skips zeroed blocks of a log without a word and refuses a torn end that is garbage, so the logs are read here
// first. Their format: blocks of 32 KiB; in each, records of  crc u32 | length u16 | type u8 | bytes  (whole, first,
// middle or last part of a commit). A commit:  sequence u64 | count u32 | changes | durability mark.
//
// The mark says what was durable when the commit was written, and where its log began. So what follows a damaged place
// tells whether the place had been synced before: if so, acknowledged commits may be lost, and the store must not open;
// if not, it is the end that a power failure has torn, and is cut off.
#pragma once

#include <string>

#include "braid/status.h"
#include "engine/storage/store.h"

namespace rocksdb {
class FileSystem;
class WriteBatch;
}  // namespace rocksdb

namespace braid::storage {

/// The end of every commit in the log.
struct LogMark {
  LogPosition durable;  // everything up to here was on the disk
  LogPosition first;    // no commit of this log is before it
};
void AppendMark(rocksdb::WriteBatch& batch, const LogMark& mark);

/// Reads every log of the directory, under its lock. kStorageCorrupt names a damaged file; a torn end of the newest log
/// is dropped, and said so in the server's log. Afterwards every log is whole and on the disk.
Status CheckLogs(rocksdb::FileSystem& files, const std::string& directory);

}  // namespace braid::storage
