// Facts about a directory that are known without opening it as a store, and how one of its files is replaced.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "braid/status.h"

namespace rocksdb {
class FileSystem;
}  // namespace rocksdb

namespace braid::storage {

/// True if the directory holds a store, whole or damaged. Opens and changes nothing.
bool HoldsStore(const std::filesystem::path& directory);

/// The file that a backup has beside the files of the store: their sizes and checksums (docs/operations.md). Opening a
/// backup as a store would change it.
constexpr const char* kBackupList = "BACKUP";
/// kIllegalOperation if the directory is a backup.
Status RefuseBackup(rocksdb::FileSystem& files, const std::string& directory);

/// The number of the log or manifest with this path, if it is one.
std::optional<uint64_t> LogNumber(std::string_view path);
std::optional<uint64_t> ManifestNumber(std::string_view path);

/// The contents of CURRENT, with its newline; empty if there is none.
Result<std::string> ReadCurrent(rocksdb::FileSystem& files, const std::string& directory);

/// Replaces the file atomically: after a power failure it is either the old or the new one. On return it is on the
/// disk.
Status ReplaceFile(rocksdb::FileSystem& files, const std::string& directory, const std::string& path,
                   std::string_view bytes);
/// The last step of that, for a file that was written and synced under another name.
Status PutInPlace(rocksdb::FileSystem& files, const std::string& directory, const std::string& from,
                  const std::string& to);

}  // namespace braid::storage
