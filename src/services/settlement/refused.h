// Refused outputs are kept with the reason and their origin for an operator to examine (C4): nothing is dropped
// silently.
//
// <log>_refused has, for each of them,
//   {_id, at, file, line, output_seq, symbols: […], reason, text, times, skipped}
// where output_seq and symbols are present if they could be determined, text is the beginning of the line if it was not
// an output, times counts how often it came, and skipped is the operator's reason why nothing waits for it, if there is
// one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace braid::settlement
