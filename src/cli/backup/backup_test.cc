// The formats of backups, and a target directory: whole or not at all.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/random.h"
#include "base/strings.h"
#include "base/testing/testing.h"
#include "cli/backup/format.h"
#include "cli/backup/source.h"
#include "cli/backup/target.h"

namespace braid::backup {
namespace {

namespace fs = std::filesystem;

BackupList SomeList() {
  return {.time_millis = 1'700'000'000'123,
          .store = "identity",
          .position = 42,
          .files = {{.name = "000012.sst", .size = 3, .table = true, .mark = -5, .hash = 0xfedcba9876543210},
                    {.name = "CURRENT", .size = 0}}};
}

uint64_t HashOf(std::string_view bytes) {
  Hasher hasher;
  hasher.Add(bytes);
  return hasher.hash();
}

TEST(BackupListTest, ReadsWhatItWrote) {
  const auto read = BackupList::Parse(SomeList().ToText(), "there");
  ASSERT_OK(read);
  EXPECT_EQ(read->time_millis, 1'700'000'000'123);
  EXPECT_EQ(read->store, "identity");
  EXPECT_EQ(read->position, 42);
  ASSERT_EQ(read->files.size(), 2u);
  EXPECT_EQ(read->files[0].name, "000012.sst");
  EXPECT_EQ(read->files[0].mark, -5);
  EXPECT_EQ(read->files[0].hash, 0xfedcba9876543210);
  EXPECT_TRUE(read->files[0].table);
  EXPECT_FALSE(read->files[1].table);
}

TEST(BackupListTest, EveryChangedByteIsNoticed) {
  const std::string text = SomeList().ToText();
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] ^= 1;
    EXPECT_EQ(BackupList::Parse(changed, "there").status().code(), Code::kStorageCorrupt) << i;
    EXPECT_FALSE(BackupList::Parse(text.substr(0, i), "there").ok()) << i;
  }
}

TEST(TarTest, HeaderReadsBackAndIsChecked) {
  const std::string block = TarHeader({"000012.sst", 12345678901}, 0);
  ASSERT_EQ(block.size(), kTarBlock);
  EXPECT_EQ(ReadTarHeader(TarHeader({"x", kTarFileMax}, 0))->size, kTarFileMax);
  for (size_t i = 0; i < 345; ++i) {
    std::string changed = block;
    changed[i] ^= 2;
    const auto read = ReadTarHeader(changed);
    EXPECT_FALSE(read && (read->name != "000012.sst" || read->size != 12345678901)) << i;
  }
  EXPECT_FALSE(ReadTarHeader(std::string(kTarBlock, '\0')));
  EXPECT_EQ(TarPadding(0), 0u);
  EXPECT_EQ(TarPadding(1), 511u);
  EXPECT_EQ(TarPadding(512), 0u);
}

class BackupTargetTest : public ::testing::Test {
 protected:
  static Status Add(Target& target, BackupList& list, BackupFile file, std::string_view bytes) {
    file.size = bytes.size();
    file.hash = HashOf(bytes);
    BRAID_CHECK_OK(target.StartFile(file));
    BRAID_CHECK_OK(target.Write(bytes));
    BRAID_CHECK_OK(target.EndFile());
    list.files.push_back(file);
    return {};
  }
  /// A backup with one table and a small file.
  fs::path Make(const fs::path& to, std::string_view store = "s") {
    auto target = Target::Open(to);
    EXPECT_OK(target);
    BackupList list{.store = std::string(store)};
    EXPECT_OK((*target)->CheckStore(list.store));
    EXPECT_OK(Add(**target, list, {.name = "000001.sst", .table = true, .mark = 7}, std::string(700, 't')));
    EXPECT_OK(Add(**target, list, {.name = "CURRENT"}, "MANIFEST"));
    const auto path = (*target)->Finish(list);
    EXPECT_OK(path);
    return path.value_or("");
  }
  static std::vector<std::string> Names(const fs::path& directory) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory)) names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }

  test::TemporaryDirectory parent_;
  const fs::path target_ = parent_.path() / "target";
};

using FileNames = std::vector<std::string>;

TEST_F(BackupTargetTest, DirectoryAndArchiveReadBack) {
  for (const fs::path& to : {target_, parent_.path() / "one.tar"}) {
    const fs::path made = Make(to);
    std::string bytes;
    const auto read = ReadWhole(made, {.bytes = [&bytes](std::string_view part) {
                                  bytes += part;
                                  return Status();
                                }});
    ASSERT_OK(read);
    EXPECT_TRUE(read->damage.empty());
    EXPECT_EQ(bytes, std::string(700, 't') + "MANIFEST");
  }
}

TEST_F(BackupTargetTest, ChangedByteOfAnArchiveIsNoticed) {
  const fs::path made = Make(parent_.path() / "one.tar");
  std::ostringstream all;
  all << std::ifstream(made, std::ios::binary).rdbuf();
  const std::string sound = all.str();
  Random random(test::Seed());
  for (int round = 0; round < 200; ++round) {
    // Of the files and the list: what fills blocks up and follows the end means nothing.
    const size_t at = 512 + random.Below(700);
    std::string changed = sound;
    changed[at] ^= static_cast<char>(1 + random.Below(255));
    std::ofstream(made, std::ios::binary | std::ios::trunc) << changed;
    const auto read = ReadWhole(made, {});
    EXPECT_TRUE(!read.ok() || !read->damage.empty()) << at;
  }
}

TEST_F(BackupTargetTest, UnfinishedLeavesNothing) {
  Make(target_);
  {
    auto target = Target::Open(target_);
    ASSERT_OK(target);
    BackupList list;
    ASSERT_OK(Add(**target, list, {.name = "000002.sst", .table = true}, "half"));
    EXPECT_EQ(Names(target_), (FileNames{"backup-000001", "incomplete-2", "lock"}));
    EXPECT_EQ(Target::Open(target_).status().code(), Code::kConflictingOperationInProgress);
  }
  EXPECT_EQ(Names(target_), (FileNames{"backup-000001", "lock"}));
  // What a killed process left goes with the next backup.
  fs::create_directory(target_ / "incomplete-9");
  std::ofstream(target_ / "incomplete-9" / "000002.sst") << "half";
  Make(target_);
  EXPECT_EQ(Names(target_), (FileNames{"backup-000001", "backup-000002", "lock"}));
}

TEST_F(BackupTargetTest, KnownTablesAreSharedAndOutliveTheirFirstBackup) {
  Make(target_);
  auto target = Target::Open(target_);
  ASSERT_OK(target);
  const std::vector<BackupFile> known = (*target)->Known();
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0].mark, 7);
  BackupList list{.store = "s"};
  const auto hash = (*target)->TakeKnown(known[0]);
  ASSERT_OK(hash);
  EXPECT_EQ(*hash, HashOf(std::string(700, 't')));
  list.files.push_back(known[0]);
  const auto path = (*target)->Finish(list);
  ASSERT_OK(path);
  EXPECT_EQ(fs::hard_link_count(*path / "000001.sst"), 2u);
  const auto removed = (*target)->Keep(1);
  ASSERT_OK(removed);
  EXPECT_EQ(*removed, 1u);
  const auto read = ReadWhole(*path, {});
  ASSERT_OK(read);
  EXPECT_TRUE(read->damage.empty());
}

TEST_F(BackupTargetTest, OfOneStoreOnly) {
  Make(target_, "one");
  const auto target = Target::Open(target_);
  ASSERT_OK(target);
  EXPECT_OK((*target)->CheckStore("one"));
  EXPECT_EQ((*target)->CheckStore("other").code(), Code::kIllegalOperation);
}

TEST_F(BackupTargetTest, DamagedTableIsNotUsedAgainIfItIsChecked) {
  const fs::path made = Make(target_);
  std::ofstream(made / "000001.sst", std::ios::binary | std::ios::trunc) << std::string(700, 'T');
  {
    const auto unaware = Target::Open(target_);
    ASSERT_OK(unaware);
    EXPECT_EQ((*unaware)->Known().size(), 1u);
  }
  const auto target = Target::Open(target_, {.check_known = true});
  ASSERT_OK(target);
  EXPECT_TRUE((*target)->Known().empty());
  EXPECT_EQ((*target)->damaged(), std::vector<fs::path>{made / "000001.sst"});
}

TEST_F(BackupTargetTest, TableOfAnotherSizeIsNotUsedAgain) {
  const fs::path made = Make(target_);
  fs::resize_file(made / "000001.sst", 699);
  const auto target = Target::Open(target_);
  ASSERT_OK(target);
  EXPECT_TRUE((*target)->Known().empty());
}

}  // namespace
}  // namespace braid::backup
