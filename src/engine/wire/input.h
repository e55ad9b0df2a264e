// Input: the bytes that came from a client and were not answered yet.
#pragma once

#include <algorithm>
#include <string_view>

#include "engine/wire/buffer.h"
#include "engine/wire/message.h"

namespace braid::wire {

/// Grows as bytes arrive, never on the word of a message's length; gives memory back after large messages. Not
/// thread-safe.
class Input {
 public:
  /// The next whole message; empty if more bytes are needed. The error ends the connection.
  Result<std::string_view> Next() const {
    const size_t available = end_ - begin_;
    if (available < kHeaderBytes) return std::string_view();
    BRAID_TRY(const uint32_t length, MessageLength(buffer_.View(begin_, available)));
    return available < length ? std::string_view() : buffer_.View(begin_, length);
  }

  /// Makes room for further bytes, to be written at free_begin().
  void MakeRoom() {
    Compact();
    if (end_ < buffer_.capacity()) return;
    size_t wanted = kIdleBytes;
    // One byte more than the message: a read that does not fill the buffer tells the event loop that the socket is
    // empty.
    if (end_ >= kHeaderBytes) wanted = std::max<size_t>(wanted, ReadHeader(buffer_.View(0, end_)).length + 1);
    buffer_.Reserve(std::min(wanted, std::max(kStepBytes, 2 * end_)), end_);
  }
  char* free_begin() { return buffer_.data() + end_; }
  size_t free_size() const { return buffer_.capacity() - end_; }
  void Arrived(size_t bytes) { end_ += bytes; }

  /// The first bytes are done with.
  void Consume(size_t bytes) {
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
    if (buffer_.capacity() <= kKeptBytesMax || end_ - begin_ > kIdleBytes) return;
    Compact();
    buffer_.Shrink(kKeptBytesMax, kIdleBytes, end_);
  }

  size_t capacity() const { return buffer_.capacity(); }

 private:
  static constexpr size_t kIdleBytes = 4 * 1024;      // held by a connection that does nothing
  static constexpr size_t kKeptBytesMax = 64 * 1024;  // kept after a message
  static constexpr size_t kStepBytes = 256 * 1024;    // growth ahead of the bytes that came; then doubling

  void Compact() {
    if (begin_ == 0) return;
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }

  Buffer buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace braid::wire
