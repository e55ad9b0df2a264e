#include "engine/bson/arena.h"

#include <string>
#include <vector>

#include "base/testing/testing.h"

namespace braid::bson {
namespace {

TEST(ArenaTest, KeepsValuesOfAllSizes) {
  Arena arena;
  std::vector<Value> made;
  for (int i = 0; i < 2000; ++i) made.push_back(arena.String(std::string(static_cast<size_t>(i), 'x')));
  for (size_t i = 0; i < made.size(); ++i) ASSERT_EQ(made[i].AsString(), std::string(i, 'x'));
  arena.Clear();
  EXPECT_EQ(arena.String("again").AsString(), "again");
}

TEST(ArenaTest, CompactsToTheOneValueThatIsNeeded) {
  Work work(nullptr, 100 << 20);
  const WorkEntered entered(work);
  Arena arena(Arena::Use::kQuery);
  const Value before = arena.String("before");
  const Arena::Mark mark = arena.mark();
  Value last;
  for (int i = 0; i < 1000; ++i) {
    last = arena.String(std::string(10'000, static_cast<char>('a' + i % 26)));
    if (arena.UsedSince(mark) > 100'000) last = arena.Compact(mark, last);
  }
  EXPECT_EQ(last.AsString(), std::string(10'000, static_cast<char>('a' + 999 % 26)));
  EXPECT_EQ(before.AsString(), "before");
  EXPECT_LT(work.held(), 1'000'000) << "ten million bytes were made";
  EXPECT_EQ(arena.Compact(mark, before).AsString(), "before");
  arena.Clear();
  EXPECT_LE(work.held(), 64 << 10);
}

TEST(ArenaTest, ValuesThatDoNotFitAreEmptyAndTheWorkSaysSo) {
  Work work(nullptr, 100'000);
  const WorkEntered entered(work);
  Arena arena(Arena::Use::kQuery);
  EXPECT_EQ(arena.String(std::string(200'000, 'x')).AsString(), "");
  EXPECT_EQ(work.Tick().code(), Code::kExceededMemoryLimit);
  EXPECT_EQ(arena.TryAllocate(200'000), nullptr);
  EXPECT_EQ(work.Tick().code(), Code::kExceededMemoryLimit);
  EXPECT_EQ(arena.String("small").AsString(), "small");
  EXPECT_OK(work.Tick());
  EXPECT_EQ(Arena().String(std::string(200'000, 'x')).AsString().size(), 200'000u) << "others have no limit";
}

}  // namespace
}  // namespace braid::bson
