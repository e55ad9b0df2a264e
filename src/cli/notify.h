// Reports the server's state to the service manager: systemd's protocol for services of Type=notify.
#pragma once

#include <cstdint>
#include <string_view>

namespace braid::cli {

/// Sends `state`, such as "READY=1", to the socket that $NOTIFY_SOCKET names, as sd_notify(3) does. Does nothing if
/// there is none; never waits, and ignores a socket that cannot be reached.
void NotifyServiceManager(std::string_view state);

/// CLOCK_MONOTONIC, which goes with RELOADING=1.
int64_t MonotonicMicros();

}  // namespace braid::cli
