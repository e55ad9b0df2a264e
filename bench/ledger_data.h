// What the ledger's runs append: records that look like outputs of a matching engine, and how they fall on symbols.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "braid/chains.h"

namespace braid::bench {

/// How records are spread over chains.
enum class Spread {
  kGlobal,  ///< one chain for everything
  kEqual,   ///< the same share for each symbol
  kHot,     ///< one symbol has 90 %, the others share the rest evenly
  kReal,    ///< as often as the products of a shop are sold
};

/// So many products the real skew is known of.
constexpr uint32_t kSymbolsMax = 64;

const char* NameOf(Spread spread);

/// The share of each chain; together 1. `symbols`: 1..kSymbolsMax.
std::vector<double> SharesOf(Spread spread, uint32_t symbols);

struct RecordsOptions {
  Spread spread = Spread::kEqual;
  uint32_t symbols = 8;
  uint64_t count = 0;
  /// About so many bytes of JSON, but never less than an output without trades has; exactly so many random bytes.
  size_t bytes = 300;
  bool random_bytes = false;
  uint64_t seed = 1;
};

/// Sequences from 1 on, chains from 1 on. The same options make the same records.
std::vector<ChainRecord> MakeRecords(const RecordsOptions& options);

}  // namespace braid::bench
