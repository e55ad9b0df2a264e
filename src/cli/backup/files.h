// Durable files: every error is noticed, and what is reported as written is on the disk.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "braid/status.h"

namespace braid::backup {

/// A new file. Move-only; the destructor closes it and ignores errors if Finish() was not called.
class OutputFile {
 public:
  /// Fails if there is one.
  static Result<OutputFile> Create(const std::filesystem::path& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  Status Write(std::string_view bytes);
  /// Syncs and closes it.
  Status Finish();

 private:
  OutputFile(int descriptor, std::filesystem::path path) : descriptor_(descriptor), path_(std::move(path)) {}
  int descriptor_;  // -1 when closed
  std::filesystem::path path_;
};

/// kOutOfDiskSpace if the disk or a quota is full or a limit of sizes was met, else kInternalError; `doing` names the
/// file.
Status FileError(std::string_view doing, int error);

/// Syncs the directory, so that its names are on the disk.
Status SyncDirectory(const std::filesystem::path& directory);
/// Both in the same directory, which is synced.
Status RenameDurably(const std::filesystem::path& from, const std::filesystem::path& to);

using OnBytes = std::function<Status(std::string_view bytes)>;
/// The bytes of a file from its beginning, in parts.
Status ReadParts(const std::filesystem::path& path, const OnBytes& part);
Result<std::string> ReadSmallFile(const std::filesystem::path& path);

/// kInterrupted if the flag is set.
Status CheckStop(const std::atomic<bool>& stop);

}  // namespace braid::backup
