// The progress of a long job: one line that is rewritten on a terminal, a line now and then elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "base/mutex.h"

namespace braid::transfer {

/// Prints to standard error from a thread of its own until destroyed; silent for jobs that end before the first line.
class Progress {
 public:
  /// `text` is called from the other thread. `quiet`: never prints.
  Progress(std::function<std::string()> text, bool quiet);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void Run();

  const std::function<std::string()> text_;
  const bool terminal_;
  Mutex mu_;
  CondVar wake_;
  bool ended_ BRAID_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

/// Prints a line to standard error, clearing a progress line that may be there. Any thread.
void PrintLine(const std::string& line);

/// "12.5 MB"
std::string Bytes(uint64_t bytes);

}  // namespace braid::transfer
