// The files of a store for a backup: a copy of them opens, with everything that was committed, whatever goes on.
#include "engine/storage/store_files.h"

#include <atomic>
#include <thread>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/storage/testing/damage_fixture.h"

namespace braid::storage {
namespace {

class StoreFilesTest : public DamageTest {
 protected:
  std::unique_ptr<StoreFiles> Pin(Store::Pin pin = Store::Pin::kWholeStore) {
    auto pinned = store_->PinFiles(pin);
    EXPECT_OK(pinned);
    return pinned.ok() ? *std::move(pinned) : nullptr;
  }

  /// Everything that is pinned, in parts of a few bytes more than a block.
  void Copy(StoreFiles& pinned, const fs::path& to) {
    fs::create_directory(to);
    for (const StoreFile& file : pinned.files()) {
      std::string bytes;
      std::string part;
      while (bytes.size() < file.size) {
        ASSERT_OK(pinned.Read(file, bytes.size(), std::min<size_t>(5000, file.size - bytes.size()), &part));
        bytes += part;
      }
      WriteFile(to / file.name, bytes);
    }
  }

  void Overwrite() {
    for (int i = 0; i < kKeys; ++i) Put(StrCat("key", i), "later");
  }

  std::string ValueOf(std::string_view key) {
    Buffer buffer;
    const auto found = store_->Get(key, {}, &buffer);
    EXPECT_OK(found);
    return std::string(buffer.view());
  }
};

TEST_F(StoreFilesTest, CopyHasWhatWasCommittedAndNothingElse) {
  Fill();
  WriteSet writes(*store_);
  writes.Put("unsynced", "yes");
  ASSERT_OK(store_->Commit(writes));
  {
    const auto pinned = Pin();
    Overwrite();
    Put("later", "x");
    Copy(*pinned, parent_.path() / "copy");
  }
  directory_ = parent_.path() / "copy";
  const LogLines lines;
  Open();
  EXPECT_EQ(lines.text(), "");  // neither a torn log nor a missing record of what is durable
  EXPECT_EQ(KeysFound(), kKeys + 1);
  EXPECT_NE(ValueOf("key7"), "later");
  Put("later", "x");
  Open();
  EXPECT_EQ(KeysFound(), kKeys + 2);
}

// Two keys whose sum never changes, written by every commit.
TEST_F(StoreFilesTest, CopyUnderLoadIsOneMoment) {
  std::atomic<bool> over{false};
  std::atomic<int> acknowledged{0};
  std::thread writer([&] {
    for (int i = 1; !over; ++i) {
      WriteSet writes(*store_);
      writes.Put("up", StrCat(i));
      writes.Put("down", StrCat(-i));
      writes.Put(StrCat("filler", i % 100), std::string(1000, 'x'));
      const auto position = store_->Commit(writes);
      if (position.ok() && store_->WaitDurable(*position).ok()) acknowledged = i;
    }
  });
  std::vector<int> before;
  for (int round = 0; round < 5; ++round) {
    while (acknowledged <= 20 * round) std::this_thread::yield();
    before.push_back(acknowledged);
    const auto pinned = Pin();
    Copy(*pinned, parent_.path() / StrCat("copy", round));
  }
  over = true;
  writer.join();
  for (int round = 0; round < 5; ++round) {
    directory_ = parent_.path() / StrCat("copy", round);
    Open();
    const int up = std::stoi(ValueOf("up"));
    EXPECT_EQ(up + std::stoi(ValueOf("down")), 0);
    EXPECT_GE(up, before[static_cast<size_t>(round)]);
  }
}

TEST_F(StoreFilesTest, PinnedFilesStayAndThenGo) {
  Fill();
  ASSERT_OK(store_->Compact());
  auto pinned = Pin(Store::Pin::kTables);
  ASSERT_FALSE(pinned->files().empty());
  const fs::path table = directory() / pinned->files().front().name;
  Overwrite();
  ASSERT_OK(store_->Compact());
  EXPECT_TRUE(fs::exists(table));
  ASSERT_OK(pinned->CheckBlocks(pinned->files().front()));
  pinned.reset();
  EXPECT_FALSE(fs::exists(table));
}

TEST_F(StoreFilesTest, SameTableHasTheSameMarkAndAnotherHasNot) {
  Fill();
  ASSERT_OK(store_->Compact());
  const StoreFile first = Pin()->files().front();
  const StoreFile again = Pin()->files().front();
  EXPECT_EQ(first.name, again.name);
  EXPECT_EQ(first.mark, again.mark);
  // A store with the same history has tables with the same names and sizes.
  store_.reset();
  directory_ = parent_.path() / "twin";
  Open();
  Fill();
  ASSERT_OK(store_->Compact());
  const StoreFile twin = Pin()->files().front();
  EXPECT_NE(first.mark, twin.mark);
}

TEST_F(StoreFilesTest, CopyWithoutTheEndOfItsManifestIsRefused) {
  Fill();
  Copy(*Pin(), parent_.path() / "copy");
  directory_ = parent_.path() / "copy";
  const fs::path manifest = File("MANIFEST");
  fs::resize_file(manifest, fs::file_size(manifest) - 1);
  ExpectRefused(manifest);
}

TEST_F(StoreFilesTest, DamagedBlockIsNamed) {
  Fill();
  ASSERT_OK(store_->Compact());
  const auto pinned = Pin(Store::Pin::kTables);
  const StoreFile& table = pinned->files().front();
  std::string bytes = ReadFile(directory() / table.name);
  bytes[bytes.size() / 3] ^= 1;
  WriteFile(directory() / table.name, bytes);
  const Status status = pinned->CheckBlocks(table);
  EXPECT_EQ(status.code(), Code::kStorageCorrupt) << status.ToString();
  EXPECT_NE(status.message().find(table.name), std::string_view::npos) << status.message();
  EXPECT_OK(store_->writable());
}

TEST_F(StoreFilesTest, OnlySoManyAtOnce) {
  std::vector<std::unique_ptr<StoreFiles>> pinned;
  for (int i = 0; i < Store::kPinsMax; ++i) pinned.push_back(Pin(Store::Pin::kTables));
  EXPECT_EQ(store_->PinFiles(Store::Pin::kTables).status().code(), Code::kConflictingOperationInProgress);
  pinned.pop_back();
  EXPECT_OK(store_->PinFiles(Store::Pin::kTables));
}

TEST_F(StoreFilesTest, BackupIsNotOpenedAsAStore) {
  Fill();
  store_.reset();
  WriteFile(directory() / "BACKUP", "");
  const Status status = TryOpen();
  EXPECT_EQ(status.code(), Code::kIllegalOperation);
  EXPECT_NE(status.message().find("braid restore"), std::string_view::npos) << status.message();
}

}  // namespace
}  // namespace braid::storage
