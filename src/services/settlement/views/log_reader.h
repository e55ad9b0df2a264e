// Reading the log for the views: the records of one chain with their links checked, and all chains together as batches
// of outputs, from where each chain was left.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/assert.h"
#include "base/workers.h"
#include "braid/chains.h"
#include "client/handles.h"
#include "patterns/chains/segment.h"
#include "services/settlement/effects.h"

namespace braid::settlement::views {

/// A record of a chain: the newest one that was read or applied. Before the first: sequence 0 and the genesis hash.
struct Position {
  int64_t sequence = 0;
  ChainHash hash{};
  int64_t records = 0;  ///< how many the chain has up to here
};

/// By chain; a chain that is missing is at its beginning.
using Positions = std::map<int64_t, Position>;

inline int64_t SequenceOf(const Positions& positions, int64_t chain) {
  const auto place = positions.find(chain);
  return place == positions.end() ? 0 : place->second.sequence;
}

/// A segment with the document it points into.
struct LoadedSegment {
  client::BsonPtr document;
  chains::Segment segment;
  int64_t at_ms = 0;  ///< when it was stored
};

/// A record that stays valid as long as this object.
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
  const LogRecord& record() const {
    BRAID_ASSERT(record_.view != nullptr);  // Next() gave true
    return record_;
  }
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

/// An output to be applied.
struct Item {
  int64_t chain = 0;
  int64_t sequence = 0;
  int64_t at_ms = 0;  ///< when the log stored it
  Effects effects;
  std::shared_ptr<const void> bytes;  ///< that the effects point into
};

struct Batch {
  std::vector<Item> items;  ///< in the order of sequences; one of several chains comes once, with its smallest
  Positions ends;           ///< the newest record read of each chain that was read
  Positions before;         ///< the same of all batches before it, and what was applied before these
  int64_t records = 0;      ///< read, with those that are items of another chain
  int64_t payload_bytes = 0;
  bool empty() const { return records == 0; }
};

/// Reads every chain from a position to an end. A chain that is damaged ends before the damage. One thread at a time.
class LogReader {
 public:
  struct Options {
    uint32_t batch_records_max = 0;
    size_t batch_bytes_max = 32u << 20;
  };
  LogReader(Clients& clients, const ChainsOptions& log, Workers& workers, const Options& options)
      : clients_(clients), log_(log), workers_(workers), options_(options) {}

  /// Adds chains, up to `heads` or to the record before that of `stop_before`. Checks that the positions and the heads
  /// agree.
  Status Start(const Positions& from, const std::vector<ChainHead>& heads,
               const std::map<int64_t, int64_t>& stop_before);

  /// Empty at the end.
  Result<Batch> Next();

  /// The first of each damaged chain.
  const std::map<int64_t, ChainDamage>& damage() const { return damage_; }

 private:
  struct Checked {
    LogRecord record;
    Effects effects;
    std::shared_ptr<const Output> room;  // that the effects point into, if not into the record
    std::string problem;
  };
  Result<std::vector<Checked>> ReadRecords();
  void Check(std::vector<Checked>& records);
  void Name(const ChainDamage& damage);
  void End(const ChainDamage& damage);

  Clients& clients_;
  const ChainsOptions& log_;
  Workers& workers_;
  const Options options_;
  std::deque<ChainCursor> cursors_;
  std::vector<ChainCursor*> order_;  // a heap: the cursor with the least sequence first
  std::set<int64_t> ended_;          // chains of which nothing more is taken, not even what was read already
  std::map<int64_t, ChainDamage> damage_;
  Positions reached_;      // by the batches that were given
  size_t last_batch_ = 0;  // its records: the next one has about as many
};

}  // namespace braid::settlement::views
