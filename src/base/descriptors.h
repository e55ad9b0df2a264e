// Descriptors: how a process divides the open files that the system allows it between the store, connections and the
// rest. A store that cannot open its next log takes no more writes, so connections must never take its share.
#pragma once

#include <cstdint>

#include "braid/status.h"

namespace braid {

struct DescriptorShares {
  uint64_t limit = 0;
  uint64_t store = 0;        ///< table files that the store keeps open
  uint64_t spilled = 0;      ///< files of sorts that wait on disk (spill.h)
  uint64_t connections = 0;  ///< the remainder, after the store's logs, event loops and the like
};

/// The shares of a process that may have `limit` files open.
DescriptorShares ShareDescriptors(uint64_t limit);
/// The shares of this process under its present limit.
DescriptorShares ShareDescriptors();

/// Raises the soft limit (ulimit -Sn) to the hard one. On an error the limit is unchanged.
Status RaiseDescriptorLimit();

}  // namespace braid
