// BackupList: the contents of a backup, as listed in its file BACKUP. Two lines: the list as JSON, and its own XXH3.
#pragma once

#include <cstdint>
#include <memory>
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

}  // namespace braid::backup
