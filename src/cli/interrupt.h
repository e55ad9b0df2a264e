// Ctrl-C and SIGTERM as a flag, for jobs that want to end tidily.
#pragma once

#include <atomic>

namespace braid::cli {

/// From here on the first SIGINT or SIGTERM sets the flag that is returned, and the second ends the process as usual.
const std::atomic<bool>& StopOnInterrupt();

}  // namespace braid::cli
