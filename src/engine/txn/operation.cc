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

Operations::Handle Operations::Start(const std::function<void(Operation&)>& fill) {
  auto operation = std::make_unique<Operation>();
  operation->started = clock_.Now();
  operation->clock = &clock_;
  if (fill) fill(*operation);
  std::lock_guard lock(mu_);
  operation->id = ++last_id_;
  running_.push_back(operation.get());
  return Handle(*this, std::move(operation));
}

Operations::Handle::~Handle() {
  if (op_ != nullptr) owner_->Finish(op_.get());
}

void Operations::Finish(const Operation* operation) {
  std::lock_guard lock(mu_);
  std::erase(running_, operation);
}

bool Operations::Kill(int64_t id, Code code) {
  std::lock_guard lock(mu_);
  for (Operation* operation : running_) {
    if (operation->id != id) continue;
    operation->killed = static_cast<int>(code);
    return true;
  }
  return false;
}

void Operations::KillAll(Code code) {
  std::lock_guard lock(mu_);
  for (Operation* operation : running_) operation->killed = static_cast<int>(code);
}

void Operations::KillSession(std::string_view lsid, Code code) {
  std::lock_guard lock(mu_);
  for (Operation* operation : running_) {
    if (operation->lsid == lsid) operation->killed = static_cast<int>(code);
  }
}

size_t Operations::size() const {
  std::lock_guard lock(mu_);
  return running_.size();
}

void Operations::ForEach(const std::function<void(const Operation&)>& visit) const {
  std::lock_guard lock(mu_);
  for (const Operation* operation : running_) visit(*operation);
}

}  // namespace braid::txn
