// Janitor: closes idle cursors and sessions; forgets old samples of operations.
#pragma once

#include <thread>

#include "base/mutex.h"

namespace braid::commands {

struct EngineParts;

/// A thread that looks every few seconds.
class Janitor {
 public:
  explicit Janitor(EngineParts& parts);
  ~Janitor();  ///< stops and joins
  /// One pass; for tests and the thread.
  void Sweep();

 private:
  void Loop();
  EngineParts& parts_;
  Mutex mu_;
  CondVar wake_;
  bool stop_ BRAID_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace braid::commands
