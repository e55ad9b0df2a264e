// The tables and the JSON of `braid bench shop`.
#pragma once

#include <cstdio>
#include <string>

#include "bench/shop.h"

namespace braid::cli {

/// Prints each row to `out`, with the header of its table before the first.
bench::ShopObserver ShopTables(std::FILE* out);

/// One object; docs/benchmarks.md has its fields.
std::string ShopJson(const bench::ShopBenchOptions& options, const bench::ShopReport& report);

}  // namespace braid::cli
