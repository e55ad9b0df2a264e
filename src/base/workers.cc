#include "base/workers.h"

#include <algorithm>
#include <atomic>

#include "base/mutex.h"

namespace braid {

struct Workers::Job {
  Job(const std::function<void(size_t)>& work, size_t pieces) : piece(work), count(pieces) {}

  const std::function<void(size_t)>& piece;
  const size_t count;
  std::atomic<size_t> next{0};
  Mutex mu;
  CondVar all_done;
  size_t done BRAID_GUARDED_BY(mu) = 0;
};

Workers::Workers(size_t threads) {
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

Workers::~Workers() {
  {
    const MutexLock lock(mu_);
    stop_ = true;
  }
  wake_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

// Takes pieces while there are any. A helper that comes late finds none and never touches `piece`, which no longer
// exists then.
void Workers::Work(Job& job) {
  size_t finished = 0;
  for (size_t i = job.next.fetch_add(1); i < job.count; i = job.next.fetch_add(1)) {
    job.piece(i);
    ++finished;
  }
  if (finished == 0) return;
  const MutexLock lock(job.mu);
  job.done += finished;
  if (job.done == job.count) job.all_done.NotifyAll();
}

void Workers::Run(size_t count, const std::function<void(size_t)>& piece) {
  const auto job = std::make_shared<Job>(piece, count);
  const size_t helpers = count < 2 ? 0 : std::min(count - 1, threads_.size());
  if (helpers > 0) {
    const MutexLock lock(mu_);
    for (size_t i = 0; i < helpers; ++i) queue_.push_back(job);
  }
  for (size_t i = 0; i < helpers; ++i) wake_.NotifyOne();
  Work(*job);
  MutexLock lock(job->mu);
  job->all_done.Wait(lock, [&]() BRAID_REQUIRES(job->mu) { return job->done == job->count; });
}

void Workers::Loop() {
  MutexLock lock(mu_);
  while (true) {
    wake_.Wait(lock, [this]() BRAID_REQUIRES(mu_) { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const std::shared_ptr<Job> job = std::move(queue_.front());
    queue_.pop_front();
    lock.Unlock();
    Work(*job);
    lock.Lock();
  }
}

}  // namespace braid
