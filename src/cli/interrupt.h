// Ctrl-C and SIGTERM as a flag, for jobs that end in an orderly way.
#pragma once

#include <atomic>

namespace braid::cli {

/// From here on the first SIGINT, SIGTERM or SIGHUP sets the flag that is returned, and the second ends the process as
/// usual. SIGUSR1, which asks a server to reopen its log file, is ignored.
const std::atomic<bool>& StopOnInterrupt();

}  // namespace braid::cli
