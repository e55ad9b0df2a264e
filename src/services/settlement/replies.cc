#include "services/settlement/replies.h"

#include "base/assert.h"

namespace braid::settlement {
namespace {

constexpr size_t kReasonBytesMax = 65'535;

void AppendBigEndian(uint64_t value, int bytes, std::string& out) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
}

}  // namespace

std::string EncodeReply(const Answer& answer) {
  std::string out;
  AppendBigEndian(static_cast<uint64_t>(answer.output_seq), 8, out);
  out += static_cast<char>(answer.outcome);
  if (answer.outcome <= Outcome::kDuplicate) {
    out.append(reinterpret_cast<const char*>(answer.hash.data()), answer.hash.size());
    return out;
  }
  const std::string_view reason = answer.status.message().substr(0, kReasonBytesMax);
  AppendBigEndian(reason.size(), 2, out);
  out += reason;
  return out;
}

bool Replies::AwaitRoom() {
  std::unique_lock lock(mu_);
  changed_.wait(lock, [&] { return abandoned_ || due_.size() < due_max_; });
  if (abandoned_) return false;
  due_.emplace_back();
  return true;
}

void Replies::Add(const Answer& answer) {
  std::string reply = EncodeReply(answer);
  const std::lock_guard lock(mu_);
  if (abandoned_) return;
  BRAID_ASSERT(answer.number >= first_ && answer.number - first_ < due_.size());
  due_[answer.number - first_] = std::move(reply);
  if (answer.number == first_) changed_.notify_all();
}

void Replies::End() {
  const std::lock_guard lock(mu_);
  ended_ = true;
  changed_.notify_all();
}

void Replies::Abandon() {
  const std::lock_guard lock(mu_);
  abandoned_ = true;
  due_.clear();
  changed_.notify_all();
}

std::string Replies::Take() {
  std::unique_lock lock(mu_);
  changed_.wait(lock, [&] { return abandoned_ || (due_.empty() ? ended_ : due_.front().has_value()); });
  std::string bytes;
  while (!due_.empty() && due_.front()) {
    bytes += *due_.front();
    due_.pop_front();
    ++first_;
  }
  changed_.notify_all();
  return bytes;
}

}  // namespace braid::settlement
