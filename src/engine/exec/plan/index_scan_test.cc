// Walks over ranges that are shorter and longer than what is held as a copy.
#include "engine/exec/plan/index_scan.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "base/testing/testing.h"

namespace braid::query::plan {
namespace {

TEST(EntryWalkTest, EveryEntryOnceAndTheCursorOfAShortRangeBack) {
  const test::TemporaryDirectory directory;
  const auto store = storage::Store::Open({.directory = directory.path(), .cache_bytes = 32 << 20}).value();
  storage::WriteSet writes(*store);
  for (int range = 0; range < 9; ++range) {
    for (int i = 0; i < range; ++i) writes.Put(StrCat("k", range, ".", i), StrCat("value ", i));
  }
  ASSERT_OK(store->Commit(writes));
  for (const bool backward : {false, true}) {
    std::unique_ptr<storage::Cursor> spare;
    for (int range = 0; range < 9; ++range) {
      const std::string prefix = StrCat("k", range, ".");
      std::vector<std::string> expected;
      for (int i = 0; i < range; ++i) expected.push_back(StrCat(prefix, i, "=value ", i));
      if (backward) std::ranges::reverse(expected);
      for (const bool is_short : {false, true}) {
        EntryWalk walk;
        EXPECT_FALSE(walk.open());
        auto cursor = writes.NewCursor({prefix, storage::PrefixEnd(prefix)}, {}, std::move(spare));
        if (is_short) {
          spare = walk.OpenShort(std::move(cursor), backward);
          EXPECT_EQ(spare != nullptr, range <= 4) << range;
        } else {
          walk.Open(std::move(cursor), backward);
        }
        EXPECT_TRUE(walk.open());
        std::vector<std::string> met;
        for (; walk.Valid(); walk.Next()) met.push_back(StrCat(walk.key(), "=", walk.value()));
        EXPECT_OK(walk.status());
        EXPECT_EQ(met, expected) << range << " " << backward << " " << is_short;
        walk.Close();
        EXPECT_FALSE(walk.Valid());
        walk.Next();
        EXPECT_FALSE(walk.Valid());
      }
    }
  }
}

}  // namespace
}  // namespace braid::query::plan
