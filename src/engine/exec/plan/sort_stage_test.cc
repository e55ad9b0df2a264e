// A sorted result that rests: on disk if memory is short, and the same rows afterwards.
#include "engine/exec/plan/sort_stage.h"

#include "base/strings.h"
#include "engine/exec/plan/plan_fixture.h"

namespace braid::query::plan {
namespace {

constexpr int kRestingRows = 30;
constexpr size_t kRestingRowBytes = 100'000;

// Reads all rows in order, with a rest after each, and returns how many files there were during the first one.
size_t ReadWithRests(const MemoryBudget& budget, PlanFixture& f, txn::Context& context) {
  auto plan = Plan::Make(f.Find("{'i': {'$gte': 0}}", "{'order': 1}"));
  EXPECT_OK(plan);
  size_t files = 0;
  bson::View document;
  for (int i = 0; i < kRestingRows; ++i) {
    const Result<bool> more = (*plan)->Next(context, &document);
    EXPECT_TRUE(more.ok() && *more);
    EXPECT_EQ(document.Find("order").AsInt32(), i);
    EXPECT_EQ(document.Find("text").AsString().size(), kRestingRowBytes);
    (*plan)->Rest(context);
    if (i == 0) files = context.shared().spill->files();
    if (files > 0) {
      EXPECT_LE(budget.used_by(MemoryHolder::kSorts), 256u << 10);
    }
  }
  const Result<bool> more = (*plan)->Next(context, &document);
  EXPECT_TRUE(more.ok() && !*more);
  return files;
}

TEST(SortStageTest, RestsOnDiskWhenMemoryIsShort) {
  PlanFixture f;
  f.AddIndex("{'key': {'i': 1}, 'name': 'i_1'}");
  for (int i = 0; i < kRestingRows; ++i) {
    f.Insert(StrCat("{'_id': ", i, ", 'i': ", i, ", 'order': ", (i * 7) % kRestingRows, ", 'text': '",
                    std::string(kRestingRowBytes, 'x'), "'}"));
  }
  const test::TemporaryDirectory directory;
  SpillSpace space(directory.path(), 256);
  for (const auto& [limit, files] : {std::pair<uint64_t, size_t>{5u << 20, 1}, {64u << 20, 0}}) {
    MemoryBudget budget(limit);
    PlanFixture::Session session(f);
    session.context().shared().memory = &budget;
    session.context().shared().spill = &space;
    EXPECT_EQ(ReadWithRests(budget, f, session.context()), files);
    EXPECT_EQ(budget.used(), 0u);
    EXPECT_EQ(space.files(), 0u);
    session.context().shared().memory = nullptr;
  }
}

}  // namespace
}  // namespace braid::query::plan
