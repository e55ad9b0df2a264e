#include "bench/workload.h"

#include "base/strings.h"

namespace braid::bench {
namespace {

constexpr Workload kWorkloads[] = {
    // sorted by name; the shares: read, update, insert, scan, read-modify-write; the rest is for ShardWorkloads
    {"a", "Update heavy: half reads, half updates.", {50, 50, 0, 0, 0}, Distribution::kZipfian, false, false},
    {"b", "Read mostly: 5 % updates.", {95, 5, 0, 0, 0}, Distribution::kZipfian, false, false},
    {"c", "Read only.", {100, 0, 0, 0, 0}, Distribution::kZipfian, false, false},
    {"d", "Read latest: 5 % inserts, reads of the newest.", {95, 0, 5, 0, 0}, Distribution::kLatest, false, false},
    {"e", "Short ranges: scans of 1 to 100, 5 % inserts.", {0, 0, 5, 95, 0}, Distribution::kZipfian, false, false},
    {"f", "Half reads, half read-modify-writes.", {50, 0, 0, 0, 50}, Distribution::kZipfian, false, false},
    {"find", "Point finds by _id.", {100, 0, 0, 0, 0}, Distribution::kUniform, false, false},
    {"hot", "Updates of one record by everybody.", {0, 100, 0, 0, 0}, Distribution::kUniform, false, false, true},
    {"insert", "Single inserts into an empty collection.", {0, 0, 100, 0, 0}, Distribution::kUniform, true, false},
    {"insertmany", "Inserts in batches of --batch.", {0, 0, 100, 0, 0}, Distribution::kUniform, true, true},
};

constexpr std::string_view kNames[kOperations] = {"read",  "update", "insert", "scan", "readModifyWrite",
                                                  "merge", "search"};

constexpr Workload kShardWorkloads[] = {
    {"find", "Point finds by _id.", {100, 0, 0, 0, 0, 0, 0}, Distribution::kUniform, false, false},
    {"merge", "A few records by an index, sorted.", {0, 0, 0, 0, 0, 100, 0}, Distribution::kUniform, false, false},
    {"search", "One record without an index.", {0, 0, 0, 0, 0, 0, 100}, Distribution::kUniform, false, false},
};

}  // namespace

const Workload kLoad = {"load", "Filling the store.", {0, 0, 100, 0, 0}, Distribution::kUniform, true, true};

std::string_view Name(Operation operation) { return kNames[static_cast<int>(operation)]; }

std::span<const Workload> Workloads() { return kWorkloads; }
std::span<const Workload> ShardWorkloads() { return kShardWorkloads; }

Result<const Workload*> FindWorkload(std::string_view name) {
  std::string known;
  for (const Workload& workload : kWorkloads) {
    if (workload.name == name) return &workload;
    known += StrCat(known.empty() ? "" : ", ", workload.name);
  }
  return Status(Code::kBadValue, StrCat("unknown workload '", name, "'; choose from ", known));
}

}  // namespace braid::bench
