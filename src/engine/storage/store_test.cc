// The store: commits, reopening, durability, cursors; the write set against a model.
#include "engine/storage/store.h"

#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "base/random.h"
#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/storage/keys.h"

namespace braid::storage {
namespace {

using std::string_view_literals::operator""sv;
using Model = std::map<std::string, std::string>;

class StoreTest : public testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() {
    store_.reset();
    auto opened = Store::Open({.directory = directory_.path(), .cache_bytes = 32 << 20});
    ASSERT_OK(opened);
    store_ = std::move(*opened);
  }
  LogPosition Put(std::string_view key, std::string_view value) {
    WriteSet writes(*store_);
    writes.Put(key, value);
    auto position = store_->Commit(writes);
    EXPECT_OK(position);
    EXPECT_TRUE(writes.empty());
    return position.value_or(0);
  }
  std::optional<std::string> Get(std::string_view key, const Snapshot& snapshot = {}) {
    Buffer buffer;
    auto found = store_->Get(key, snapshot, &buffer);
    EXPECT_OK(found);
    if (!found.value_or(false)) return std::nullopt;
    return std::string(buffer.view());
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
};

TEST_F(StoreTest, CommitIsThereAfterReopening) {
  Put("a", "1");
  Put("b", "2");
  Open();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_EQ(Get("b"), "2");
  EXPECT_EQ(Get("c"), std::nullopt);
}

TEST_F(StoreTest, PositionsGrowAndBecomeDurable) {
  const LogPosition first = Put("a", "1");
  const LogPosition second = Put("b", "1");
  EXPECT_LT(first, second);
  ASSERT_OK(store_->WaitDurable(second));
  EXPECT_GE(store_->durable(), second);
  bool called = false;
  store_->WhenDurable(first, [&called](const Status& status, size_t) { called = status.ok(); });
  EXPECT_TRUE(called);
}

TEST_F(StoreTest, WhoeverWaitsIsTold) {
  constexpr int kThreads = 4;
  constexpr int kEach = 50;
  std::vector<std::thread> threads;
  std::atomic<int> durable{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const LogPosition position = Put(StrCat(t, "/", i), "x");
        if (store_->WaitDurable(position).ok() && store_->durable() >= position) ++durable;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(durable, kThreads * kEach);
  EXPECT_LE(store_->figures().syncs, static_cast<uint64_t>(kThreads * kEach) + 5);
  EXPECT_EQ(store_->figures().commits, static_cast<uint64_t>(kThreads * kEach));
}

TEST_F(StoreTest, SecondOpenNamesTheDirectory) {
  auto second = Store::Open({.directory = directory_.path()});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), Code::kFileAlreadyOpen);
  EXPECT_NE(second.error().message().find(directory_.path().string()), std::string_view::npos);
}

TEST_F(StoreTest, FailedSyncMakesItReadOnly) {
  Put("before", "1");
  ASSERT_OK(store_->WaitDurable(store_->newest()));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  rlimit small = old;
  small.rlim_cur = 100;  // the log is longer already: every write to it fails from here on
  setrlimit(RLIMIT_FSIZE, &small);
  WriteSet writes(*store_);
  writes.Put("after", std::string(1000, 'x'));
  const auto position = store_->Commit(writes);
  const Status waited = position.ok() ? store_->WaitDurable(*position) : position.error();
  setrlimit(RLIMIT_FSIZE, &old);
  EXPECT_EQ(waited.code(), Code::kStoreReadOnly) << waited.ToString();
  WriteSet more(*store_);
  more.Put("later", "1");
  EXPECT_EQ(store_->Commit(more).status().code(), Code::kStoreReadOnly);
  EXPECT_EQ(store_->writable().code(), Code::kStoreReadOnly);
  EXPECT_EQ(Get("before"), "1");
  Open();
  EXPECT_OK(store_->writable());
  EXPECT_EQ(Get("before"), "1");
  EXPECT_EQ(Get("after"), std::nullopt);
}

// A scan steps over every version and deletion that the memtable still has; writing it out leaves one of each key.
TEST_F(StoreTest, AMemtableFullOfOldVersionsIsWrittenOut) {
  Model expected;
  for (int round = 0; round < 100; ++round) {
    WriteSet writes(*store_);
    for (int i = 0; i < 200; ++i) writes.Put(StrCat("k", i), expected[StrCat("k", i)] = StrCat(round));
    for (int i = 0; i < 200; ++i) writes.Put(StrCat("m", round, "/", i), "");
    ASSERT_OK(store_->Commit(writes));
    WriteSet removed(*store_);
    for (int i = 0; i < 200; ++i) removed.Delete(StrCat("m", round, "/", i));
    ASSERT_OK(store_->Commit(removed));
  }
  EXPECT_FALSE(store_->Reclaim());  // nobody has read yet
  const auto scan = [&] {
    Model found;
    const auto cursor = store_->NewCursor({"k", "n"}, {});
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) found.emplace(cursor->key(), cursor->value());
    EXPECT_EQ(found, expected);
  };
  int scans = 0;
  for (; scans < 1000 && !store_->Reclaim(); ++scans) scan();
  EXPECT_LT(scans, 1000);
  EXPECT_GT(scans, 5);
  for (int i = 0; i < 100; ++i) scan();
  EXPECT_FALSE(store_->Reclaim());  // not again so soon
}

// Large sets are put into the order of their keys before they are written; what comes later for a key still wins.
TEST_F(StoreTest, ALargeSetKeepsTheOrderOfTheChangesOfOneKey) {
  Random random(test::Seed());
  Model expected;
  Model met;
  std::map<std::string, int64_t> counters;
  for (int round = 0; round < 5; ++round) {
    WriteSet writes(*store_);
    for (int i = 0; i < 500; ++i) {
      std::string key = StrCat("d", random.Below(150));
      if (random.Chance(1, 2))
        key = StrCat("d", random.Below(3), "\0\0\0\0\0 and more bytes than are compared first "sv, key);
      const std::string counter = StrCat("s", random.Below(5));
      switch (random.Below(4)) {
        case 0:
          writes.Delete(key);
          expected.erase(key);
          met[key] = "";
          break;
        case 1:
          writes.Add(counter, i);
          counters[counter] += i;
          break;
        default: expected[key] = met[key] = StrCat(round, "/", i); writes.Put(key, expected[key]);
      }
    }
    ASSERT_OK(store_->Commit(writes));
  }
  Open();
  for (const auto& [key, removed] : met) {
    const auto at = expected.find(key);
    EXPECT_EQ(Get(key), at == expected.end() ? std::nullopt : std::optional(at->second)) << key;
  }
  for (const auto& [counter, sum] : counters) EXPECT_EQ(*store_->ReadCounter(counter, {}), sum) << counter;
}

TEST_F(StoreTest, SnapshotStandsStill) {
  Put("a", "1");
  Snapshot snapshot = store_->TakeSnapshot();
  Put("a", "2");
  Snapshot moved = std::move(snapshot);
  EXPECT_TRUE(snapshot.empty());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(Get("a", moved), "1");
  EXPECT_EQ(Get("a"), "2");
}

TEST_F(StoreTest, CountersAdd) {
  for (int64_t amount : {5, -7, 1000}) {
    WriteSet writes(*store_);
    writes.Add("n", amount);
    writes.Add("n", 1);
    ASSERT_OK(store_->Commit(writes));
  }
  Open();
  EXPECT_EQ(*store_->ReadCounter("n", {}), 1001);
  EXPECT_EQ(*store_->ReadCounter("none", {}), 0);
}

TEST_F(StoreTest, DeleteRangeSmallAndLarge) {
  for (int count : {10, 3000}) {
    WriteSet writes(*store_);
    for (int i = 0; i < count; ++i) writes.Put(StrCat("k", i), "x");
    writes.Put("l", "stays");
    ASSERT_OK(store_->Commit(writes));
    ASSERT_OK(store_->DeleteRange({"k", PrefixEnd("k")}));
    auto cursor = store_->NewCursor({"", ""}, {});
    cursor->SeekToFirst();
    ASSERT_TRUE(cursor->Valid());
    EXPECT_EQ(cursor->key(), "l");
  }
}

TEST_F(StoreTest, PrefixEnds) {
  EXPECT_EQ(PrefixEnd("a"), "b");
  EXPECT_EQ(PrefixEnd(std::string_view("a\xff", 2)), "b");
  EXPECT_EQ(PrefixEnd(std::string_view("\xff\xff", 2)), "");
}

void ExpectSame(Cursor& cursor, const Model& model, const Range& range, Random& random) {
  const auto first = model.lower_bound(range.begin);
  const auto last = range.end.empty() ? model.end() : model.lower_bound(range.end);
  const auto check = [&](Model::const_iterator at) {
    ASSERT_TRUE(cursor.Valid());
    EXPECT_EQ(cursor.key(), at->first);
    EXPECT_EQ(cursor.value(), at->second);
  };
  cursor.SeekToFirst();
  for (auto at = first; at != last; ++at, cursor.Next()) check(at);
  EXPECT_FALSE(cursor.Valid());
  cursor.SeekToLast();
  for (auto at = last; at != first; cursor.Prev()) check(--at);
  EXPECT_FALSE(cursor.Valid());
  if (first == last) return;
  // A walk that turns now and then.
  const std::string from = StrCat("k", random.Below(40));
  auto at = first;
  if (random.Chance(1, 2)) {
    cursor.Seek(from);
    at = model.lower_bound(from);
    if (from < range.begin) at = first;
    if (at == model.end() || (!range.end.empty() && at->first >= range.end)) {
      EXPECT_FALSE(cursor.Valid());
      return;
    }
  } else {
    cursor.SeekForPrev(from);
    at = model.upper_bound(from);
    if (!range.end.empty() && from >= range.end) at = last;
    if (at == model.begin() || from < range.begin || at == first) {
      EXPECT_FALSE(cursor.Valid()) << cursor.key();
      return;
    }
    --at;
  }
  for (int step = 0; step < 20; ++step) {
    check(at);
    if (random.Chance(1, 2)) {
      if (std::next(at) == last) break;
      ++at;
      cursor.Next();
    } else {
      if (at == first) break;
      --at;
      cursor.Prev();
    }
  }
  EXPECT_OK(cursor.status());
}

// Reads through a write set are those of the store with the set's changes made, save points and all.
TEST_F(StoreTest, WriteSetIsTheModel) {
  Random random(test::Seed());
  Model committed;
  // Short keys, and keys of two collections on three shards.
  const auto any_key = [&random] {
    return random.Chance(1, 2) ? StrCat("k", random.Below(40))
                               : StrCat("d000", random.Below(2), "0", random.Below(3), random.Below(9));
  };
  for (int round = 0; round < 60; ++round) {
    WriteSet writes(*store_);
    std::vector<Model> marks;
    Model model = committed;
    const int steps = static_cast<int>(random.Below(120));
    for (int step = 0; step < steps; ++step) {
      const std::string key = any_key();
      switch (random.Below(8)) {
        case 0:
        case 1:
        case 2: {
          const std::string value(random.Below(300), static_cast<char>('a' + random.Below(26)));
          writes.Put(key, value);
          model[key] = value;
          break;
        }
        case 3:
          writes.Delete(key);
          model.erase(key);
          break;
        case 4:
          writes.SetSavePoint();
          marks.push_back(model);
          break;
        case 5:
          if (marks.empty()) break;
          if (random.Chance(1, 2)) {
            writes.RollbackToSavePoint();
            model = marks.back();
          } else {
            writes.PopSavePoint();
          }
          marks.pop_back();
          break;
        case 6: {
          Buffer buffer;
          auto found = writes.Get(key, {}, &buffer);
          ASSERT_OK(found);
          ASSERT_EQ(*found, model.contains(key)) << key;
          if (*found) {
            EXPECT_EQ(buffer.view(), model[key]);
          }
          break;
        }
        default: {
          Range range{any_key(), random.Chance(1, 3) ? "" : any_key()};
          if (!range.end.empty() && range.end < range.begin) std::swap(range.begin, range.end);
          auto cursor = writes.NewCursor(range, {});
          ExpectSame(*cursor, model, range, random);
          if (HasFailure()) return;
        }
      }
    }
    if (random.Chance(3, 4)) {
      ASSERT_OK(store_->Commit(writes));
      committed = model;
    }
    Range all{"", ""};
    auto cursor = store_->NewCursor(all, {});
    ExpectSame(*cursor, committed, all, random);
  }
}

// Keys that come in order are not hashed until one is asked for, and a batch that has become large is moved once.
TEST_F(StoreTest, ALargeSetInOrderIsTheModel) {
  Random random(test::Seed());
  constexpr uint64_t kKeys = 4000;
  const auto key_of = [](uint64_t i) { return StrCat("d000101/", 10'000 + i); };
  WriteSet writes(*store_);
  Model model;
  uint64_t next = 0;
  for (; next < kKeys; ++next) {
    if (next == kKeys / 2) writes.SetSavePoint();
    EXPECT_FALSE(writes.HasChange(key_of(next)));
    writes.Put(StrCat("i000101/", random.Below(kKeys)), std::string(100, 'e'));
    writes.Put(key_of(next), std::string(random.Below(400), 'x'));
    writes.Add("s0001", 1);
  }
  writes.RollbackToSavePoint();
  EXPECT_FALSE(writes.HasChange(key_of(kKeys / 2)));
  for (uint64_t i = 0; i < kKeys; ++i) {
    const std::string key = key_of(random.Chance(1, 4) ? random.Below(kKeys) : i);
    const bool is_there = model.contains(key) || key < key_of(kKeys / 2);
    EXPECT_EQ(writes.HasChange(key), is_there) << key;
    writes.Put(key, model[key] = StrCat(i));
  }
  Buffer buffer;
  for (const auto& [key, value] : model) {
    ASSERT_TRUE(*writes.Get(key, {}, &buffer));
    EXPECT_EQ(buffer.view(), value);
  }
  ASSERT_OK(store_->Commit(writes));
  for (const auto& [key, value] : model) EXPECT_EQ(Get(key), value);
  EXPECT_EQ(*store_->ReadCounter("s0001", {}), kKeys / 2);
}

TEST_F(StoreTest, OverlayCursorDoesNotSeeLaterChanges) {
  WriteSet writes(*store_);
  writes.Put("a", "1");
  auto cursor = writes.NewCursor({"a", "z"}, {});
  writes.Put("b", "2");
  writes.Delete("a");
  cursor->SeekToFirst();
  ASSERT_TRUE(cursor->Valid());
  EXPECT_EQ(cursor->value(), "1");
  cursor->Next();
  EXPECT_FALSE(cursor->Valid());
}

// The shards of a statement are read by several threads, through one write set. Fails under ThreadSanitizer otherwise.
TEST_F(StoreTest, SeveralThreadsReadThroughOneWriteSet) {
  constexpr int kKeys = 200;
  WriteSet writes(*store_);
  for (int i = 0; i < kKeys; ++i) writes.Put(StrCat("k", 1000 + i), "own");
  std::vector<std::thread> threads;
  std::atomic<int> found = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Buffer buffer;
      EXPECT_TRUE(*writes.Get(StrCat("k", 1000 + t), {}, &buffer));
      const auto cursor = writes.NewCursor({"k", "l"}, {});
      for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) ++found;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, 4 * kKeys);
}

TEST(KeysTest, RangesHoldTheirKeys) {
  const auto in = [](const std::string& key, const Range& range) { return key >= range.begin && key < range.end; };
  EXPECT_TRUE(in(DocumentPrefix(7, 3) + "x", DocumentRange(7, 3)));
  EXPECT_TRUE(in(DocumentPrefix(7, 3) + "x", DocumentRange(7)));
  EXPECT_FALSE(in(DocumentPrefix(8, 0), DocumentRange(7)));
  EXPECT_FALSE(in(DocumentPrefix(7, 4), DocumentRange(7, 3)));
  EXPECT_TRUE(in(IndexPrefix(UINT32_MAX, UINT16_MAX) + "\xff", IndexRange(UINT32_MAX)));
  EXPECT_TRUE(in(CountKey(1, 2), CounterRange(1)));
  EXPECT_TRUE(in(BytesKey(1, 2), CounterRange(1)));
  EXPECT_TRUE(in(CatalogKey("a", "b"), CatalogRange()));
  EXPECT_LT(CatalogKey("a", "z"), CatalogKey("ab", "a"));
}

}  // namespace
}  // namespace braid::storage
