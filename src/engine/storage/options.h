// How RocksDB is set up, and how its errors become ours. Inside this folder only.
#pragma once

#include "braid/status.h"

namespace rocksdb {
struct Options;
class Status;
}  // namespace rocksdb

namespace braid::storage {

struct StoreOptions;

/// The options of options.cc, each with its reason.
rocksdb::Options MakeRocksOptions(const StoreOptions& options);

/// The error for a directory whose lock could not be taken: kFileAlreadyOpen if another process holds it, else the
/// system's error.
Status DirectoryInUse(std::string_view directory, const rocksdb::Status& why);

/// `doing` says what failed, for people.
Status Translate(const rocksdb::Status& status, std::string_view doing);

}  // namespace braid::storage
