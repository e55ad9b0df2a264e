// Tells the service manager how the server is doing: systemd's protocol for services of Type=notify.
#pragma once

#include <cstdint>
#include <string_view>

namespace braid::cli {

/// Sends `state`, such as "READY=1", to the socket that $NOTIFY_SOCKET names, as sd_notify(3) does. Nothing happens if
/// there is none; one that cannot be reached is no reason to end, and never waited for.
void NotifyServiceManager(std::string_view state);

/// CLOCK_MONOTONIC, which goes with RELOADING=1.
int64_t MonotonicMicros();

}  // namespace braid::cli
