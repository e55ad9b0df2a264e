// The records of YCSB, a key "user<number>" and ten fields of a hundred bytes, and the workloads: its core A to F as
// published, and those of single operations.
#pragma once

#include <bson/bson.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/random.h"
#include "bench/generators.h"
#include "braid/status.h"

namespace braid::bench {

constexpr int kFields = 10;
constexpr size_t kFieldBytes = 100;
constexpr std::string_view kFieldNames[kFields] = {"field0", "field1", "field2", "field3", "field4",
                                                   "field5", "field6", "field7", "field8", "field9"};

/// The key of record `number`: "user" and the decimal digits of its hash, so that neighbours in time are none in order.
class Key {
 public:
  explicit Key(uint64_t number);
  std::string_view view() const { return {text_, length_}; }

 private:
  char text_[24];
  size_t length_;
};

/// Printable random bytes for one field.
struct FieldValue {
  char bytes[kFieldBytes];
  void Fill(Random& random);
  std::string_view view() const { return {bytes, kFieldBytes}; }
};

struct Record {
  FieldValue fields[kFields];
  void Fill(Random& random);
};

/// Records of which a scatter query finds some: those with the same `group`, which is the number by this.
constexpr uint64_t kGroupRecords = 10;

/// {_id: key, field0: <binary>, …}: what is sent to the server, and what bare RocksDB stores as the value.
void AppendRecord(bson_t* document, std::string_view key, const Record& record);

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
