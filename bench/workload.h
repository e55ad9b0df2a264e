// The workloads: YCSB's core A to F as published, and three of single operations.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "bench/generators.h"
#include "braid/status.h"

namespace braid::bench {

enum class Operation { kRead, kUpdate, kInsert, kScan, kReadModifyWrite, kMerge, kSearch };
constexpr int kOperations = 7;
std::string_view Name(Operation operation);

struct Workload {
  const char* name;
  const char* help;
  /// Percent of the operations, in the order of Operation; 100 together.
  int shares[kOperations];
  Distribution distribution;
  /// Starts without records, where the others start with --records of them.
  bool starts_empty;
  /// Inserts go in batches of --batch.
  bool batches;
  /// Everybody works on one and the same record.
  bool one_record = false;

  bool adds_records() const { return shares[static_cast<int>(Operation::kInsert)] > 0; }
};

constexpr int kScanMax = 100;  // a scan reads 1 … this many records, any number as often

/// Sorted by name.
std::span<const Workload> Workloads();
/// By name, as in --workload; the error lists what there is.
Result<const Workload*> FindWorkload(std::string_view name);
/// Filling the store before a run.
extern const Workload kLoad;
/// What is run for each number of shards: point reads, which one shard answers, and queries that all of them answer.
std::span<const Workload> ShardWorkloads();

}  // namespace braid::bench
