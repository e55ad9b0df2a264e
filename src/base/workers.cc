#include "base/workers.h"

#include <algorithm>
#include <atomic>

namespace braid {

struct Workers::Job {
  Job(const std::function<void(size_t)>& work, size_t pieces) : piece(work), count(pieces) {}

  const std::function<void(size_t)>& piece;
  const size_t count;
  std::atomic<size_t> next{0};
  std::mutex mu;
  std::condition_variable all_done;
  size_t done = 0;  // guarded by mu
};

Workers::Workers(size_t threads) {
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Loop(); });
}

Workers::~Workers() {
  {
    std::lock_guard lock(mu_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// Takes pieces while there are any. A helper that comes late finds none and never touches `piece`, which is gone then.
void Workers::Work(Job& job) {
  size_t finished = 0;
  for (size_t i = job.next.fetch_add(1); i < job.count; i = job.next.fetch_add(1)) {
    job.piece(i);
    ++finished;
  }
  if (finished == 0) return;
  std::lock_guard lock(job.mu);
  job.done += finished;
  if (job.done == job.count) job.all_done.notify_all();
}

void Workers::Run(size_t count, const std::function<void(size_t)>& piece) {
  const auto job = std::make_shared<Job>(piece, count);
  const size_t helpers = count < 2 ? 0 : std::min(count - 1, threads_.size());
  if (helpers > 0) {
    std::lock_guard lock(mu_);
    for (size_t i = 0; i < helpers; ++i) queue_.push_back(job);
  }
  for (size_t i = 0; i < helpers; ++i) wake_.notify_one();
  Work(*job);
  std::unique_lock lock(job->mu);
  job->all_done.wait(lock, [&] { return job->done == job->count; });
}

void Workers::Loop() {
  std::unique_lock lock(mu_);
  while (true) {
    wake_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const std::shared_ptr<Job> job = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    Work(*job);
    lock.lock();
  }
}

}  // namespace braid
