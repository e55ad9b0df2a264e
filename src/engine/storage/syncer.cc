// The loop of the syncer.
#include "engine/storage/syncer.h"

#include <algorithm>
#include <chrono>

#include "base/assert.h"
#include "base/log.h"
#include "base/strings.h"

namespace braid::storage {

Syncer::Syncer(Log log) : log_(std::move(log)), durable_(log_.newest()), thread_([this] { Loop(); }) {}

Syncer::~Syncer() { Stop(); }

void Syncer::Stop() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mu_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Syncer::Committed() { dirty_.store(true, std::memory_order_release); }

void Syncer::WhenDurable(LogPosition position, std::function<void(Status)> done) {
  if (position <= durable()) return done({});
  BRAID_ASSERT(position <= log_.newest());  // positions come from commits: the wait ends
  {
    std::unique_lock lock(mu_);
    if (failure_.ok() && position > durable()) {
      waiters_.push_back({position, std::move(done)});
      const bool wake = waiters_.size() == 1;  // it sleeps only while nobody waits
      lock.unlock();
      if (wake) wake_.notify_one();
      return;
    }
  }
  done(position <= durable() ? Status() : status());
}

Status Syncer::WaitDurable(LogPosition position) {
  if (position <= durable()) return {};
  struct {
    std::mutex mu;
    std::condition_variable told;
    bool done = false;
    Status status;
  } wait;
  WhenDurable(position, [&wait](Status status) {
    std::lock_guard lock(wait.mu);
    wait.status = std::move(status);
    wait.done = true;
    wait.told.notify_one();
  });
  std::unique_lock lock(wait.mu);
  wait.told.wait(lock, [&wait] { return wait.done; });
  return wait.status;
}

Status Syncer::status() const {
  if (!failed_.load(std::memory_order_acquire)) return {};
  std::lock_guard lock(mu_);
  return failure_;
}

void Syncer::Fail(const Status& why) {
  std::vector<Waiter> told;
  {
    std::lock_guard lock(mu_);
    if (failure_.ok()) {
      failure_ =
          Status(Code::kStoreReadOnly, StrCat("the store takes no more writes: ", why.message(),
                                              why.code() == Code::kOutOfDiskSpace ? ". Free disk space, then restart"
                                                                                  : ". A restart checks the store"));
      log::error("{}", failure_.message());
      failed_.store(true, std::memory_order_release);
    }
    told.swap(waiters_);
  }
  for (Waiter& waiter : told) waiter.done(status());
}

void Syncer::Loop() {
  std::unique_lock lock(mu_);
  while (true) {
    wake_.wait_for(lock, std::chrono::milliseconds(kIdleMillis), [this] { return stop_ || !waiters_.empty(); });
    const bool last = stop_;
    if (last || dirty_ || !waiters_.empty()) SyncOnce(lock);
    if (last && waiters_.empty()) return;
  }
}

void Syncer::SyncOnce(std::unique_lock<std::mutex>& lock) {
  dirty_.exchange(false);
  lock.unlock();
  if (failed_) {
    Fail({});  // tells those who came late
    lock.lock();
    return;
  }
  const LogPosition target = log_.newest();  // before the sync, so that the sync covers it
  const Status status = log_.sync();
  if (!status.ok()) {
    Fail(status);
    lock.lock();
    return;
  }
  syncs_.fetch_add(1, std::memory_order_relaxed);
  std::vector<Waiter> told;
  lock.lock();
  durable_.store(std::max(durable_.load(), target), std::memory_order_release);
  const auto served = std::partition(waiters_.begin(), waiters_.end(),
                                     [target](const Waiter& waiter) { return waiter.position > target; });
  told.assign(std::make_move_iterator(served), std::make_move_iterator(waiters_.end()));
  waiters_.erase(served, waiters_.end());
  lock.unlock();
  for (Waiter& waiter : told) waiter.done({});
  told.clear();
  lock.lock();
}

}  // namespace braid::storage
