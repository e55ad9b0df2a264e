#include "engine/wire/lane.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace braid::wire {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

// The levels by the time that a request has had, the last one for all that run for more than a second.
struct Level {
  microseconds from;
  microseconds turn;
};
constexpr Level kTable[] = {
    {microseconds(0), microseconds(500)},        {microseconds(500), microseconds(1000)},
    {microseconds(1500), microseconds(2000)},    {microseconds(3500), microseconds(5000)},
    {microseconds(8500), microseconds(5000)},    {microseconds(18'500), microseconds(5000)},
    {microseconds(40'000), microseconds(5000)},  {microseconds(80'000), microseconds(5000)},
    {microseconds(160'000), microseconds(5000)}, {microseconds(320'000), microseconds(5000)},
    {microseconds(640'000), microseconds(5000)}, {microseconds(1'280'000), microseconds(5000)},
};
// A turn that others want is not shorter than this: each costs two switches of the stack and two of the queue.
constexpr microseconds kLeastTurn{500};
// So much is given past the request that has waited longest, then it is its turn: a quarter of the time at least.
constexpr microseconds kPreferredMax{15'000};

nanoseconds CpuUsed(clockid_t clock) {
  timespec used{};
  clock_gettime(clock, &used);
  return std::chrono::seconds(used.tv_sec) + nanoseconds(used.tv_nsec);
}

}  // namespace

size_t Lane::LevelOf(nanoseconds had) {
  static_assert(std::size(kTable) == kLevels);
  size_t level = kLevels - 1;
  while (level > 0 && had < kTable[level].from) --level;
  return level;
}

microseconds Lane::TurnAfter(nanoseconds had) { return kTable[LevelOf(had)].turn; }

Lane::Lane(const LaneOptions& options) : options_(options) {
  BRAID_ASSERT(options.at_once > 0 && options.threads_max > 0);
  const MutexLock lock(mu_);
  for (size_t i = 0; i < std::min(options.at_once, options.threads_max); ++i) AddWorker();
}

Lane::~Lane() { Stop(); }

void Lane::Stop() {
  std::vector<std::unique_ptr<Worker>> workers;
  {
    const MutexLock lock(mu_);
    stopping_ = true;
    workers.swap(workers_);
  }
  wake_.NotifyAll();
  for (const auto& worker : workers) worker->thread.join();
}

void Lane::Push(nanoseconds had, Stretch stretch) {
  figures_.waiting.fetch_add(1, std::memory_order_relaxed);
  bool may_take_turn = false;
  {
    const MutexLock lock(mu_);
    levels_[LevelOf(had)].push_back({std::move(stretch), Time::now()});
    ++waiting_;
    NoteWaiting();
    may_take_turn = MayTakeTurn();
  }
  if (may_take_turn) wake_.NotifyOne();
}

void Lane::NoteWaiting() {
  bool wanted = false;
  for (size_t i = 0; i < kLevels; ++i) {
    is_wanted_[i].store(wanted, std::memory_order_relaxed);
    wanted = wanted || !levels_[i].empty();
  }
}

bool Lane::MayTakeTurn() const {
  const size_t at_once = leaves_core_ && options_.at_once > 1 ? options_.at_once - 1 : options_.at_once;
  return waiting_ > 0 && running_ - stuck_ < at_once;
}

void Lane::LeaveCore(bool leave) {
  const MutexLock lock(mu_);
  leaves_core_ = leave;
}

void Lane::AddWorker() {
  Worker& worker = *workers_.emplace_back(std::make_unique<Worker>());
  worker.thread = std::thread([this, &worker] {
    pthread_setname_np(pthread_self(), "braid-lane");
    Run(worker);
  });
  const int failed = pthread_getcpuclockid(worker.thread.native_handle(), &worker.cpu_clock);
  BRAID_ASSERT(failed == 0);
}

void Lane::Run(Worker& worker) {
  MutexLock lock(mu_);
  while (true) {
    wake_.Wait(lock, [this]() BRAID_REQUIRES(mu_) { return stopping_ || MayTakeTurn(); });
    if (stopping_) return;
    Next next = Take();
    const Time::time_point now = Time::now();
    figures_.waiting.fetch_sub(1, std::memory_order_relaxed);
    figures_.waits.fetch_add(1, std::memory_order_relaxed);
    figures_.waited_nanos.fetch_add(nanoseconds(now - next.waiting.since).count(), std::memory_order_relaxed);
    worker.since = now;
    worker.cpu = CpuUsed(worker.cpu_clock);
    ++running_;
    lock.Unlock();
    next.waiting.stretch(next.turn);
    next.waiting.stretch = nullptr;
    lock.Lock();
    --running_;
    worker.since = {};
    if (std::exchange(worker.stuck, false)) --stuck_;
    BRAID_ASSERT(stuck_ <= running_);
  }
}

Lane::Next Lane::Take() {
  const auto is_empty = [](const std::deque<Waiting>& level) { return level.empty(); };
  const auto waits_longer = [](const std::deque<Waiting>& a, const std::deque<Waiting>& b) {
    return !a.empty() && (b.empty() || a.front().since < b.front().since);
  };
  auto level = std::find_if_not(levels_.begin(), levels_.end(), is_empty);
  BRAID_ASSERT(level != levels_.end() && waiting_ > 0);
  const auto longest = std::min_element(levels_.begin(), levels_.end(), waits_longer);
  const bool is_share = preferred_ >= kPreferredMax;  // then it is not cut short either
  if (is_share) level = longest;
  const auto index = static_cast<size_t>(level - levels_.begin());
  const microseconds time = kTable[index].turn;
  preferred_ = level == longest ? microseconds(0) : preferred_ + time;
  Next next{.waiting = std::move(level->front()),
            .turn = {.at_most = time, .is_wanted = is_share ? nullptr : &is_wanted_[index], .at_least = kLeastTurn}};
  level->pop_front();
  --waiting_;
  NoteWaiting();
  return next;
}

// A thread that only had to leave its core to other programs is not stuck: one more would not be served any sooner.
bool Lane::IsStuck(const Worker& worker, Time::time_point now) const {
  if (worker.since == Time::time_point() || now - worker.since <= options_.patience) return false;
  const nanoseconds used = CpuUsed(worker.cpu_clock) - worker.cpu;
  return used > options_.patience || used * 8 < now - worker.since;
}

bool Lane::Relieve() {
  const Time::time_point now = Time::now();
  const MutexLock lock(mu_);
  if (stopping_) return false;
  BRAID_ASSERT(stuck_ <= running_ && running_ <= workers_.size());
  for (const auto& worker : workers_) {
    if (worker->stuck || !IsStuck(*worker, now)) continue;
    worker->stuck = true;
    ++stuck_;
  }
  if (MayTakeTurn()) {
    if (running_ == workers_.size() && workers_.size() < options_.threads_max) AddWorker();
    wake_.NotifyOne();
  }
  return running_ > 0;
}

}  // namespace braid::wire
