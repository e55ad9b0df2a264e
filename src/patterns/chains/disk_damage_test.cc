// A byte changed in a file of the store: verification names the records it costs, and goes on with the others (C5).
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "braid/chains.h"
#include "braid/embedded.h"

namespace braid::chains {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kChains = 3;
constexpr int64_t kCommits = 20;  // each a segment of every chain
constexpr int64_t kRecords = 10;  // of a segment

class DiskDamageTest : public ::testing::Test {
 protected:
  // Random bytes, which do not compress. Of 900 a record each segment has a block of its own; of 20 blocks hold several
  // segments, and the index and the heads are a good part of the file.
  void Fill(int payload_bytes) {
    fs::remove_all(sound_);
    const auto embedded = Open(sound_);
    ASSERT_OK(embedded);
    const auto chains = OpenChains(**embedded);
    ASSERT_OK(chains);
    int64_t sequence = 0;
    for (int64_t commit = 0; commit < kCommits; ++commit) {
      std::vector<ChainRecord> records;
      for (int64_t i = 0; i < kChains * kRecords; ++i) {
        ChainRecord& record = records.emplace_back();
        record.chain = 1 + i % kChains;
        record.sequence = ++sequence;
        for (int byte = 0; byte < payload_bytes; ++byte) record.payload.push_back(static_cast<char>(random_.Next()));
      }
      ASSERT_OK((*chains)->Append(records));
    }
    expected_ = RecordsOf(**chains);
    ASSERT_EQ(expected_.size(), static_cast<size_t>(kChains * kCommits * kRecords));
  }

  static Result<std::unique_ptr<Embedded>> Open(const fs::path& directory) {
    return Embedded::Open({.directory = directory.string(), .cache_bytes = 32 << 20});
  }
  static Result<std::unique_ptr<Chains>> OpenChains(Clients& clients) {
    return Chains::Open(clients, {.database = "test", .log = "log"});
  }
  static std::vector<std::string> RecordsOf(Chains& chains) {
    std::vector<std::string> records;
    EXPECT_OK(chains.Merge(1, [&](const ChainRecordView& record) {
      records.push_back(StrCat(record.chain, " ", record.sequence, " ", record.payload));
      return Status();
    }));
    return records;
  }
  std::vector<fs::path> Files(std::string_view extension) const {
    std::vector<fs::path> files;
    for (const auto& file : fs::directory_iterator(sound_)) {
      if (file.path().extension() == extension) files.push_back(file.path().filename());
    }
    return files;
  }
  /// A copy of the store with one byte changed.
  fs::path Damaged(const fs::path& file, size_t at) {
    fs::remove_all(damaged_);
    fs::copy(sound_, damaged_);
    std::fstream bytes(damaged_ / file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(static_cast<std::streamoff>(at));
    const int byte = bytes.get();
    bytes.seekp(static_cast<std::streamoff>(at));
    bytes.put(static_cast<char>(byte ^ static_cast<int>(1 + random_.Below(255))));
    EXPECT_TRUE(bytes.flush().good());
    return damaged_;
  }

  enum class Noticed { kNothing, kRecords, kFile };
  /// What comes of a damaged copy; whatever it is must be right.
  Noticed Notice(const fs::path& file, const fs::path& directory) {
    const auto refused = [&](const Status& status) {
      EXPECT_EQ(status.code(), Code::kStorageCorrupt) << status.ToString();
      EXPECT_NE(status.message().find(file.string()), std::string_view::npos) << status.ToString();
      return Noticed::kFile;
    };
    const auto embedded = Open(directory);
    if (!embedded.ok()) return refused(embedded.error());
    const auto chains = OpenChains(**embedded);
    if (!chains.ok()) return refused(chains.error());
    const auto report = (*chains)->Verify({});
    if (!report.ok()) return refused(report.error());
    if (report->ok()) {
      EXPECT_EQ(RecordsOf(**chains), expected_);
      return Noticed::kNothing;
    }
    for (const ChainDamage& damage : report->damage) {
      EXPECT_TRUE(damage.chain >= 1 && damage.chain <= kChains) << damage.chain;
      EXPECT_TRUE(damage.sequence >= 0 && damage.sequence <= kChains * kCommits * kRecords + 1) << damage.sequence;
      EXPECT_NE(damage.what.find(file.string()), std::string::npos) << damage.what;
    }
    return Noticed::kRecords;
  }

  const test::TemporaryDirectory parent_;
  const fs::path sound_ = parent_.path() / "sound";
  const fs::path damaged_ = parent_.path() / "damaged";
  Random random_{test::Seed()};
  std::vector<std::string> expected_;
};

TEST_F(DiskDamageTest, AnOrderlyEndLeavesNothingInTheLogOfTheStore) {
  ASSERT_NO_FATAL_FAILURE(Fill(900));
  for (const fs::path& log : Files(".log")) EXPECT_LT(fs::file_size(sound_ / log), 1000u) << log;
  EXPECT_FALSE(Files(".sst").empty());
}

// Anywhere in the table files: records are named, or the file is, or nothing is lost.
TEST_F(DiskDamageTest, EveryChangedByteOfATableIsNamedOrHarmless) {
  std::map<Noticed, int> counts;
  for (const int payload_bytes : {20, 900}) {
    ASSERT_NO_FATAL_FAILURE(Fill(payload_bytes));
    for (const fs::path& file : Files(".sst")) {
      const size_t size = fs::file_size(sound_ / file);
      for (int round = 0; round < test::Rounds(50, 15); ++round) {
        const size_t at = random_.Below(size);
        SCOPED_TRACE(StrCat("byte ", at, " of ", size, " of ", file.string()));
        ++counts[Notice(file, Damaged(file, at))];
      }
    }
  }
  std::printf("%d named by chain and sequence, %d by file, %d harmless\n", counts[Noticed::kRecords],
              counts[Noticed::kFile], counts[Noticed::kNothing]);
  EXPECT_GT(counts[Noticed::kRecords], 0);
}

// One byte in a block of records: that segment is named, everything else is verified.
TEST_F(DiskDamageTest, OnlyTheDamagedRecordsAreLost) {
  ASSERT_NO_FATAL_FAILURE(Fill(900));
  size_t size = 0;
  fs::path table;
  for (const fs::path& file : Files(".sst")) {
    if (fs::file_size(sound_ / file) <= size) continue;
    size = fs::file_size(sound_ / file);
    table = file;
  }
  const auto embedded = Open(Damaged(table, size / 2));
  ASSERT_OK(embedded);
  const auto chains = OpenChains(**embedded);
  ASSERT_OK(chains);
  for (const uint32_t threads : {1u, 4u}) {
    const auto report = (*chains)->Verify({.threads = threads});
    ASSERT_OK(report);
    EXPECT_EQ(report->chains, kChains);
    ASSERT_GE(report->damaged, 1);
    std::set<int64_t> damaged;
    for (const ChainDamage& damage : report->damage) damaged.insert(damage.chain);
    EXPECT_EQ(damaged.size(), 1u);
    EXPECT_LE(report->damaged, 2);
    EXPECT_EQ(report->records, kChains * kCommits * kRecords - report->damaged * kRecords);
    EXPECT_NE(report->damage.front().what.find("cannot be read"), std::string::npos) << report->damage.front().what;
  }
}

}  // namespace
}  // namespace braid::chains
