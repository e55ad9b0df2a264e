// `braid serve` as a process of its own, for measurements that must tell the server from the client.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/status.h"

namespace braid::cli {

/// Runs while the object lives; then SIGTERM, and the end is waited for. Ends too if this process dies.
class ServerProcess {
 public:
  /// Starts this same program on the directory and waits until it listens.
  /// `shards`: of a new directory; 0 as usual.
  static Result<std::unique_ptr<ServerProcess>> Start(const std::string& directory, int shards = 0);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  const std::string& uri() const { return uri_; }

 private:
  explicit ServerProcess(pid_t pid) : pid_(pid) {}
  const pid_t pid_;
  std::string uri_;
};

}  // namespace braid::cli
