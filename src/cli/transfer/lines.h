// Lines of a file or of standard input, read ahead on a thread of their own.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "braid/status.h"

namespace braid::transfer {

/// Gives what is at hand, so that a slow writer at the other end of a pipe is not waited for, and a fast one makes
/// large pieces. Files may be packed with gzip. One thread at a time, position() any.
class Lines {
 public:
  /// "-" is standard input.
  static Result<std::unique_ptr<Lines>> Open(const std::string& path);
  ~Lines();
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  /// Waits for at least one line and gives all that were read so far, without their ends; empty ones are left out. They
  /// live until the next call. No line: the end. An error is given once, after the lines before it.
  Result<std::vector<std::string_view>> Next();

  /// Bytes read, of lines.
  uint64_t position() const { return position_.load(std::memory_order_relaxed); }

 private:
  class Source;
  explicit Lines(std::unique_ptr<Source> source);
  void ReadAhead();

  const std::unique_ptr<Source> source_;
  std::atomic<uint64_t> position_ = 0;
  std::string block_;  // of the last Next()
  std::mutex mu_;
  std::condition_variable changed_;
  std::string ready_;     // guarded by mu_: whole lines
  Status failure_;        // guarded by mu_
  bool ended_ = false;    // guarded by mu_
  bool closing_ = false;  // guarded by mu_
  std::thread reader_;
};

}  // namespace braid::transfer
