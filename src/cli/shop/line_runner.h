// LineRunner: requests of a file on several threads, with their results in the order of the file.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "braid/status.h"
#include "services/shop/operations.h"

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
  void EnterLanes(Job& job);
  void LeaveLanes(Job& job);
  void GrantNext(Lane& lane);
  void PrintDone(std::unique_lock<std::mutex>& lock);

  const RunLine run_;
  const Print print_;
  std::mutex mu_;
  std::condition_variable ready_changed_;
  std::condition_variable room_changed_;
  // All guarded by mu_.
  std::deque<std::unique_ptr<Job>> jobs_;  // not printed yet, in the order of the file
  std::unordered_map<std::string, Lane> lanes_;
  std::deque<Job*> ready_;
  size_t held_bytes_ = 0;  // of lines and results
  bool printing_ = false;
  bool ended_ = false;
  Status failure_;
  std::vector<std::thread> threads_;
};

}  // namespace braid::cli::shop
