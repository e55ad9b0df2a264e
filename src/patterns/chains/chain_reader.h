// The records of one chain, one after another, with a few segments in memory.
#pragma once

#include <deque>

#include "base/assert.h"
#include "patterns/chains/parts.h"
#include "patterns/chains/segment.h"

namespace braid::chains {

/// Segments are asked for by sequence each time: a cursor of a quiet chain would time out while others are read.
class ChainReader {
 public:
  struct Range {
    int64_t chain = 0;
    int64_t from = 1;
    int64_t to = 0;              ///< the last sequence wanted; there must be such a record
    int64_t segments_ahead = 1;  ///< read and kept at a time
  };
  ChainReader(Parts& parts, const Range& range) : parts_(parts), range_(range), next_(range.from) {}

  /// False at the end. kRecordDamaged if a segment cannot be read.
  Result<bool> Next();
  /// After Next() gave true, until it is called again.
  const ChainRecordView& record() const {
    BRAID_ASSERT(index_ < segment_.records().size());
    return segment_.records()[index_];
  }

 private:
  Result<bool> NextSegment();

  Parts& parts_;
  const Range range_;
  int64_t next_;                         // the least sequence still wanted
  std::deque<client::BsonPtr> fetched_;  // the first is in segment_
  Segment segment_;
  size_t index_ = 0;
  bool started_ = false;
};

}  // namespace braid::chains
