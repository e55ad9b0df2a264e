// Ctrl-C and SIGTERM as a flag, for jobs that end in an orderly way; and Patience: the messages of a command while it
// waits for an unreachable server or for its own end after Ctrl-C.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "base/mutex.h"

namespace braid::cli {

/// From here on the first SIGINT, SIGTERM or SIGHUP sets the flag that is returned, and the second ends the process as
/// usual. SIGUSR1, which asks a server to reopen its log file, is ignored.
const std::atomic<bool>& StopOnInterrupt();

struct PatienceOptions {
  /// The flag of StopOnInterrupt(); null: Ctrl-C ends the process as usual.
  const std::atomic<bool>* stop = nullptr;
  /// Ends the process two seconds after the flag was set, whatever it is doing: an uncommitted transaction leaves
  /// nothing. Not for commands whose orderly end is a signal and may take long.
  bool ends_soon = true;
  /// Prints an object to standard output then, too.
  bool json = false;
};

/// From construction to destruction, prints to standard error: that the server does not answer, after one second and
/// then every five, with a new reason only; that it answers again; and at once that an interruption was noticed. The
/// server is asked by a connection of its own, so it does not matter what the command waits in. A store in a directory
/// has no server.
class Patience {
 public:
  Patience(const std::string& store, const PatienceOptions& options);
  ~Patience();
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  class Pinger;
  void Watch();
  void WatchServer();
  void WatchInterrupt();

  const PatienceOptions options_;
  std::unique_ptr<Pinger> pinger_;  // null for a directory
  // Of the thread alone.
  std::chrono::steady_clock::time_point said_at_;  // that it is away; or that it was interrupted
  std::chrono::steady_clock::time_point interrupted_at_;
  std::string said_why_;
  bool away_ = false;
  bool interrupted_ = false;

  Mutex mu_;
  CondVar wake_;
  bool done_ BRAID_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace braid::cli
