// ReplyFrame: a reply document as the bytes of a message, in the form the request asked for.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "engine/bson/value.h"
#include "engine/wire/message.h"

namespace braid::wire {

/// Reused from reply to reply. Not thread-safe.
class ReplyFrame {
 public:
  /// Frames `body` as the answer to `message`: OP_MSG or OP_REPLY, with a checksum if the request had one, compressed
  /// if the request was and the command may be. A large body is not copied: it must outlive the use of parts().
  void Build(const Message& message, bson::View body, int32_t reply_id);

  /// The parts to send, in order; parts may be empty.
  const std::array<std::string_view, 3>& parts() const { return parts_; }
  size_t size() const { return parts_[0].size() + parts_[1].size() + parts_[2].size(); }

  /// Gives the memory of a large reply back.
  void Shrink();

 private:
  void BuildCompressed(const Message& message, bson::View body, int32_t reply_id);

  std::string head_;
  std::string tail_;
  std::array<std::string_view, 3> parts_;
};

}  // namespace braid::wire
