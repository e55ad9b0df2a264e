// Damaged files: what a start says about them, and what a running store does when it reads one.
#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/storage/store.h"
#include "engine/storage/testing/damage_fixture.h"
#include "engine/storage/testing/faulty_file_system.h"

namespace braid::storage {
namespace {

// What the record of what is durable does not know of, because a power failure took its newest state, is a torn end.
TEST_F(DamageTest, CutLogLosesOnlyItsLastCommit) {
  Fill();
  const std::string record = ReadFile(File("DURABLE"));
  Put("last", "not told");
  KillProcess();
  WriteFile(File("DURABLE"), record);
  const fs::path log = File(".log");
  fs::resize_file(log, fs::file_size(log) - 3);
  const LogLines lines;
  Open();
  EXPECT_EQ(KeysFound(), kKeys);
  EXPECT_NE(lines.text().find(log.string()), std::string::npos) << lines.text();
  EXPECT_NE(lines.text().find("torn end"), std::string::npos) << lines.text();
  Open();
  EXPECT_EQ(KeysFound(), kKeys);
}

TEST_F(DamageTest, GarbageBehindTheLogIsDropped) {
  Fill();
  KillProcess();
  std::string garbage(50000, '\0');
  Random random(test::Seed());
  for (char& byte : garbage) byte = static_cast<char>(random.Next());
  for (const std::string& end : {garbage, std::string(70000, '\0'), std::string("x")}) {
    const fs::path log = File(".log");
    WriteFile(log, ReadFile(log) + end);
    const LogLines lines;
    Open();
    EXPECT_EQ(KeysFound(), kKeys);
    EXPECT_NE(lines.text().find(StrCat("last ", end.size(), " of")), std::string::npos) << lines.text();
    KillProcess();
  }
}

// A byte changed anywhere in a log of durable commits: the start names the file, or nothing is missing.
TEST_F(DamageTest, ChangedByteOfALogIsNoticed) {
  Fill(300);
  KillProcess();
  const fs::path sound = directory();
  Random random(test::Seed());
  int refused = 0;
  for (int round = 0; round < 60; ++round) {
    directory_ = parent_.path() / "damaged";
    fs::remove_all(directory());
    fs::copy(sound, directory());
    const fs::path log = File(".log");
    std::string bytes = ReadFile(log);
    const size_t many = round % 3 == 0 ? 1000 : 1;
    const size_t at = random.Below(bytes.size() - many);
    const size_t end = at + 1 + random.Below(many);
    for (size_t i = at; i < end; ++i) bytes[i] ^= static_cast<char>(1 + random.Below(255));
    WriteFile(log, bytes);
    const Status status = TryOpen();
    if (status.ok()) {
      EXPECT_EQ(KeysFound(), kKeys) << "changed: " << at << " to " << end;
      continue;
    }
    ++refused;
    EXPECT_EQ(status.code(), Code::kStorageCorrupt) << status.ToString();
    EXPECT_NE(status.message().find(log.filename().string()), std::string_view::npos) << status.message();
  }
  EXPECT_GT(refused, 0);
}

// RocksDB would skip whole blocks of zeros without a word.
TEST_F(DamageTest, ZeroedBlocksOfALogAreNoticed) {
  Fill();
  KillProcess();
  const fs::path log = File(".log");
  std::string bytes = ReadFile(log);
  ASSERT_GT(bytes.size(), 3u * 32768);
  std::fill(bytes.begin() + 32768, bytes.begin() + 2 * 32768, '\0');
  WriteFile(log, bytes);
  ExpectRefused(log);
}

TEST_F(DamageTest, OlderLogMustBeWhole) {
  Fill();
  KillProcess();
  Open();  // keeps the log, and begins another
  const fs::path older = File(".log");
  Fill(10);
  KillProcess();
  const fs::path copied = directory() / older.filename();
  fs::resize_file(copied, fs::file_size(copied) - 3);
  ExpectRefused(copied);
}

TEST_F(DamageTest, StoreWithoutAnyLogIsRefused) {
  Fill();
  KillProcess();
  std::vector<fs::path> logs;
  for (const auto& file : fs::directory_iterator(directory())) {
    if (file.path().extension() == ".log") logs.push_back(file.path());
  }
  for (const fs::path& log : logs) fs::remove(log);
  EXPECT_EQ(TryOpen().code(), Code::kStorageCorrupt);
}

TEST_F(DamageTest, TableThatIsCutOrGoneIsRefused) {
  Fill();
  ASSERT_OK(store_->Compact());
  store_.reset();
  const fs::path table = File(".sst");
  const std::string bytes = ReadFile(table);
  WriteFile(table, bytes.substr(0, bytes.size() - 100));
  ExpectRefused(table);
  std::string changed = bytes;
  changed[changed.size() - 5] ^= 1;  // the footer
  WriteFile(table, changed);
  ExpectRefused(table);
  fs::remove(table);
  ExpectRefused(table);
  WriteFile(table, bytes);
  Open();
  EXPECT_EQ(KeysFound(), kKeys);
}

TEST_F(DamageTest, ManifestAndCurrentAreNamed) {
  Fill();
  store_.reset();
  const fs::path manifest = File("MANIFEST");
  const std::string bytes = ReadFile(manifest);
  std::string changed = bytes;
  changed[20] ^= 1;
  WriteFile(manifest, changed);
  ExpectRefused(manifest);
  fs::remove(manifest);
  ExpectRefused(manifest);
  WriteFile(manifest, bytes);
  const fs::path current = File("CURRENT");
  WriteFile(current, "nonsense");
  ExpectRefused(current);
}

// A block that is damaged while the store runs: the read says where, and writes end; other reads go on.
TEST_F(DamageTest, DamagedBlockEndsTheWriting) {
  Fill();
  ASSERT_OK(store_->Compact());
  store_.reset();
  const fs::path table = File(".sst");
  std::string bytes = ReadFile(table);
  bytes[100] ^= 1;  // in the first block, that of the first keys
  WriteFile(table, bytes);
  for (const bool by_cursor : {false, true}) {
    Open();
    EXPECT_OK(store_->writable());
    Buffer buffer;
    Status status;
    if (by_cursor) {
      const auto cursor = store_->NewCursor({"", ""}, {});
      cursor->SeekToFirst();
      EXPECT_FALSE(cursor->Valid());
      status = cursor->status();
    } else {
      status = store_->Get("key0", {}, &buffer).status();
    }
    EXPECT_EQ(status.code(), Code::kStorageCorrupt) << status.ToString();
    EXPECT_NE(status.message().find(table.filename().string()), std::string_view::npos) << status.message();
    const Status state = store_->writable();
    EXPECT_EQ(state.code(), Code::kStoreReadOnly);
    EXPECT_NE(state.message().find(table.filename().string()), std::string_view::npos) << state.message();
    WriteSet writes(*store_);
    writes.Put("a", "1");
    EXPECT_EQ(store_->Commit(writes).status().code(), Code::kStoreReadOnly);
    EXPECT_OK(store_->Get("key99", {}, &buffer));
  }
}

TEST_F(DamageTest, DamagedBlockMetByCompactionEndsTheWriting) {
  Fill();
  ASSERT_OK(store_->Compact());
  store_.reset();
  const fs::path table = File(".sst");
  std::string bytes = ReadFile(table);
  bytes[100] ^= 1;
  WriteFile(table, bytes);
  Open();
  WriteSet writes(*store_);
  writes.Put("key0", "new");
  ASSERT_OK(store_->Commit(writes));
  EXPECT_FALSE(store_->Compact().ok());
  const Status state = store_->writable();
  EXPECT_EQ(state.code(), Code::kStoreReadOnly);
  EXPECT_NE(state.message().find(table.filename().string()), std::string_view::npos) << state.message();
}

TEST(FullDiskTest, SaysWhatToDoAndGoesOnAfterwards) {
  const auto files = std::make_shared<FaultyFileSystem>(test::Seed());
  const StoreOptions options{.directory = "/store", .cache_bytes = 1 << 20, .file_system = files};
  auto store = Store::Open(options);
  ASSERT_OK(store);
  files->Arm(Fault::kFullDisk, 100000);
  int acknowledged = 0;
  Status status;
  while (status.ok()) {
    WriteSet writes(**store);
    writes.Put(StrCat("key", acknowledged), std::string(5000, 'x'));
    const auto position = (*store)->Commit(writes);
    status = position.ok() ? (*store)->WaitDurable(*position) : position.error();
    if (status.ok()) ++acknowledged;
  }
  EXPECT_GT(acknowledged, 0);
  EXPECT_EQ(status.code(), Code::kStoreReadOnly);
  EXPECT_NE(status.message().find("Free disk space"), std::string_view::npos) << status.message();
  EXPECT_EQ((*store)->writable().message(), status.message());
  Buffer buffer;
  EXPECT_OK((*store)->Get("key0", {}, &buffer));
  store->reset();
  files->Restart();  // with space again
  store = Store::Open(options);
  ASSERT_OK(store);
  EXPECT_OK((*store)->writable());
  for (int i = 0; i < acknowledged; ++i) {
    const auto found = (*store)->Get(StrCat("key", i), {}, &buffer);
    ASSERT_OK(found);
    EXPECT_TRUE(*found) << i;
  }
}

}  // namespace
}  // namespace braid::storage
