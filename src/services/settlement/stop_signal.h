// A signal that threads can wait for together with a socket.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/strings.h"
#include "braid/status.h"

namespace braid::settlement {

/// Once raised it stays so: fd() can be read for whoever polls it, now or later. Any thread.
class StopSignal {
 public:
  StopSignal() = default;
  ~StopSignal() {
    if (fd_ >= 0) ::close(fd_);
  }
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  /// Before anything else.
  Status Open() {
    fd_ = ::eventfd(0, EFD_CLOEXEC);
    if (fd_ >= 0) return {};
    return Status(Code::kInternalError, StrCat("cannot make an event file descriptor: ", strerror(errno)));
  }
  void Raise() { ::eventfd_write(fd_, 1); }
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

}  // namespace braid::settlement
