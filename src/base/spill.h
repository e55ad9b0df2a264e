// Spill: moves idle records from memory to a file and reads them back in the same order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "braid/status.h"

namespace braid {

/// The part of a disk that spilled records may take: a quarter of what would be free without them, in a limited number
/// of files. So they never fill the disk that the store writes to, nor take the file descriptors that it needs. Any
/// thread.
class SpillSpace {
 public:
  SpillSpace(std::filesystem::path directory, size_t files_max)
      : directory_(std::move(directory)), files_max_(files_max) {}
  SpillSpace(const SpillSpace&) = delete;
  SpillSpace& operator=(const SpillSpace&) = delete;

  size_t files() const { return files_.load(std::memory_order_relaxed); }
  uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  friend class SpillFile;
  bool Take(uint64_t bytes);
  void GiveBack(uint64_t bytes);

  const std::filesystem::path directory_;
  const size_t files_max_;
  std::atomic<size_t> files_{0};
  std::atomic<uint64_t> bytes_{0};
};

/// Records that are written once and then read once, in order. The file has no name, so it vanishes with the process.
/// Not thread-safe; the space outlives it.
class SpillFile {
 public:
  /// Null if there is no space for `bytes` of records, or no file can be made.
  static std::unique_ptr<SpillFile> Create(SpillSpace& space, uint64_t bytes);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// False if it cannot be written: the file must not be used then.
  bool Append(std::string_view record);
  /// Ends appending and begins reading.
  bool Finish();

  /// False at the end. The record is valid until the next call. kStorageCorrupt if it is not what was written.
  Result<bool> Next(std::string_view* record);

 private:
  SpillFile(SpillSpace& space, int fd, uint64_t bytes) : space_(space), fd_(fd), taken_(bytes) {}
  bool WriteBuffer();
  Status Fill(size_t bytes);

  SpillSpace& space_;
  const int fd_;
  const uint64_t taken_;
  std::string buffer_;  // what is still to be written, or was read and not handed out
  size_t begin_ = 0;    // of what was not handed out
  uint64_t size_ = 0;   // of the file, while it is written
  uint64_t read_ = 0;
};

}  // namespace braid
