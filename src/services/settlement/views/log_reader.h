// The log as batches of outputs, read from where each chain was left and checked on the way.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <vector>

#include "base/workers.h"
#include "services/settlement/output.h"
#include "services/settlement/views/chain_cursor.h"

namespace braid::settlement::views {

/// An output to be applied.
struct Item {
  int64_t chain = 0;
  int64_t sequence = 0;
  Output output;
};

struct Batch {
  std::vector<Item> items;  ///< in the order of sequences; one of several chains comes once, with its smallest
  Positions ends;           ///< the newest record read of each chain that was read
  int64_t records = 0;      ///< read, with those that are items of another chain
  int64_t payload_bytes = 0;
  bool empty() const { return records == 0; }
};

/// Reads every chain from a position to an end. A chain that is damaged ends before the damage. One thread at a time.
class LogReader {
 public:
  struct Options {
    uint32_t batch_records_max = 0;
    size_t batch_bytes_max = 8u << 20;
  };
  LogReader(Clients& clients, const ChainsOptions& log, Workers& workers, const Options& options)
      : clients_(clients), log_(log), workers_(workers), options_(options) {}

  /// Adds chains, up to `heads` or to the record before that of `stop_before`. What the positions and the heads say of
  /// each other is checked.
  Status Start(const Positions& from, const std::vector<ChainHead>& heads,
               const std::map<int64_t, int64_t>& stop_before);

  /// Empty at the end.
  Result<Batch> Next();

  /// The first of each damaged chain.
  const std::map<int64_t, ChainDamage>& damage() const { return damage_; }

 private:
  struct Checked {
    LogRecord record;
    Output output;
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
};

}  // namespace braid::settlement::views
