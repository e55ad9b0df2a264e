// The memtable: within RocksDB it gives what a map gives, and readers beside the writer see a complete list.
#include "engine/storage/memtable.h"

#include <rocksdb/db.h>
#include <rocksdb/memtablerep.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "base/strings.h"
#include "base/testing/testing.h"

namespace braid::storage {
namespace {

using Model = std::map<std::string, std::string>;

class MemtableTest : public testing::Test {
 protected:
  void SetUp() override {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.memtable_factory = NewMemtableFactory();
    ASSERT_NE(options.memtable_factory, nullptr);
    options.allow_concurrent_memtable_write = false;
    options.write_buffer_size = 64 << 20;  // everything stays in the table
    rocksdb::DB* db = nullptr;
    const rocksdb::Status opened = rocksdb::DB::Open(options, directory_.path(), &db);
    ASSERT_TRUE(opened.ok()) << opened.ToString();
    db_.reset(db);
  }

  std::optional<std::string> Get(const std::string& key, const rocksdb::Snapshot* snapshot = nullptr) {
    rocksdb::ReadOptions reading;
    reading.snapshot = snapshot;
    std::string value;
    const rocksdb::Status status = db_->Get(reading, key, &value);
    EXPECT_TRUE(status.ok() || status.IsNotFound()) << status.ToString();
    return status.ok() ? std::optional(value) : std::nullopt;
  }
  std::unique_ptr<rocksdb::Iterator> Cursor(const rocksdb::Snapshot* snapshot = nullptr) {
    rocksdb::ReadOptions reading;
    reading.snapshot = snapshot;
    return std::unique_ptr<rocksdb::Iterator>(db_->NewIterator(reading));
  }

  void ExpectModel(const Model& model, Random& random, const rocksdb::Snapshot* snapshot = nullptr) {
    const auto cursor = Cursor(snapshot);
    cursor->SeekToFirst();
    for (const auto& [key, value] : model) {
      ASSERT_TRUE(cursor->Valid());
      ASSERT_EQ(cursor->key().ToString(), key);
      ASSERT_EQ(cursor->value().ToString(), value);
      cursor->Next();
    }
    EXPECT_FALSE(cursor->Valid());
    cursor->SeekToLast();
    for (auto entry = model.rbegin(); entry != model.rend(); ++entry) {
      ASSERT_TRUE(cursor->Valid());
      ASSERT_EQ(cursor->key().ToString(), entry->first);
      cursor->Prev();
    }
    EXPECT_FALSE(cursor->Valid());
    for (int i = 0; i < 200; ++i) {
      const std::string key = RandomKey(random);
      const auto stored = model.find(key);
      EXPECT_EQ(Get(key, snapshot), stored == model.end() ? std::nullopt : std::optional(stored->second));
      const auto behind = model.lower_bound(key);
      cursor->Seek(key);
      ASSERT_EQ(cursor->Valid(), behind != model.end());
      if (behind != model.end()) {
        EXPECT_EQ(cursor->key().ToString(), behind->first);
      }
      const auto after = model.upper_bound(key);
      cursor->SeekForPrev(key);
      ASSERT_EQ(cursor->Valid(), after != model.begin());
      if (after != model.begin()) {
        EXPECT_EQ(cursor->key().ToString(), std::prev(after)->first);
      }
    }
  }

  // Some are prefixes of others, and some have so many bytes that their size takes two.
  static std::string RandomKey(Random& random) {
    std::string key(random.Below(4), static_cast<char>(random.Below(256)));
    if (random.Below(8) == 0) key.append(random.Below(300), 'k');
    key += StrCat(random.Below(2000));
    return key;
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<rocksdb::DB> db_;
};

TEST_F(MemtableTest, GivesWhatAMapGives) {
  Random random(test::Seed());
  Model model;
  Model at_snapshot;
  const rocksdb::Snapshot* snapshot = nullptr;
  for (int round = 0; round < 60; ++round) {
    std::vector<std::string> keys(1 + random.Below(200));
    std::ranges::generate(keys, [&] { return RandomKey(random); });
    if (random.Below(2) == 0) std::ranges::sort(keys);
    rocksdb::WriteBatch batch;
    for (const std::string& key : keys) {
      if (random.Below(4) == 0) {
        batch.Delete(key);
        model.erase(key);
      } else {
        const std::string value = StrCat(key, "=", round, ".", random.Below(1000));
        batch.Put(key, value);
        model[key] = value;
      }
    }
    ASSERT_TRUE(db_->Write({}, &batch).ok());
    if (round == 30) {
      snapshot = db_->GetSnapshot();
      at_snapshot = model;
    }
    if (round % 10 == 9) ExpectModel(model, random);
  }
  ExpectModel(at_snapshot, random, snapshot);
  db_->ReleaseSnapshot(snapshot);
  ASSERT_TRUE(db_->Flush({}).ok());  // reads all of it once more
  ExpectModel(model, random);
}

// What a reader has been told of is there, and the rest is in order, wherever the writer is at that moment.
TEST_F(MemtableTest, ReadersBesideTheWriterSeeACompleteList) {
  constexpr int kKeys = 100'000;
  constexpr int kInOrder = 50;  // keys that follow each other
  const auto key_of = [](int i) {
    return StrCat(i % kInOrder < kInOrder / 2 ? "a" : "b", 1'000'000 + i * 7919 % kKeys);
  };
  std::atomic<int> written = 0;
  std::vector<std::thread> readers;
  for (int r = 0; r < 3; ++r) {
    readers.emplace_back([&, r] {
      Random random(test::Seed() + static_cast<uint64_t>(r));
      for (int now = 0; now < kKeys;) {
        now = written.load(std::memory_order_acquire);
        for (int i = 0; i < 50 && now > 0; ++i) {
          const auto any = static_cast<int>(random.Below(static_cast<uint64_t>(now)));
          ASSERT_EQ(Get(key_of(any)), StrCat(any));
        }
        const auto cursor = Cursor();
        std::string before;
        cursor->Seek(key_of(static_cast<int>(random.Below(kKeys))));
        for (int i = 0; i < 200 && cursor->Valid(); ++i, cursor->Next()) {
          ASSERT_LT(before, cursor->key().ToString());
          before = cursor->key().ToString();
        }
      }
    });
  }
  for (int i = 0; i < kKeys;) {
    rocksdb::WriteBatch batch;
    for (const int end = std::min(kKeys, i + 1 + i % 40); i < end; ++i) batch.Put(key_of(i), StrCat(i));
    ASSERT_TRUE(db_->Write({}, &batch).ok());
    written.store(i, std::memory_order_release);
  }
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace braid::storage
