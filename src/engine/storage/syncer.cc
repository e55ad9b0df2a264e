// The loop of the syncer.
#include "engine/storage/syncer.h"

#include <algorithm>
#include <chrono>

#include "base/assert.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/strings.h"

namespace braid::storage {

Syncer::Syncer(Log log) : log_(std::move(log)), durable_(log_.newest()), thread_([this] { Loop(); }) {}

Syncer::~Syncer() { Stop(); }

void Syncer::Stop() {
  if (!thread_.joinable()) return;
  {
    const MutexLock lock(mu_);
    stop_ = true;
  }
  wake_.NotifyOne();
  thread_.join();
}

void Syncer::Committed() { dirty_.store(true, std::memory_order_release); }

void Syncer::WhenDurable(LogPosition position, OnDurable done) {
  if (position <= durable()) return done({}, 0);
  BRAID_ASSERT(position <= log_.newest());  // positions come from commits: the wait ends
  {
    MutexLock lock(mu_);
    if (failure_.ok() && position > durable()) {
      waiters_.push_back({position, std::move(done)});
      const bool wake = waiters_.size() == 1;  // it sleeps only while no writer waits
      lock.Unlock();
      if (wake) wake_.NotifyOne();
      return;
    }
  }
  done(position <= durable() ? Status() : status(), 0);
}

Status Syncer::WaitDurable(LogPosition position) {
  if (position <= durable()) return {};
  struct {
    Mutex mu;
    CondVar told;
    bool done BRAID_GUARDED_BY(mu) = false;
    Status status BRAID_GUARDED_BY(mu);
  } wait;
  WhenDurable(position, [&wait](Status status, size_t) {
    const MutexLock lock(wait.mu);
    wait.status = std::move(status);
    wait.done = true;
    wait.told.NotifyOne();
  });
  MutexLock lock(wait.mu);
  wait.told.Wait(lock, [&wait]() BRAID_REQUIRES(wait.mu) { return wait.done; });
  return wait.status;
}

Status Syncer::status() const {
  if (!failed_.load(std::memory_order_acquire)) return {};
  const MutexLock lock(mu_);
  return failure_;
}

void Syncer::Fail(const Status& why) {
  std::vector<Waiter> told;
  {
    const MutexLock lock(mu_);
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
  Tell(told, status());
}

void Syncer::Tell(std::vector<Waiter>& waiters, const Status& status) {
  for (size_t turn = 0; turn < waiters.size(); ++turn) waiters[turn].done(status, turn);
}

void Syncer::Loop() {
  MutexLock lock(mu_);
  while (true) {
    wake_.WaitFor(lock, std::chrono::milliseconds(kIdleMillis),
                  [this]() BRAID_REQUIRES(mu_) { return stop_ || !waiters_.empty(); });
    const bool last = stop_;
    if (last || dirty_ || !waiters_.empty()) SyncOnce();
    if (last && waiters_.empty()) return;
  }
}

void Syncer::SyncOnce() {
  dirty_.exchange(false);
  mu_.Unlock();
  if (failed_) {
    Fail({});  // wakes the writers that came during the sync
    mu_.Lock();
    return;
  }
  const LogPosition target = log_.newest();  // before the sync, so that the sync covers it
  const Status status = log_.sync(target);
  if (!status.ok()) {
    Fail(status);
    mu_.Lock();
    return;
  }
  syncs_.fetch_add(1, std::memory_order_relaxed);
  std::vector<Waiter> told;
  mu_.Lock();
  BRAID_ASSERT(target >= durable_.load());  // the newest position only grows, and no other thread syncs
  durable_.store(target, std::memory_order_release);
  const auto served = std::partition(waiters_.begin(), waiters_.end(),
                                     [target](const Waiter& waiter) { return waiter.position > target; });
  told.assign(std::make_move_iterator(served), std::make_move_iterator(waiters_.end()));
  waiters_.erase(served, waiters_.end());
  mu_.Unlock();
  Tell(told, {});
  told.clear();
  mu_.Lock();
}

}  // namespace braid::storage
