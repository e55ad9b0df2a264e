// Changed ends of table files: none gets as far as RocksDB.
#include "engine/storage/table_check.h"

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/storage/store.h"
#include "engine/storage/testing/faulty_file_system.h"

namespace braid::storage {
namespace {

class TableCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto store = Store::Open({.directory = "/store", .cache_bytes = 1 << 20, .file_system = files_});
    ASSERT_OK(store);
    WriteSet writes(**store);
    for (int key = 0; key < 200; ++key) writes.Put(StrCat("key", key), StrCat("value", key));
    ASSERT_OK((*store)->Commit(writes));
    ASSERT_OK((*store)->Compact());
    std::vector<std::string> names;
    ASSERT_TRUE(files_->GetChildren("/store", {}, &names, nullptr).ok());
    for (const std::string& name : names) {
      if (!name.ends_with(".sst")) continue;
      ASSERT_TRUE(rocksdb::ReadFileToString(files_.get(), StrCat("/store/", name), &bytes_).ok());
    }
    ASSERT_GT(bytes_.size(), 1000u);
  }

  rocksdb::IOStatus Open(const std::string& bytes) {
    EXPECT_TRUE(rocksdb::WriteStringToFile(files_.get(), bytes, "/1.sst").ok());
    std::unique_ptr<rocksdb::FSRandomAccessFile> file;
    rocksdb::IOStatus status = TableCheck(files_).NewRandomAccessFile("/1.sst", {}, &file, nullptr);
    EXPECT_EQ(file != nullptr, status.ok());
    return status;
  }

  static constexpr size_t kFooter = 53;
  const std::shared_ptr<FaultyFileSystem> files_ = std::make_shared<FaultyFileSystem>(test::Seed());
  std::string bytes_;  // a sound table
};

TEST_F(TableCheckTest, EveryChangedByteOfTheEndIsNoticed) {
  EXPECT_TRUE(Open(bytes_).ok());
  // The first of the properties, behind three numbers of a byte each.
  const size_t properties = bytes_.find("rocksdb.block.based.table.index.type") - 3;
  ASSERT_LT(properties, bytes_.size() - 500);
  Random random(test::Seed());
  for (size_t at = properties; at < bytes_.size(); ++at) {
    // The place of the index, behind the type and that of the metaindex: RocksDB verifies the block that it finds
    // there.
    const size_t footer = bytes_.size() - kFooter;
    if (at >= footer + 4 && at < footer + 7) continue;
    for (int round = 0; round < 3; ++round) {
      std::string changed = bytes_;
      changed[at] ^= static_cast<char>(1 + random.Below(255));
      const rocksdb::IOStatus status = Open(changed);
      ASSERT_TRUE(status.IsCorruption()) << at << " of " << bytes_.size() << ": " << status.ToString();
      ASSERT_NE(status.ToString().find("/1.sst"), std::string::npos) << status.ToString();
    }
  }
}

TEST_F(TableCheckTest, CutAndGarbageAreNoticed) {
  for (size_t size = 0; size < bytes_.size(); ++size) ASSERT_TRUE(Open(bytes_.substr(0, size)).IsCorruption()) << size;
  Random random(test::Seed());
  const auto fill = [&random](std::string& bytes, size_t begin, size_t end) {
    for (size_t at = begin; at < end; ++at) bytes[at] = static_cast<char>(random.Next());
  };
  for (int round = 0; round < 100; ++round) {
    std::string garbage = bytes_;
    fill(garbage, 0, bytes_.size() - kFooter);
    ASSERT_TRUE(Open(garbage).IsCorruption());
    fill(garbage, bytes_.size() - kFooter + 1, bytes_.size() - 12);  // and places that lead anywhere
    ASSERT_TRUE(Open(garbage).IsCorruption());
  }
}

}  // namespace
}  // namespace braid::storage
