// Workers: a few threads that help a caller with pieces of one job.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace braid {

/// Any thread may run jobs. The caller works on its own job too, so a job ends even if every worker is busy.
class Workers {
 public:
  explicit Workers(size_t threads);
  ~Workers();  ///< no job may be running
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Calls piece(0) … piece(count - 1), in any order, on this thread and on idle ones; returns when all are done.
  void Run(size_t count, const std::function<void(size_t)>& piece);

 private:
  struct Job;
  static void Work(Job& job);
  void Loop();

  Mutex mu_;
  CondVar wake_;
  std::deque<std::shared_ptr<Job>> queue_ BRAID_GUARDED_BY(mu_);  // a job once for each helper it can use
  bool stop_ BRAID_GUARDED_BY(mu_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace braid
