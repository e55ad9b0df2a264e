// Made-up outputs of a matching engine, to try things out with: the same seed makes the same ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "services/settlement/output.h"

namespace braid::settlement {

struct GeneratorOptions {
  uint32_t symbols = 8;        ///< numbered from 1
  uint32_t hot_percent = 0;    ///< of the outputs, those of symbol 1 beyond its even share
  uint32_t cross_percent = 0;  ///< of the outputs with trades, those whose trades are of two symbols (C9)
  uint32_t users = 1000;
  uint64_t seed = 1;
  int64_t first_sequence = 1;
};

/// Orders that trade, rest or are cancelled, and now and then a transfer between users (system, symbol 0). The balance
/// events of an output sum to zero for each asset. Not thread-safe.
class Generator {
 public:
  explicit Generator(const GeneratorOptions& options);
  Output Next();

 private:
  int64_t PickSymbol();
  Id PickUser();
  void AddTrade(Output& output, int64_t symbol);
  void AddTransfer(Output& output);

  const GeneratorOptions options_;
  Random random_;
  int64_t sequence_;
  int64_t order_ = 0;
  int64_t trade_ = 0;
  std::vector<int64_t> prices_;  // of each symbol in hundredths, walking at random
};

}  // namespace braid::settlement
