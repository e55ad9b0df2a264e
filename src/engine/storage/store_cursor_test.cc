// Cursors that move from one range to another: they read what a new cursor would.
#include <algorithm>
#include <map>
#include <vector>

#include "base/random.h"
#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/storage/store.h"

namespace braid::storage {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

constexpr int kGroups = 40;
constexpr int kKeysOfGroup = 60;

class StoreCursorTest : public testing::Test {
 protected:
  void SetUp() override { Open(); }
  void Open() {
    store_.reset();
    auto opened = Store::Open({.directory = directory_.path(), .cache_bytes = 32 << 20});
    ASSERT_OK(opened);
    store_ = std::move(*opened);
  }
  static std::string Key(int group, int number) { return StrCat("k", 100 + group, ".", 100 + number); }

  /// Changes about one in `every` keys, some of them by deleting them.
  void Change(Random& random, uint64_t every) {
    WriteSet writes(*store_);
    for (int group = 0; group < kGroups; ++group) {
      for (int number = 0; number < kKeysOfGroup; ++number) {
        if (!random.Chance(1, every)) continue;
        const std::string key = Key(group, number);
        if (random.Chance(1, 3)) {
          writes.Delete(key);
          model_.erase(key);
        } else {
          model_[key] = StrCat(random.Below(1000000), std::string(30, 'v'));
          writes.Put(key, model_[key]);
        }
      }
    }
    ASSERT_OK(store_->Commit(writes));
  }
  /// From nothing at all to several groups.
  static Range RandomRange(Random& random) {
    const auto end = [&random] {
      return Key(static_cast<int>(random.Below(kGroups)), static_cast<int>(random.Below(kKeysOfGroup)));
    };
    Range range{end(), end()};
    if (random.Chance(1, 3)) range.end = PrefixEnd(range.begin.substr(0, 4));  // the rest of the group
    if (range.end < range.begin) std::swap(range.begin, range.end);
    return range;
  }
  Entries Expected(const Range& range, bool backward) const {
    Entries entries(model_.lower_bound(range.begin), model_.lower_bound(range.end));
    if (backward) std::reverse(entries.begin(), entries.end());
    return entries;
  }
  /// At most `max` entries.
  static Entries Walk(Cursor& cursor, bool backward, size_t max) {
    Entries entries;
    backward ? cursor.SeekToLast() : cursor.SeekToFirst();
    for (; cursor.Valid() && entries.size() < max; backward ? cursor.Prev() : cursor.Next()) {
      entries.emplace_back(cursor.key(), cursor.value());
    }
    EXPECT_OK(cursor.status());
    return entries;
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<Store> store_;
  std::map<std::string, std::string> model_;
};

TEST_F(StoreCursorTest, AMovedCursorReadsItsNewRange) {
  Random random(test::Seed());
  Change(random, 1);
  ASSERT_OK(store_->Compact());  // one level
  Change(random, 4);
  Open();  // a file above it
  Change(random, 6);
  const Range gone{Key(7, 30), Key(12, 10)};
  ASSERT_OK(store_->DeleteRange(gone));
  model_.erase(model_.lower_bound(gone.begin), model_.lower_bound(gone.end));
  Open();
  Change(random, 9);  // and in memory
  const Snapshot snapshot = store_->TakeSnapshot();
  const auto seen = model_;
  Change(random, 2);
  model_ = seen;

  std::unique_ptr<Cursor> cursor = store_->NewCursor(RandomRange(random), snapshot);
  for (int i = 0; i < 500; ++i) {
    const Range range = RandomRange(random);
    ASSERT_TRUE(cursor->MoveTo(range));
    EXPECT_FALSE(cursor->Valid());
    const bool backward = random.Chance(1, 2);
    const size_t max = random.Chance(1, 2) ? 3 : 1000;
    Entries expected = Expected(range, backward);
    if (expected.size() > max) expected.resize(max);
    ASSERT_EQ(Walk(*cursor, backward, max), expected) << range.begin << " " << range.end << " " << backward;
    const std::string target = Key(static_cast<int>(random.Below(kGroups)), static_cast<int>(random.Below(60)));
    cursor->Seek(target);
    const auto at = model_.lower_bound(std::max(target, range.begin));
    ASSERT_EQ(cursor->Valid(), at != model_.end() && at->first < range.end) << target;
    if (cursor->Valid()) {
      EXPECT_EQ(cursor->key(), at->first);
    }
  }
}

TEST_F(StoreCursorTest, ASpareCursorSeesTheChangesOfTheWriteSet) {
  Random random(test::Seed());
  Change(random, 2);
  WriteSet writes(*store_);
  writes.Put(Key(3, 5), "own");
  writes.Delete(Key(9, 9));
  model_[Key(3, 5)] = "own";
  model_.erase(Key(9, 9));
  const Snapshot snapshot = store_->TakeSnapshot();
  std::unique_ptr<Cursor> spare;
  for (int i = 0; i < 200; ++i) {
    const Range range = RandomRange(random);
    std::unique_ptr<Cursor> cursor = writes.NewCursor(range, snapshot, std::move(spare));
    const bool backward = random.Chance(1, 2);
    ASSERT_EQ(Walk(*cursor, backward, 10000), Expected(range, backward)) << range.begin << " " << range.end;
    spare = std::move(cursor);
  }
}

TEST_F(StoreCursorTest, ARangeWithoutAnEndTakesANewCursor) {
  const auto cursor = store_->NewCursor({"a", "b"}, {});
  EXPECT_FALSE(cursor->MoveTo({"a", ""}));
  EXPECT_TRUE(cursor->MoveTo({"b", "c"}));
}

}  // namespace
}  // namespace braid::storage
