// Files that have lost what was durable: a start says what is missing, and opens what is left only if it is told to.
#include <map>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/storage/store.h"
#include "engine/storage/testing/damage_fixture.h"

namespace braid::storage {
namespace {

class LossTest : public DamageTest {
 protected:
  std::map<std::string, std::string> Files() const {
    std::map<std::string, std::string> files;
    for (const auto& file : fs::directory_iterator(directory())) {
      if (file.path().filename() != "LOCK") files[file.path().filename()] = ReadFile(file.path());
    }
    return files;
  }

  /// The start is refused, names the file and changes nothing. Then the loss is accepted, and said so; after that the
  /// store opens as any other.
  void ExpectLoss(const fs::path& damaged, int keys_left) {
    const auto before = Files();
    ExpectRefused(damaged);
    EXPECT_TRUE(Files() == before);
    const LogLines lines;
    ASSERT_OK(TryOpen(/*accept_loss=*/true));
    EXPECT_NE(lines.text().find("accepted loss: "), std::string::npos) << lines.text();
    EXPECT_NE(lines.text().find(damaged.filename().string()), std::string::npos) << lines.text();
    EXPECT_EQ(KeysFound(), keys_left);
    Put("new", "after the loss");
    KillProcess();
    ASSERT_OK(TryOpen());
    EXPECT_EQ(KeysFound(), keys_left + 1);
    ASSERT_OK(TryOpen());
    EXPECT_EQ(KeysFound(), keys_left + 1);
  }
  /// A killed store with all keys in the log.
  void FillAndKill() {
    Fill();
    KillProcess();
  }
};

TEST_F(LossTest, ManifestThatLostItsEnd) {
  Fill();
  ASSERT_OK(store_->Compact());
  KillProcess();
  const fs::path manifest = File("MANIFEST");
  fs::resize_file(manifest, fs::file_size(manifest) / 3);  // without the tables, whose log is gone
  ExpectLoss(manifest, 0);
}

TEST_F(LossTest, ManifestWhoseEndIsZeros) {
  Fill();
  ASSERT_OK(store_->Compact());
  KillProcess();
  const fs::path manifest = File("MANIFEST");
  std::string bytes = ReadFile(manifest);
  std::fill(bytes.end() - 100, bytes.end(), '\0');
  WriteFile(manifest, bytes);
  ExpectRefused(manifest);
}

TEST_F(LossTest, NewestLogThatIsGone) {
  FillAndKill();
  const fs::path log = File(".log");
  fs::remove(log);
  ExpectLoss(log, 0);
}

TEST_F(LossTest, NewestLogThatIsEmpty) {
  FillAndKill();
  const fs::path log = File(".log");
  WriteFile(log, "");
  ExpectLoss(log, 0);
}

TEST_F(LossTest, NewestLogThatLostItsLastCommit) {
  FillAndKill();
  const fs::path log = File(".log");
  const std::string bytes = ReadFile(log);
  fs::resize_file(log, bytes.size() - 3);
  ExpectLoss(log, kKeys - 1);
}

TEST_F(LossTest, LastCommitThatIsDamaged) {
  FillAndKill();
  const fs::path log = File(".log");
  std::string bytes = ReadFile(log);
  bytes[bytes.size() - 50] ^= 1;
  WriteFile(log, bytes);
  ExpectRefused(log);
  ASSERT_OK(TryOpen(/*accept_loss=*/true));
  EXPECT_EQ(KeysFound(), kKeys - 1);
  EXPECT_EQ(ReadFile(log.string() + ".lost"), bytes);  // what was cut off is still there
}

// What comes behind a gap is put aside: what is left is the state after some commit.
TEST_F(LossTest, OlderLogThatIsGone) {
  FillAndKill();
  Open();  // keeps the log, and begins another
  const fs::path older = File(".log").filename();
  Put("newer", "1");
  KillProcess();
  fs::remove(directory() / older);
  ExpectLoss(directory() / older, 0);
}

TEST_F(LossTest, TablesAndLogsAfterManyKills) {
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 20; ++i) Put(StrCat("round", round, "/", i), "1");
    if (round == 2) ASSERT_OK(store_->Compact());
    KillProcess();
    Open();
    EXPECT_EQ(KeysFound(), 20 * (round + 1));
  }
}

TEST_F(LossTest, StoreWithoutARecordBeginsOne) {
  FillAndKill();
  fs::remove(File("DURABLE"));
  {
    const LogLines lines;
    Open();
    EXPECT_NE(lines.text().find("no record of what is durable"), std::string::npos) << lines.text();
  }
  EXPECT_EQ(KeysFound(), kKeys);
  KillProcess();
  const LogLines lines;
  Open();
  EXPECT_EQ(lines.text().find("no record"), std::string::npos) << lines.text();
  EXPECT_EQ(KeysFound(), kKeys);
}

TEST_F(LossTest, DamagedRecord) {
  for (const size_t bytes : {0, 5, 12288}) {
    Fill(10);
    KillProcess();
    const fs::path record = File("DURABLE");
    ASSERT_EQ(fs::file_size(record), 12288u);
    WriteFile(record, std::string(bytes, 'x'));
    ExpectRefused(record);
    ASSERT_OK(TryOpen(/*accept_loss=*/true));
    EXPECT_EQ(KeysFound(), kKeys);
    Open();
    EXPECT_EQ(KeysFound(), kKeys);
  }
}

TEST_F(LossTest, CurrentThatIsGoneIsNeverABeginning) {
  FillAndKill();
  const fs::path current = File("CURRENT");
  fs::remove(current);
  const auto before = Files();
  ExpectRefused(current);
  EXPECT_EQ(TryOpen(/*accept_loss=*/true).code(), Code::kStorageCorrupt);
  EXPECT_TRUE(Files() == before);
}

// Any part of a log or manifest that is cut off, zeroed or gone: the start is refused, or nothing is missing.
TEST_F(LossTest, NothingIsLostInSilence) {
  Fill(300);
  ASSERT_OK(store_->Compact());
  for (int i = 0; i < 50; ++i) Put(StrCat("more", i), "in the log");
  KillProcess();
  Open();
  for (int i = 50; i < 100; ++i) Put(StrCat("more", i), "in the next log");
  KillProcess();
  const fs::path sound = directory();
  std::vector<fs::path> names;
  for (const auto& file : fs::directory_iterator(sound)) {
    const std::string name = file.path().filename();
    if (name.ends_with(".log") || name.starts_with("MANIFEST") || name == "CURRENT") names.emplace_back(name);
  }
  ASSERT_GE(names.size(), 4u);
  Random random(test::Seed());
  int refused = 0;
  for (int round = 0; round < 40; ++round) {
    directory_ = parent_.path() / "damaged";
    store_.reset();
    fs::remove_all(directory());
    fs::copy(sound, directory());
    const fs::path file = directory() / names[random.Below(names.size())];
    std::string bytes = ReadFile(file);
    const size_t at = random.Below(bytes.size() + 1);
    const uint64_t how = random.Below(5);
    SCOPED_TRACE(StrCat(file.filename().string(), " at ", at, " of ", bytes.size(), ", way ", how));
    if (how == 0) {
      fs::remove(file);
    } else {
      if (how <= 2) bytes.resize(at);
      if (how == 3) std::fill(bytes.begin() + static_cast<ptrdiff_t>(at), bytes.end(), '\0');
      if (how == 4) bytes.erase(at, random.Below(200));
      WriteFile(file, bytes);
    }
    const Status status = TryOpen();
    if (status.ok()) {
      EXPECT_EQ(KeysFound(), kKeys + 100);
      continue;
    }
    ++refused;
    EXPECT_EQ(status.code(), Code::kStorageCorrupt) << status.ToString();
    EXPECT_NE(status.message().find(file.filename().string()), std::string_view::npos) << status.message();
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace braid::storage
