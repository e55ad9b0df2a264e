// Input: the bytes received from a client that were not answered yet.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "engine/wire/buffer.h"
#include "engine/wire/message.h"

namespace braid::wire {

/// Grows as bytes arrive, never by a message's claimed length; releases memory after large messages. A message that
/// there is no memory for can be skipped: its bytes are discarded as they arrive. Not thread-safe.
class Input {
 public:
  static constexpr size_t kKeptBytesMax = 64 * 1024;  // kept after a message

  /// The next whole message, or the head of one that was skipped and has arrived; empty if more bytes are needed. The
  /// error ends the connection.
  Result<std::string_view> Next(uint32_t bytes_max = kMessageBytesMax) const {
    if (skipped()) return std::string_view(skipped_head_);
    const size_t available = end_ - begin_;
    if (available < kHeaderBytes) return std::string_view();
    BRAID_TRY(const uint32_t length, MessageLength(buffer_.View(begin_, available), bytes_max));
    return available < length ? std::string_view() : buffer_.View(begin_, length);
  }

  /// The capacity that MakeRoom() leads to.
  size_t RoomWanted() const {
    const size_t held = end_ - begin_;
    if (held < buffer_.capacity()) return buffer_.capacity();
    size_t wanted = kIdleBytes;
    // One byte more than the message: a read that does not fill the buffer tells the event loop that the socket is
    // empty.
    if (held >= kHeaderBytes) wanted = std::max<size_t>(wanted, ReadHeader(buffer_.View(begin_, held)).length + 1);
    return std::min(wanted, std::max(kStepBytes, 2 * held));
  }
  /// Makes room for further bytes, to be written at free_begin().
  void MakeRoom() {
    const size_t wanted = RoomWanted();
    Compact();
    buffer_.Reserve(wanted, end_);
  }
  char* free_begin() { return buffer_.data() + end_; }
  size_t free_size() const { return buffer_.capacity() - end_; }
  void Arrived(size_t bytes) {
    BRAID_ASSERT(bytes <= free_size());
    end_ += bytes;
    if (skip_left_ == 0) return;
    const size_t dropped = std::min(skip_left_, end_);
    skip_left_ -= dropped;
    begin_ = dropped;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  /// Skips the message that has arrived in part, at least its header. Next() returns its head once the rest has been
  /// discarded.
  void Skip() {
    Compact();
    const size_t length = ReadHeader(buffer_.View(0, end_)).length;
    BRAID_ASSERT(length > end_);
    skip_left_ = length - end_;
    skipped_head_ = buffer_.View(0, std::min(end_, kHeadBytes));
    end_ = 0;
    buffer_.Shrink(kKeptBytesMax, kKeptBytesMax, 0);
  }
  /// The next message is the head of one that was skipped.
  bool skipped() const { return !skipped_head_.empty() && skip_left_ == 0; }

  /// Drops the next message, which has been processed.
  void Consume(size_t bytes) {
    if (skipped()) {
      skipped_head_.clear();
      bytes = 0;
    }
    BRAID_ASSERT(bytes <= end_ - begin_);
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
    if (buffer_.capacity() <= kKeptBytesMax || end_ - begin_ > kIdleBytes) return;
    Compact();
    buffer_.Shrink(kKeptBytesMax, kIdleBytes, end_);
  }

  size_t capacity() const { return buffer_.capacity(); }

 private:
  static constexpr size_t kIdleBytes = 4 * 1024;    // kept by an idle connection
  static constexpr size_t kStepBytes = 256 * 1024;  // growth ahead of the bytes that came; then doubling
  static constexpr size_t kHeadBytes = 32;          // of a message that is skipped: header, flags or inner opcode

  void Compact() {
    if (begin_ == 0) return;
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }

  Buffer buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t skip_left_ = 0;      // bytes of the message that is skipped
  std::string skipped_head_;  // its first bytes; empty: none is
};

}  // namespace braid::wire
