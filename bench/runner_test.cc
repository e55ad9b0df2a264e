// The runner on bare RocksDB, and on targets that count and fail.
#include "bench/runner.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <mutex>
#include <set>

#include "base/testing/testing.h"
#include "bench/suite.h"

namespace braid::bench {
namespace {

// Remembers what it was asked.
class Recorder final : public Target {
 public:
  class Recording final : public Session {
   public:
    explicit Recording(Recorder& to) : to_(to) {}
    Status Read(std::string_view key) override {
      return to_.Note(0, [&] { return to_.keys.contains(std::string(key)); });
    }
    Status Update(std::string_view key, int field, const FieldValue&) override {
      return to_.Note(1, [&] { return to_.keys.contains(std::string(key)) && field < kFields; });
    }
    Status InsertBatch(const std::vector<Insert>& records) override {
      return to_.Note(2, [&] {
        for (const Insert& insert : records) {
          if (!to_.keys.emplace(Key(insert.number).view()).second) return false;
        }
        to_.batches.insert(records.size());
        return true;
      });
    }
    Status Scan(std::string_view, int count) override {
      return to_.Note(3, [&] { return count >= 1 && count <= kScanMax; });
    }
    Status Merge(uint64_t group) override {
      return to_.Note(4, [&] { return group * kGroupRecords < to_.keys.size(); });
    }
    Status Search(uint64_t number) override {
      return to_.Note(5, [&] { return number < to_.keys.size(); });
    }

   private:
    Recorder& to_;
  };

  Result<std::unique_ptr<Session>> Connect() override { return std::make_unique<Recording>(*this); }
  Status Reset() override { return {}; }
  Result<Usage> ReadUsage() override { return Usage{.cpu_micros = cpu += 5000, .resident_mb = 7}; }

  template <typename Check>
  Status Note(int kind, Check check) {
    const std::lock_guard lock(mu);
    ++calls[kind];
    if (fail_after > 0 && --fail_after == 0) return Status(Code::kInternalError, "out of luck");
    return check() ? Status() : Status(Code::kInternalError, "unexpected operation");
  }

  std::mutex mu;
  std::set<std::string> keys;
  std::multiset<size_t> batches;
  int calls[6] = {};
  int fail_after = 0;
  int64_t cpu = 0;
};

RunOptions Options(const char* workload, uint64_t operations, uint64_t records) {
  RunOptions options;
  options.workload = *FindWorkload(workload);
  options.distribution = options.workload->distribution;
  options.threads = 4;
  options.operations = operations;
  options.records = records;
  options.seed = test::Seed();
  return options;
}

void Load(Target& target, uint64_t records) {
  RunOptions options = Options("insertmany", records, 0);
  options.workload = &kLoad;
  options.batch = 64;
  ASSERT_OK(RunWorkload(target, options));
}

TEST(WorkloadTest, SharesAreWhole) {
  std::string last;
  for (const Workload& workload : Workloads()) {
    int sum = 0;
    for (const int share : workload.shares) sum += share;
    EXPECT_EQ(sum, 100) << workload.name;
    EXPECT_LT(last, workload.name);
    last = workload.name;
  }
  EXPECT_THAT(std::string(FindWorkload("z").error().message()), testing::HasSubstr("a, b, c"));
}

TEST(RunnerTest, LoadInsertsEveryRecordOnceInBatches) {
  Recorder target;
  Load(target, 1000);
  EXPECT_EQ(target.keys.size(), 1000u);
  EXPECT_EQ(target.batches.count(64), 15u);
  EXPECT_EQ(target.batches.count(40), 1u);
}

TEST(RunnerTest, SharesAndCountsAreKept) {
  Recorder target;
  Load(target, 500);
  target.calls[2] = 0;
  const auto measured = RunWorkload(target, Options("a", 4000, 500));
  ASSERT_OK(measured);
  EXPECT_EQ(measured->operations, 4000u);
  EXPECT_EQ(measured->latency.count(), 4000u);
  EXPECT_NEAR(target.calls[0], 2000, 200);
  EXPECT_EQ(target.calls[0] + target.calls[1], 4000);
  EXPECT_EQ(measured->resident_mb, 7);
  EXPECT_EQ(measured->cpu_micros_per_operation, 5000.0 / 4000);
}

// Reads go only to records that are stored: the recorder refuses any other key.
TEST(RunnerTest, EveryWorkloadReadsOnlyWhatIsStored) {
  for (const Workload& workload : Workloads()) {
    Recorder target;
    if (!workload.starts_empty) Load(target, 300);
    RunOptions options = Options(workload.name, 3000, workload.starts_empty ? 0 : 300);
    const auto measured = RunWorkload(target, options);
    EXPECT_TRUE(measured.ok()) << workload.name << ": " << measured.status().ToString();
  }
}

TEST(RunnerTest, ShardWorkloadsAskOnlyForWhatIsStored) {
  Recorder target;
  Load(target, 305);  // the last group is not full
  for (const Workload& workload : ShardWorkloads()) {
    RunOptions options = Options("find", 1000, 305);
    options.workload = &workload;
    const auto measured = RunWorkload(target, options);
    EXPECT_TRUE(measured.ok()) << workload.name << ": " << measured.status().ToString();
  }
  EXPECT_EQ(target.calls[0], 1000);
  EXPECT_EQ(target.calls[4], 1000);
  EXPECT_EQ(target.calls[5], 1000);
}

TEST(RunnerTest, FirstErrorEndsTheRun) {
  Recorder target;
  Load(target, 100);
  target.fail_after = 50;
  const auto measured = RunWorkload(target, Options("c", 1'000'000, 100));
  ASSERT_FALSE(measured.ok());
  EXPECT_EQ(measured.error().message(), "out of luck");
  EXPECT_LT(target.calls[0], 1'000'000);
}

TEST(RunnerTest, EndsByTimeAndByRequest) {
  Recorder target;
  Load(target, 100);
  RunOptions options = Options("c", 0, 100);
  options.seconds = 0.05;
  const auto measured = RunWorkload(target, options);
  ASSERT_OK(measured);
  EXPECT_GT(measured->operations, 0u);
  EXPECT_GE(measured->seconds, 0.05);
  const std::atomic<bool> stop{true};
  options.stop = &stop;
  EXPECT_EQ(RunWorkload(target, options)->operations, 0u);
}

TEST(BareTest, RunsEveryWorkloadAndLeavesNothing) {
  const test::TemporaryDirectory directory;
  {
    const auto target = OpenBare(directory.path().string(), false);
    ASSERT_OK(target);
    for (const Workload& workload : Workloads()) {
      ASSERT_OK((*target)->Reset());
      if (!workload.starts_empty) Load(**target, 300);
      const auto measured = RunWorkload(**target, Options(workload.name, 500, workload.starts_empty ? 0 : 300));
      ASSERT_OK(measured);
      EXPECT_EQ(measured->operations, 500u);
    }
    const auto session = (*target)->Connect();
    EXPECT_FALSE((*session)->Read("nobody").ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

TEST(BareTest, RefusesADirectoryThatCannotBe) {
  const auto target = OpenBare("/proc/none", true);
  ASSERT_FALSE(target.ok());
  EXPECT_THAT(std::string(target.error().message()), testing::HasSubstr("--baseline-dir"));
}

TEST(ShardsTest, RowsAreComparedWithOneShard) {
  Row one{.workload = &ShardWorkloads()[0], .distribution = Distribution::kUniform, .threads = 8, .shards = 1};
  one.server.operations = 100;
  one.server.seconds = 1;
  one.server.cpu_micros_per_operation = 20;
  Row four = one;
  four.shards = 4;
  four.server.operations = 50;
  four.server.cpu_micros_per_operation = 30;
  Row fewer_threads = one;
  fewer_threads.threads = 1;
  const std::vector<Row> rows = {fewer_threads, one, four};
  EXPECT_EQ(OnOneShard(rows, four), &rows[1]);
  EXPECT_EQ(OnOneShard({four}, four), nullptr);
  const std::string line = ShardTableRow(four, &one);
  EXPECT_THAT(line, testing::HasSubstr("|   0.50 |"));
  EXPECT_THAT(line, testing::HasSubstr("|      1.50 |"));
  EXPECT_EQ(line.size(), ShardTableRow(four, nullptr).size());
  EXPECT_THAT(ShardsToJson({}, rows), testing::HasSubstr("\"shards\":4,\"ratio\":0.500,\"cpuRatio\":1.500"));
  EXPECT_THAT(ShardsToJson({}, {four}), testing::HasSubstr("\"ratio\":null,\"cpuRatio\":null"));
}

TEST(ReportTest, TableIsAlignedAndJsonIsWhole) {
  Row row{.workload = *FindWorkload("a"), .distribution = Distribution::kZipfian, .threads = 8};
  row.server.operations = 100;
  row.server.seconds = 2;
  row.server.latency.Record(1'500'000);
  row.server.by_operation[0].Record(1'500'000);
  const std::string plain = TableRow(row);
  EXPECT_THAT(plain, testing::HasSubstr("n/a"));
  EXPECT_EQ(row.ratio(), std::nullopt);
  row.bare = row.server;
  row.bare->seconds = 1;
  EXPECT_EQ(row.ratio(), 0.5);
  EXPECT_EQ(TableRow(row).size(), plain.size());

  SuiteOptions options;
  options.server.uri = "mongodb://\"quoted\\";
  const std::string json = ToJson(options, {row});
  bson_error_t error{};
  bson_t* parsed = bson_new_from_json(reinterpret_cast<const uint8_t*>(json.data()), -1, &error);
  ASSERT_NE(parsed, nullptr) << error.message << json;
  bson_iter_t top;
  bson_iter_t found;
  ASSERT_TRUE(bson_iter_init(&top, parsed) &&
              bson_iter_find_descendant(&top, "rows.0.server.latencyMicros.p99", &found));
  EXPECT_EQ(bson_iter_double(&found), 1500);
  ASSERT_TRUE(bson_iter_init_find(&top, parsed, "uri"));
  EXPECT_STREQ(bson_iter_utf8(&top, nullptr), options.server.uri.c_str());
  bson_destroy(parsed);
}

}  // namespace
}  // namespace braid::bench
