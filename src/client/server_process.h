// `braid serve` as a process of its own, for measurements and tests that must tell the server from the client.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "braid/status.h"

namespace braid::client {

/// Runs while the object lives; the destructor sends SIGTERM and waits for the end. The server also ends if this
/// process dies.
class ServerProcess {
 public:
  struct Options {
    std::string directory;
    int shards = 0;                          // of a new directory; 0 as usual
    std::string program = "/proc/self/exe";  // braid; by default this same program
  };
  /// Starts it and waits until it listens.
  static Result<std::unique_ptr<ServerProcess>> Start(const Options& options);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  const std::string& uri() const { return uri_; }
  /// kill -9.
  void Kill();

 private:
  explicit ServerProcess(pid_t pid) : pid_(pid) {}
  const pid_t pid_;
  std::string uri_;
};

}  // namespace braid::client
