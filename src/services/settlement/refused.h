// Refused outputs are kept with the reason and their origin for an operator to examine (C4): nothing is dropped
// silently.
//
// <log>_refused has, for each of them,
//   {_id, at, file, line, output_seq, symbols: […], reason, text, times, skipped}
// where output_seq and symbols are present if they could be determined, text is the beginning of the line if it was not
// an output, times counts how often it came, and skipped is the operator's reason why nothing waits for it, if there is
// one.
//
// Unplaced lines are those of them that could be of any symbol: nothing that is new is taken in behind them until they
// are corrected or given up, by this process or a later one (C4).
//
// <log>_unplaced has, for each of them, {_id, at, file, line, output_seq if it could be told, reason}; it is removed
// when the line is settled, and stays in <log>_refused.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "braid/chains.h"

namespace braid::settlement {

struct RefusedOutput {
  std::string source;      ///< a file, "-", or a connection
  uint64_t line = 0;       ///< from 1; of a connection the message
  int64_t output_seq = 0;  ///< 0 if it could not be told
  std::vector<int64_t> symbols;
  std::string reason;
  std::string_view text;  ///< as it came; empty if it was an output
  std::string skipped;
};

/// Any thread.
class RefusedOutputs {
 public:
  explicit RefusedOutputs(Chains& chains) : chains_(chains) {}
  /// Durable when it returns; the same one again is counted.
  Status Keep(const RefusedOutput& refused);
  /// How many there are.
  static Result<int64_t> Count(Clients& clients, const ChainsOptions& log);
  static std::string CollectionOf(const ChainsOptions& log) { return log.log + "_refused"; }

 private:
  Chains& chains_;
};

struct UnplacedLine {
  std::string source;      ///< a file, "-", or a connection
  uint64_t line = 0;       ///< as its source numbers it
  int64_t output_seq = 0;  ///< 0 if it could not be told
  std::string reason;
  bool durable = true;  ///< the store has it; false if it failed when it was told
  /// For people: "line 7 of monday.ndjson".
  std::string Name() const;
  /// For people: what waits for it, and what to do.
  std::string WhyHeldBack() const;
};

/// The unplaced lines of a log, as far as this process knows: those that the store had when it was asked, and its own.
/// Any thread.
class UnplacedLines {
 public:
  explicit UnplacedLines(Chains& chains) : chains_(chains) {}
  /// Asks the store: others may have refused lines, and somebody may have given some up.
  Status Load();

  /// Whether there is none. Cheap: it is asked for every output.
  bool empty() const { return count_.load(std::memory_order_acquire) == 0; }

  /// Durable when it returns. Holds back what is new in any case.
  Status Add(UnplacedLine line);

  struct Verdict {
    Status status;                      ///< kChainHalted: the output has to wait, and for what
    bool known = false;                 ///< its symbols have passed it: it is a duplicate, or breaks its chain
    std::vector<UnplacedLine> settles;  ///< lines that it corrects, once it is stored
  };
  /// `place`: where the output comes from. A line whose sequence could not be told is corrected by an output in the
  /// same place if the source is given again from its first line (`given_again`).
  Verdict Judge(const ChainRecord& record, const UnplacedLine& place, bool given_again) const;

  /// The line was corrected or passed over.
  Status Settle(const UnplacedLine& line);

  static Result<std::vector<UnplacedLine>> List(Clients& clients, const ChainsOptions& log);
  /// Gives all of them up: <log>_repairs keeps {at, by, reason, action: "skip_line", file, line} of each.
  static Status GiveUp(Chains& chains, const std::string& by, const std::string& reason);
  static std::string CollectionOf(const ChainsOptions& log) { return log.log + "_unplaced"; }

 private:
  void Hold(const UnplacedLine& line);
  uint64_t Changes() const;
  /// False, and nothing is changed, if there were changes since.
  bool Replace(uint64_t before, std::vector<UnplacedLine> lines, const std::vector<ChainHead>& heads);

  Chains& chains_;
  std::atomic<size_t> count_ = 0;
  mutable Mutex mu_;
  std::vector<UnplacedLine> lines_ BRAID_GUARDED_BY(mu_);
  uint64_t changes_ BRAID_GUARDED_BY(mu_) = 0;              // by this process
  std::map<int64_t, int64_t> heads_ BRAID_GUARDED_BY(mu_);  // what chains had when the store was asked
};

}  // namespace braid::settlement
