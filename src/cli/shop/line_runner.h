// LineRunner: requests of a file on several threads, with their results in the order of the file.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "braid/status.h"
#include "services/shop/json.h"

namespace braid::cli::shop {

/// Lines that touch the same key run in the order in which they were added, unless both only share it; others run side
/// by side. Holds a bounded number of lines and bytes: Add() waits for the oldest line. Add() and Finish(): one thread.
class LineRunner {
 public:
  /// The result of a line; any thread.
  using RunLine = std::function<std::string(std::string_view line)>;
  /// Results, each with its line's end, in order; one thread at a time. An error ends the printing.
  using Print = std::function<Status(std::string_view results)>;

  LineRunner(size_t threads, RunLine run, Print print);
  ~LineRunner();  ///< waits for what was added
  LineRunner(const LineRunner&) = delete;
  LineRunner& operator=(const LineRunner&) = delete;

  /// False if printing failed: nothing more is of use.
  bool Add(std::string_view line, std::vector<braid::shop::Touched> touched);
  /// Waits until all is printed; the error of printing, if any.
  Status Finish();

 private:
  struct Job {
    std::string line;
    std::vector<braid::shop::Touched> touched;
    size_t missing = 0;  // lanes in which it is not its turn yet
    std::string result;
    bool done = false;
  };
  struct Waiting {
    Job* job;
    bool shared;
    bool granted;
  };
  using Lane = std::deque<Waiting>;

  void Work();
  void EnterLanes(Job& job) BRAID_REQUIRES(mu_);
  void LeaveLanes(Job& job) BRAID_REQUIRES(mu_);
  void GrantNext(Lane& lane) BRAID_REQUIRES(mu_);
  void PrintDone() BRAID_REQUIRES(mu_);  ///< gives the lock back while it prints

  const RunLine run_;
  const Print print_;
  Mutex mu_;
  CondVar ready_changed_;
  CondVar room_changed_;
  std::deque<std::unique_ptr<Job>> jobs_ BRAID_GUARDED_BY(mu_);  // not printed yet, in the order of the file
  std::unordered_map<std::string, Lane> lanes_ BRAID_GUARDED_BY(mu_);
  std::deque<Job*> ready_ BRAID_GUARDED_BY(mu_);
  size_t held_bytes_ BRAID_GUARDED_BY(mu_) = 0;  // of lines and results
  bool printing_ BRAID_GUARDED_BY(mu_) = false;
  bool ended_ BRAID_GUARDED_BY(mu_) = false;
  Status failure_ BRAID_GUARDED_BY(mu_);
  std::vector<std::thread> threads_;
};

}  // namespace braid::cli::shop
