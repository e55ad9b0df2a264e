// Loads: opened side by side, stepped over and over, repeated after a failure, ended at once.
#include "cli/demo/loads.h"

#include "embedded/testing/stores.h"

namespace braid::cli::demo {
namespace {

std::atomic<int> steps_of_a{0};
std::atomic<int> steps_of_b{0};

// Fails every other time.
class CountingLoad final : public Load {
 public:
  explicit CountingLoad(std::atomic<int>& steps, bool fails) : steps_(steps), fails_(fails) {}
  Status Step() override {
    const int step = ++steps_;
    steps_.notify_all();
    return fails_ && step % 2 == 0 ? Status(Code::kBadValue, "as planned") : Status();
  }

 private:
  std::atomic<int>& steps_;
  const bool fails_;
};

Result<std::unique_ptr<Load>> OpenA(const Setting& setting) {
  BRAID_CHECK_OK(setting.journal.Write("a", {{"opened", 1}}));
  return std::unique_ptr<Load>(std::make_unique<CountingLoad>(steps_of_a, false));
}
Result<std::unique_ptr<Load>> OpenB(const Setting& /*setting*/) {
  return std::unique_ptr<Load>(std::make_unique<CountingLoad>(steps_of_b, true));
}
Result<std::unique_ptr<Load>> OpenNot(const Setting& /*setting*/) { return Status(Code::kBadValue, "no such thing"); }

void AwaitSteps(std::atomic<int>& steps, int count) {
  for (int now = steps; now < count; now = steps) steps.wait(now);
}

class LoadsTest : public testing::Test {
 protected:
  LoadsTest() { steps_of_a = steps_of_b = 0; }
  std::unique_ptr<Journal> OpenJournal(Journal::OnEvent on_event = {}) {
    return *Journal::Open(store_.clients(), std::move(on_event));
  }
  test::TestStore store_{"embedded"};
};

TEST_F(LoadsTest, StepsBeginWithStartAndGoOnAfterFailures) {
  const auto journal = OpenJournal();
  Loads loads(store_.clients(), *journal, 100);
  constexpr LoadKind kKinds[] = {{"a", std::chrono::milliseconds(1), OpenA},
                                 {"b", std::chrono::milliseconds(1), OpenB}};
  ASSERT_OK(loads.Open(kKinds));
  EXPECT_EQ((*journal->Read("a"))["opened"], 1);
  EXPECT_EQ(steps_of_a + steps_of_b, 0);
  loads.Start();
  AwaitSteps(steps_of_a, 5);
  AwaitSteps(steps_of_b, 5);
  loads.Stop();
  const int steps = steps_of_b;
  // A failure that comes while it stops does not count.
  EXPECT_GE(loads.failures(), static_cast<uint64_t>(steps / 2 - 1));
  EXPECT_LE(loads.failures(), static_cast<uint64_t>(steps / 2));
}

TEST_F(LoadsTest, APauseIsNoReasonToWaitForTheEnd) {
  const auto journal = OpenJournal();
  Loads loads(store_.clients(), *journal, 1);
  constexpr LoadKind kKinds[] = {{"a", std::chrono::hours(1), OpenA}};
  ASSERT_OK(loads.Open(kKinds));
  loads.Start();
  AwaitSteps(steps_of_a, 1);
  loads.Stop();
  EXPECT_EQ(steps_of_a, 1);
}

TEST_F(LoadsTest, OneThatCannotBeOpenedIsNamed) {
  const auto journal = OpenJournal();
  Loads loads(store_.clients(), *journal, 1);
  constexpr LoadKind kKinds[] = {{"a", std::chrono::hours(1), OpenA}, {"odd", std::chrono::hours(1), OpenNot}};
  const Status status = loads.Open(kKinds);
  EXPECT_EQ(status.code(), Code::kBadValue);
  EXPECT_EQ(status.message(), "odd :: caused by :: no such thing");
}

TEST_F(LoadsTest, TheJournalKeepsFiguresAndTellsEvents) {
  std::vector<std::string> told;
  const auto journal = OpenJournal([&](std::string_view text) { told.emplace_back(text); });
  EXPECT_EQ(*journal->Read("shop"), Figures());
  ASSERT_OK(journal->Write("shop", {{"orders", 7}, {"units", 9}}, {{"note", "x"}}));
  ASSERT_OK(journal->Write("shop", {{"orders", 8}}));
  EXPECT_EQ(*journal->Read("shop"), (Figures{{"orders", 8}}));
  ASSERT_OK(journal->Note("shop", "sold out"));
  EXPECT_EQ(told, std::vector<std::string>{"sold out"});
}

}  // namespace
}  // namespace braid::cli::demo
