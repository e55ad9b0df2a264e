// Descriptors: how the open files that the system allows a process are shared between the store, connections and the
// rest. A store that cannot open its next log takes no more writes, so connections must never take its share.
#pragma once

#include <cstdint>

#include "braid/status.h"

namespace braid {

struct DescriptorShares {
  uint64_t limit = 0;
  uint64_t store = 0;        ///< table files that the store keeps open
  uint64_t spilled = 0;      ///< files of sorts that wait on disk (spill.h)
  uint64_t connections = 0;  ///< what is left after these, the store's logs, event loops and the like
};

/// The shares of a process that may have so many files open.
DescriptorShares ShareDescriptors(uint64_t limit);
/// The same for this process as it is now.
DescriptorShares ShareDescriptors();

/// Raises the soft limit (ulimit -Sn) to the hard one. The error says that it stays as it is.
Status RaiseDescriptorLimit();

}  // namespace braid
