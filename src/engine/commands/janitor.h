// Janitor: closes cursors and sessions that nobody has used for long; forgets old samples of operations.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace braid::commands {

struct EngineParts;

/// A thread that looks every few seconds.
class Janitor {
 public:
  explicit Janitor(EngineParts& parts);
  ~Janitor();  ///< stops and joins
  /// One look; for tests and the thread.
  void Sweep();

 private:
  void Loop();
  EngineParts& parts_;
  std::mutex mu_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace braid::commands
