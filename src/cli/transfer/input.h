// Bytes of a file as a window that moves forward and can go back to a mark.
#pragma once

#include <zlib.h>

#include <atomic>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "braid/status.h"

namespace braid::transfer {

/// A file, standard input or a string, read in pieces; gzip is unpacked by itself. Counts lines from 1. Bytes since the
/// mark stay in memory: the reader of a format sets it at the start of each document. One thread at a time, but for
/// position().
class Input {
 public:
  /// "-" is standard input.
  static Result<std::unique_ptr<Input>> Open(const std::string& path);
  static std::unique_ptr<Input> FromText(std::string_view text);
  ~Input();

  static constexpr int kEnd = -1;
  /// The next byte, or kEnd.
  int Peek() { return next_ < buffer_.size() || Fill() ? static_cast<unsigned char>(buffer_[next_]) : kEnd; }
  /// Moves past the byte that Peek() showed.
  void Skip() { line_ += buffer_[next_++] == '\n'; }
  /// Moves past the rest of the line and its end.
  void SkipLine();

  /// From here on bytes are kept.
  void Mark();
  /// The bytes from the mark to here; valid until the next Peek().
  std::string_view Marked() const { return std::string_view(buffer_).substr(mark_, next_ - mark_); }
  size_t marked_bytes() const { return next_ - mark_; }
  /// Goes back to the mark.
  void Rewind();

  uint64_t line() const { return line_; }
  uint64_t mark_line() const { return mark_line_; }
  /// Why the bytes ended before their end (a damaged gzip file, a disk that cannot be read), or OK.
  const Status& failure() const { return failure_; }

  /// Bytes of the file consumed so far, packed ones if it is packed, for progress. Any thread.
  uint64_t position() const { return position_.load(std::memory_order_relaxed); }
  /// Bytes of the file, 0 if it is not known.
  uint64_t size() const { return size_; }

 private:
  Input() = default;
  bool Fill();

  gzFile file_ = nullptr;  // null: the text is all in the buffer
  uint64_t size_ = 0;
  std::string path_;
  std::string buffer_;
  size_t next_ = 0;
  size_t mark_ = 0;
  uint64_t line_ = 1;
  uint64_t mark_line_ = 1;
  Status failure_;
  std::atomic<uint64_t> position_{0};
};

}  // namespace braid::transfer
