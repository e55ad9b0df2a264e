// FilesRead: how much of several files was read, for a line of progress.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/mutex.h"
#include "cli/transfer/lines.h"

namespace braid::cli {

/// Any thread.
class FilesRead {
 public:
  explicit FilesRead(const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      const uint64_t size = SizeOf(file);
      known_ = known_ && size > 0;
      total_ += size;
    }
  }

  /// As long as one of them is read.
  class One {
   public:
    One(FilesRead& all, const std::string& file, const transfer::Lines& lines) : all_(all), size_(SizeOf(file)) {
      const MutexLock lock(all_.mu_);
      all_.lines_ = &lines;
      all_.size_ = size_;
    }
    ~One() {
      const MutexLock lock(all_.mu_);
      all_.lines_ = nullptr;
      all_.before_ += size_;
    }
    One(const One&) = delete;
    One& operator=(const One&) = delete;

   private:
    FilesRead& all_;
    const uint64_t size_;
  };

  /// From 0 to 1; nothing if one of them is standard input or a pipe.
  std::optional<double> share() const {
    const MutexLock lock(mu_);
    if (!known_ || total_ == 0) return std::nullopt;
    const double part = lines_ == nullptr ? 0 : lines_->share().value_or(0) * static_cast<double>(size_);
    return (static_cast<double>(before_) + part) / static_cast<double>(total_);
  }

 private:
  static uint64_t SizeOf(const std::string& file) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) return 0;
    const uint64_t size = std::filesystem::file_size(file, error);
    return error ? 0 : size;
  }

  bool known_ = true;
  uint64_t total_ = 0;
  mutable Mutex mu_;
  const transfer::Lines* lines_ BRAID_GUARDED_BY(mu_) = nullptr;
  uint64_t size_ BRAID_GUARDED_BY(mu_) = 0;    // of the file that is read
  uint64_t before_ BRAID_GUARDED_BY(mu_) = 0;  // of those that were
};

}  // namespace braid::cli
