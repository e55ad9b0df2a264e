// The tables and the JSON of `braid bench ledger`.
#pragma once

#include <cstdio>
#include <string>

#include "bench/ledger.h"

namespace braid::cli {

/// Prints each row to `out`, with the header of its table before the first.
bench::LedgerObserver LedgerTables(std::FILE* out);

/// One object; docs/benchmarks_ledger.md has its fields.
std::string LedgerJson(const bench::LedgerOptions& options, const bench::LedgerReport& report);

}  // namespace braid::cli
