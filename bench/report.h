// The figures for people (a table) and for programs (one JSON object).
#pragma once

#include <string>
#include <vector>

#include "bench/shards.h"

namespace braid::bench {

/// Two lines: the names of the columns and a rule.
std::string TableHeader();
/// One line of the table.
std::string TableRow(const Row& row);

/// One object; docs/benchmarks.md describes its fields. Names are never changed, only added.
std::string ToJson(const SuiteOptions& options, const std::vector<Row>& rows);

/// The same for `--shards`. `one`: the row on one shard, or null.
std::string ShardTableHeader();
std::string ShardTableRow(const Row& row, const Row* one);
std::string ShardsToJson(const SuiteOptions& options, const std::vector<Row>& rows);

}  // namespace braid::bench
