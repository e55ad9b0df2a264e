// PrivateView: reads a store without changing its directory.
#pragma once

#include <filesystem>
#include <memory>

#include "braid/status.h"

namespace braid::embedded {

/// A directory of its own with the data of a store: links to the table files, which never change once they are written,
/// and copies of the log and the lists of files. What is written there never reaches the store. The destructor removes
/// it. Another process may have the store open: the view is of one moment, and of what was durable then.
class PrivateView {
 public:
  static Result<std::unique_ptr<PrivateView>> Make(const std::filesystem::path& store);
  ~PrivateView();
  PrivateView(const PrivateView&) = delete;
  PrivateView& operator=(const PrivateView&) = delete;

  const std::filesystem::path& directory() const { return directory_; }

 private:
  explicit PrivateView(std::filesystem::path directory) : directory_(std::move(directory)) {}
  const std::filesystem::path directory_;
};

/// Whether a store's directory can be written to, and if not, why.
struct Access {
  enum class Kind { kWritable, kReadOnlyFileSystem, kNoPermission, kUnreadable, kInUse };
  Kind kind = Kind::kWritable;
  int pid = 0;  // of kInUse; 0: not known

  /// For people: "the directory … is in use by another process (pid 4242)".
  std::string Describe(const std::filesystem::path& store) const;
};
Access LookAt(const std::filesystem::path& store);

}  // namespace braid::embedded
