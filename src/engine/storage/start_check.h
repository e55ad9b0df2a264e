// The check of the files before RocksDB opens them: nothing that had been durable may be missing. Inside this folder
// only. Tables are not among them: the manifest names them with their sizes, and RocksDB notices what is missing.
#pragma once

#include <memory>
#include <string>

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

}  // namespace braid::storage
