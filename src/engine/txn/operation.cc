#include "engine/txn/operation.h"

#include <time.h>

#include <algorithm>

#include "base/assert.h"
#include "base/mutex.h"
#include "base/strings.h"

namespace braid::txn {
namespace {
constexpr uint32_t kChecksBetweenClocks = 64;
constexpr std::chrono::milliseconds kDeadlinesWatchedEvery{10};

std::chrono::nanoseconds ThreadCpu() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}
}  // namespace

Status Operation::Check() {
  if (const int code = killed.load(std::memory_order_relaxed); code != 0) {
    return Status(static_cast<Code>(code), code == static_cast<int>(Code::kInterruptedAtShutdown)
                                               ? "interrupted at shutdown"
                                               : "operation was interrupted");
  }
  if (deadline == std::chrono::steady_clock::time_point::max() || checks_++ % kChecksBetweenClocks != 0) return {};
  return CheckNow();
}

Status Operation::CheckNow() {
  if (clock->Now() < deadline) return {};
  checks_ = 0;  // and report it again at the next check
  return Status(Code::kMaxTimeMSExpired, "operation exceeded time limit");
}

void OperationWork::MeasureCpu() {
  if (measures_) return;
  measures_ = true;
  cpu_before_ = ThreadCpu();
}

void OperationWork::Leave() {
  if (measures_) operation_.cost.cpu += ThreadCpu() - cpu_before_;
}

void OperationWork::Enter() {
  if (measures_) cpu_before_ = ThreadCpu();
}

Status OperationWork::Interrupted() {
  MeasureCpu();
  if (operation_.gives_way) Fiber::GiveWay();
  BRAID_CHECK_OK(operation_.Check());
  return operation_.CheckNow();
}

Status Operation::WaitFor(std::chrono::steady_clock::duration longest) {
  using Time = std::chrono::steady_clock;
  BRAID_CHECK_OK(Check());
  BRAID_CHECK_OK(CheckNow());
  // A wait takes real time, whatever the operation's clock says.
  if (deadline != Time::time_point::max()) longest = std::min(longest, deadline - clock->Now());
  const bool timed = owner_ != nullptr && longest != Time::duration::max();
  const auto began = Time::now();
  waiting_.store(true, std::memory_order_relaxed);
  if (timed) owner_->BeginTimedWait(*this, began + longest);
  parking_.Park();
  if (timed) owner_->EndTimedWait(*this);
  waiting_.store(false, std::memory_order_relaxed);
  cost.waited += Time::now() - began;
  BRAID_CHECK_OK(Check());
  return CheckNow();
}

Operations::Operations(const Clock& clock) : clock_(clock), watcher_([this] { WatchDeadlines(); }) {}

Operations::~Operations() {
  {
    const MutexLock lock(mu_);
    BRAID_ASSERT(running_.empty());  // an operation points to this list
    stopping_ = true;
  }
  watch_.NotifyOne();
  watcher_.join();
}

void Operations::BeginTimedWait(Operation& operation, std::chrono::steady_clock::time_point wake_at) {
  const MutexLock lock(mu_);
  BRAID_ASSERT(operation.wake_at_ == std::chrono::steady_clock::time_point::max());  // it waits for one thing at a time
  operation.wake_at_ = wake_at;
  if (++timed_waits_ == 1) watch_.NotifyOne();
}

void Operations::EndTimedWait(Operation& operation) {
  const MutexLock lock(mu_);
  operation.wake_at_ = std::chrono::steady_clock::time_point::max();
  BRAID_ASSERT(timed_waits_ > 0);
  --timed_waits_;
}

void Operations::WatchDeadlines() {
  MutexLock lock(mu_);
  while (true) {
    watch_.Wait(lock, [this]() BRAID_REQUIRES(mu_) { return stopping_ || timed_waits_ > 0; });
    if (watch_.WaitFor(lock, kDeadlinesWatchedEvery, [this]() BRAID_REQUIRES(mu_) { return stopping_; })) return;
    const auto now = std::chrono::steady_clock::now();
    for (Operation* operation : running_) {
      if (operation->wake_at_ <= now) operation->Wake();
    }
  }
}

Operations::Handle Operations::Start(const std::function<void(Operation&)>& fill) {
  auto operation = std::make_unique<Operation>();
  operation->started = clock_.Now();
  operation->clock = &clock_;
  operation->owner_ = this;
  if (fill) fill(*operation);
  const MutexLock lock(mu_);
  operation->id = ++last_id_;
  operation->place_ = running_.size();
  running_.push_back(operation.get());
  return Handle(*this, std::move(operation));
}

Operations::Handle::~Handle() {
  if (op_ != nullptr) owner_->Finish(op_.get());
}

void Operations::Finish(const Operation* operation) {
  const MutexLock lock(mu_);
  BRAID_ASSERT(operation->place_ < running_.size() && running_[operation->place_] == operation);
  running_.back()->place_ = operation->place_;
  running_[operation->place_] = running_.back();
  running_.pop_back();
}

void Operations::KillIf(const std::function<bool(const Operation&)>& chosen, Code code) {
  const MutexLock lock(mu_);
  for (Operation* operation : running_) {
    if (!chosen(*operation)) continue;
    operation->killed = static_cast<int>(code);
    operation->Wake();
  }
}

bool Operations::Kill(int64_t id, Code code) {
  const MutexLock lock(mu_);
  for (Operation* operation : running_) {
    if (operation->id != id) continue;
    operation->killed = static_cast<int>(code);
    operation->Wake();
    return true;
  }
  return false;
}

void Operations::KillAll(Code code) {
  KillIf([](const Operation&) { return true; }, code);
}

void Operations::KillSession(std::string_view lsid, Code code) {
  KillIf([&](const Operation& operation) { return operation.lsid == lsid; }, code);
}

void Operations::KillConnection(int64_t connection, Code code) {
  KillIf([&](const Operation& operation) { return operation.connection == connection; }, code);
}

size_t Operations::size() const {
  const MutexLock lock(mu_);
  return running_.size();
}

void Operations::ForEach(const std::function<void(const Operation&)>& visit) const {
  const MutexLock lock(mu_);
  for (const Operation* operation : running_) visit(*operation);
}

}  // namespace braid::txn
