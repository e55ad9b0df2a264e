// Shared by the baselines on bare RocksDB: a directory of their own, and RocksDB's errors as ours.
#pragma once

#include <rocksdb/status.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include "base/strings.h"
#include "braid/status.h"

namespace braid::bench {

inline Status FromRocks(const rocksdb::Status& status) {
  return status.ok() ? Status() : Status(Code::kInternalError, StrCat("bare RocksDB: ", status.ToString()));
}

/// A new directory, removed at the end.
class BareDirectory {
 public:
  static Result<BareDirectory> Make(const std::string& parent) {
    std::error_code error;
    if (!parent.empty()) std::filesystem::create_directories(parent, error);
    std::string name = (std::filesystem::path(parent) / "braid-bare-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) return BareDirectory(std::move(name));
    return Status(Code::kBadValue,
                  StrCat("cannot make a directory for bare RocksDB in '", parent, "': ", strerror(errno),
                         "; choose another with --baseline-dir or use --no-baseline"));
  }
  BareDirectory(BareDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  BareDirectory& operator=(BareDirectory&&) = delete;
  ~BareDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit BareDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace braid::bench
