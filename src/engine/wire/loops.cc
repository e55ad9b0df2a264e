#include "engine/wire/loops.h"

#include <pthread.h>

#include <algorithm>
#include <boost/asio/post.hpp>

#include "base/log.h"
#include "base/mutex.h"

namespace braid::wire {
namespace {

constexpr int kQuietTicksMax = 200;  // idle ticks before the watcher sleeps until it is woken
constexpr int kQuickTicksMax = 10;   // after a quick request others are expected for so long

// Of requests that are resumed one after another; then the one that has just ended gets its reply.
constexpr int kResumedMax = 16;
constexpr std::chrono::microseconds kResumedTimeMax{250};

thread_local std::atomic<int64_t>* busy_since = nullptr;  // of the current thread
thread_local Loop* current_loop = nullptr;
thread_local bool runs_resumed = false;

int64_t SteadyNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

size_t CountOf(const LoopsOptions& options) {
  return options.loops > 0 ? options.loops : std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

// The posted call makes sure that a thread comes by; mostly the end of another request is there first.
void Loop::Resume(std::function<void()> resume) {
  {
    const MutexLock lock(mu_);
    resumed_.push_back(std::move(resume));
    resumed_count_.store(resumed_.size(), std::memory_order_relaxed);
  }
  boost::asio::post(context_, [this] { RunResumed(); });
}

void Loop::RunResumed() {
  if (runs_resumed || resumed_count_.load(std::memory_order_relaxed) == 0) return;
  runs_resumed = true;
  const int64_t until = SteadyNanos() + std::chrono::nanoseconds(kResumedTimeMax).count();
  for (int i = 0; i < kResumedMax; ++i) {
    std::function<void()> resume;
    {
      const MutexLock lock(mu_);
      if (resumed_.empty()) break;
      resume = std::move(resumed_.front());
      resumed_.pop_front();
      resumed_count_.store(resumed_.size(), std::memory_order_relaxed);
    }
    resume();
    if (SteadyNanos() > until) break;
  }
  runs_resumed = false;
}

bool Loops::IsLoopThread() { return current_loop != nullptr; }

Loop* Loops::OfThisThread() const {
  return current_loop != nullptr && current_loop->owner_ == this ? current_loop : nullptr;
}

Loops::Busy::Busy(Loops& loops) {
  // Sequentially consistent with Watch(): either it sees our mark before it sleeps, or we see that it sleeps.
  if (busy_since != nullptr) busy_since->store(SteadyNanos());
  if (loops.watcher_sleeps_.load()) {
    {
      const MutexLock lock(loops.mutex_);
      loops.watcher_sleeps_.store(false);
    }
    loops.wake_.NotifyOne();
  }
}

Loops::Busy::~Busy() {
  if (busy_since != nullptr) busy_since->store(0, std::memory_order_relaxed);
}

Loops::Loops(const LoopsOptions& options)
    : options_(options),
      lane_({.at_once = CountOf(options), .threads_max = options.threads_max, .patience = options.lane_patience}) {
  const size_t count = CountOf(options);
  loops_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    loops_.push_back(std::make_unique<Loop>());
    loops_.back()->owner_ = this;
    loops_.back()->taken_max_ = static_cast<int64_t>(std::max<size_t>(1, options.threads_max / count));
  }
  for (auto& loop : loops_) AddWorker(*loop);
  watcher_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "braid-watcher");
    Watch();
  });
}

Loops::~Loops() { Stop(); }

void Loops::Stop() {
  {
    const MutexLock lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  wake_.NotifyOne();
  watcher_.join();
  lane_.Stop();
  for (auto& loop : loops_) loop->context_.stop();
  for (auto& loop : loops_) {
    for (auto& worker : loop->workers_) worker->thread.join();
  }
}

Loop& Loops::Least(std::atomic<int64_t> Loop::*count) {
  return **std::min_element(loops_.begin(), loops_.end(),
                            [count](const auto& a, const auto& b) { return (*a).*count < (*b).*count; });
}

void Loops::AddWorker(Loop& loop) {
  threads_.fetch_add(1, std::memory_order_relaxed);
  Loop::Worker* worker = loop.workers_.emplace_back(std::make_unique<Loop::Worker>()).get();
  worker->thread = std::thread([&loop, worker] {
    pthread_setname_np(pthread_self(), "braid-loop");
    current_loop = &loop;
    busy_since = &worker->busy_since;
    loop.context_.run();
  });
}

// True if some handler of the loop is running.
bool Loops::Relieve(Loop& loop, int64_t now) {
  const int64_t patience = std::chrono::nanoseconds(options_.patience).count();
  size_t running = 0;
  size_t stuck = 0;
  for (const auto& worker : loop.workers_) {
    const int64_t since = worker->busy_since.load();
    if (since != 0) ++running;
    if (since != 0 && now - since > patience) ++stuck;
  }
  if (stuck == 0) return running > 0;
  if (stuck < loop.workers_.size()) {
    boost::asio::post(loop.context_, [] {});  // wakes a thread that waits beside the stuck ones, if none polls
  } else if (loop.workers_.size() <= static_cast<size_t>(loop.taken_max_)) {  // one more is for those that are quick
    AddWorker(loop);
  }
  return true;
}

// Threads of the lane on all cores would keep those that answer quick requests, and those of the system that finish
// their syncs, waiting for a slice of the scheduler's time at every step.
bool Loops::SeesQuickRequests() {
  uint64_t quick = 0;
  for (const auto& loop : loops_) quick += loop->figures.quick.load(std::memory_order_relaxed);
  ticks_without_quick_ = quick == quick_before_ ? std::min(ticks_without_quick_ + 1, kQuickTicksMax) : 0;
  quick_before_ = quick;
  return ticks_without_quick_ < kQuickTicksMax;
}

bool Loops::RelieveAll() {
  const int64_t now = SteadyNanos();
  bool running = false;
  for (auto& loop : loops_) running |= Relieve(*loop, now);
  lane_.LeaveCore(SeesQuickRequests());
  running |= lane_.Relieve();
  return running;
}

void Loops::Watch() {
  int quiet_ticks = 0;
  MutexLock lock(mutex_);
  while (!stopping_) {
    wake_.WaitFor(lock, options_.patience, [this]() BRAID_REQUIRES(mutex_) { return stopping_; });
    quiet_ticks = RelieveAll() ? 0 : quiet_ticks + 1;
    if (quiet_ticks < kQuietTicksMax) continue;
    watcher_sleeps_.store(true);
    if (!RelieveAll())
      wake_.Wait(lock, [this]() BRAID_REQUIRES(mutex_) { return stopping_ || !watcher_sleeps_.load(); });
    watcher_sleeps_.store(false);
    quiet_ticks = 0;
  }
}

}  // namespace braid::wire
