// The directory of the demo's store.
#pragma once

#include <string>
#include <utility>

#include "braid/status.h"

namespace braid::cli::demo {

/// A given directory, or a temporary one that is removed with the object. Move-only.
class Directory {
 public:
  /// Empty: a new one below TMPDIR or /tmp.
  static Result<Directory> Make(const std::string& given);
  Directory(Directory&& other) noexcept
      : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, false)) {}
  Directory& operator=(Directory&&) = delete;
  ~Directory();

  const std::string& path() const { return path_; }
  bool temporary() const { return temporary_; }

 private:
  Directory(std::string path, bool temporary) : path_(std::move(path)), temporary_(temporary) {}

  std::string path_;
  bool temporary_;  // false after a move
};

}  // namespace braid::cli::demo
