// A chain's segments in groups: while one group is checked, the next is read.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/workers.h"
#include "patterns/chains/log.h"
#include "patterns/chains/verify.h"

namespace braid::chains {

/// The rest of a cursor, checked by this thread and by workers that are idle.
class CheckedSegments {
 public:
  CheckedSegments(SegmentCursor& cursor, int64_t chain, Workers& helpers)
      : cursor_(cursor), chain_(chain), helpers_(helpers) {}

  /// Calls `each` in the order of the chain, on this thread. An error: the store failed.
  Status Run(const std::function<void(const SegmentCheck&)>& each);

 private:
  struct Slot {
    std::vector<uint8_t> bytes;  // the document: the cursor's own is gone with the next
    SegmentCheck check;
  };
  struct Group {
    std::vector<std::unique_ptr<Slot>> slots;  // kept, so that memory is not asked for again
    size_t used = 0;
  };

  Status Read(Group& group);
  void Check(Group& group, size_t piece) const;

  SegmentCursor& cursor_;
  const int64_t chain_;
  Workers& helpers_;
};

}  // namespace braid::chains
