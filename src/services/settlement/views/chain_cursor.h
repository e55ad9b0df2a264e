// One chain's records, one after another, with their links checked.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "client/handles.h"
#include "patterns/chains/segment.h"
#include "services/settlement/views/positions.h"

namespace braid::settlement::views {

/// A segment with the document it points into.
struct LoadedSegment {
  client::BsonPtr document;
  chains::Segment segment;
};

/// A record that stays readable as long as this does.
struct LogRecord {
  std::shared_ptr<const LoadedSegment> segment;
  const ChainRecordView* view = nullptr;
  Position end;  ///< of the chain, with this record
};

/// Segments are asked for by sequence each time: a cursor of a quiet chain would time out while the others are read.
class ChainCursor {
 public:
  struct Range {
    int64_t chain = 0;
    Position after;
    int64_t last = 0;                    ///< the last sequence wanted
    std::optional<ChainHash> last_hash;  ///< what the record of `last` must have, if it must be there
    int64_t segments_ahead = 1;
  };
  ChainCursor(Clients& clients, const ChainsOptions& log, const Range& range)
      : clients_(clients), log_(log), range_(range), position_(range.after) {}

  int64_t chain() const { return range_.chain; }
  const LogRecord& record() const { return record_; }
  const std::optional<ChainDamage>& damage() const { return damage_; }

  /// False at the end, or where damage() begins. The contents are not hashed yet.
  Result<bool> Next();

 private:
  Result<bool> NextSegment();
  bool Damaged(int64_t sequence, std::string what);

  Clients& clients_;
  const ChainsOptions& log_;
  const Range range_;
  Position position_;                    // of the record before
  std::deque<client::BsonPtr> fetched_;  // segments to come
  LogRecord record_;
  size_t index_ = 0;  // of the next record in the segment
  std::optional<ChainDamage> damage_;
};

}  // namespace braid::settlement::views
