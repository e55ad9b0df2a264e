#include "engine/txn/operation.h"

#include "base/strings.h"

namespace braid::txn {
namespace {
constexpr uint32_t kChecksBetweenClocks = 64;
}  // namespace

Status Operation::Check() {
  if (const int code = killed.load(std::memory_order_relaxed); code != 0) {
    return Status(static_cast<Code>(code), code == static_cast<int>(Code::kInterruptedAtShutdown)
                                               ? "interrupted at shutdown"
                                               : "operation was interrupted");
  }
  if (deadline == std::chrono::steady_clock::time_point::max() || checks_++ % kChecksBetweenClocks != 0) return {};
  if (clock->Now() < deadline) return {};
  checks_ = 0;  // and say so again at the next check
  return Status(Code::kMaxTimeMSExpired, "operation exceeded time limit");
}

Operations::Handle Operations::Start() {
  auto operation = std::make_shared<Operation>();
  operation->clock = &clock_;
  operation->started = clock_.Now();
  std::lock_guard lock(mu_);
  operation->id = ++last_id_;
  map_.emplace(operation->id, operation);
  return Handle(*this, std::move(operation));
}

Operations::Handle::~Handle() {
  if (op_ != nullptr) owner_->Finish(op_->id);
}

void Operations::Finish(int64_t id) {
  std::lock_guard lock(mu_);
  map_.erase(id);
}

bool Operations::Kill(int64_t id, Code code) {
  std::lock_guard lock(mu_);
  const auto it = map_.find(id);
  if (it == map_.end()) return false;
  it->second->killed = static_cast<int>(code);
  return true;
}

void Operations::KillAll(Code code) {
  std::lock_guard lock(mu_);
  for (const auto& [id, operation] : map_) operation->killed = static_cast<int>(code);
}

void Operations::KillSession(std::string_view lsid, Code code) {
  std::lock_guard lock(mu_);
  for (const auto& [id, operation] : map_) {
    if (operation->lsid == lsid) operation->killed = static_cast<int>(code);
  }
}

size_t Operations::size() const {
  std::lock_guard lock(mu_);
  return map_.size();
}

void Operations::ForEach(const std::function<void(const Operation&)>& visit) const {
  std::lock_guard lock(mu_);
  for (const auto& [id, operation] : map_) visit(*operation);
}

}  // namespace braid::txn
