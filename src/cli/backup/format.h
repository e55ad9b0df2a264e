// The format of a backup. BackupList: its contents, as listed in its file BACKUP. Two lines: the list as JSON, and its
// own XXH3.
//
// A backup in one file is a tar archive (POSIX ustar) of plain files, each
//
//   header 512 | bytes, filled up with zeros to a multiple of 512
//
// and two empty blocks at the end. So `tar -tf` shows what is in a backup, and `tar -xf` unpacks it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/status.h"

namespace braid::backup {

constexpr const char* kListName = "BACKUP";

struct BackupFile {
  std::string name;
  uint64_t size = 0;
  bool table = false;
  int64_t mark = 0;   // the server's, of a table: which file of the store it is
  uint64_t hash = 0;  // XXH3 of its bytes
};

struct BackupList {
  int64_t time_millis = 0;  // what was acknowledged before is in it
  std::string store;        // the identity of the store that it is of
  int64_t position = 0;     // of the log
  std::vector<BackupFile> files;

  uint64_t bytes() const;
  std::string ToText() const;
  /// kStorageCorrupt if it is not as it was written; `where` names it.
  static Result<BackupList> Parse(std::string_view text, std::string_view where);
};

/// XXH3 of bytes that come in parts.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;
  void Add(std::string_view bytes);
  uint64_t hash() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

constexpr size_t kTarBlock = 512;
constexpr uint64_t kTarFileMax = (uint64_t{1} << 33) - 1;

struct TarEntry {
  std::string name;
  uint64_t size = 0;
};

/// The block before the bytes of a file. The name has at most 99 bytes, the file at most kTarFileMax.
std::string TarHeader(const TarEntry& entry, int64_t time_seconds);
/// Nothing if the block is no header of a plain file, or was changed.
std::optional<TarEntry> ReadTarHeader(std::string_view block);

/// The number of zeros that follow a file of `bytes` bytes.
constexpr size_t TarPadding(uint64_t size) { return (kTarBlock - size % kTarBlock) % kTarBlock; }

}  // namespace braid::backup
