// The service: what is stored, counted, refused and shared (C3, C4, C9, C10).
#include "services/settlement/service.h"

#include <gmock/gmock.h>

#include "services/schema/testing.h"
#include "services/settlement/testing.h"

namespace braid::settlement {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SettlementTest : public SettlementStoreTest {};
INSTANTIATE_ON_STORES(SettlementTest);

TEST_P(SettlementTest, StoresEveryOutputOnceAndKeepsItAsItCame) {
  const std::vector<std::string> lines = Generated(1000, {.symbols = 5, .hot_percent = 60, .cross_percent = 10});
  const auto first = Ingest(*Open(), lines);
  EXPECT_EQ(Count(first)[Outcome::kAccepted], lines.size());
  store_.Restart();
  const auto settlement = Open();
  const auto second = Ingest(*settlement, lines);
  EXPECT_EQ(Count(second)[Outcome::kDuplicate], lines.size());
  for (const auto& [number, answer] : second) {
    EXPECT_EQ(answer.hash, first.at(number).hash);
    EXPECT_EQ(answer.output_seq, static_cast<int64_t>(number));
  }
  EXPECT_EQ(Stored(settlement->chains()), lines);
  ExpectSound(settlement->chains());
}

TEST_P(SettlementTest, ABreakHaltsItsSymbolUntilRepaired) {
  const auto settlement = Open();
  Output wrong = OutputOf(1, 3);
  wrong.prev_hash.emplace().fill(0xee);
  const std::vector<std::string> lines = {ToJson(OutputOf(1, 1)), ToJson(OutputOf(2, 2)), ToJson(wrong),
                                          ToJson(OutputOf(1, 4)), ToJson(OutputOf(2, 5)), ToJson(OutputOf(1, 1))};
  const auto answers = Ingest(*settlement, lines);
  EXPECT_EQ(answers.at(3).outcome, Outcome::kRefused);
  EXPECT_THAT(std::string(answers.at(3).status.message()), HasSubstr(std::string(64, 'e')));
  EXPECT_EQ(answers.at(4).outcome, Outcome::kHalted);
  EXPECT_EQ(answers.at(5).outcome, Outcome::kAccepted);
  EXPECT_EQ(answers.at(6).outcome, Outcome::kDuplicate);
  ASSERT_OK(settlement->chains().Repair(1, {.by = "a test", .reason = "the engine was wrong"}));
  EXPECT_EQ(Ingest(*settlement, {ToJson(OutputOf(1, 3))}).at(1).outcome, Outcome::kAccepted);
}

TEST_P(SettlementTest, GivenHashesThatAreRightAreAccepted) {
  const auto settlement = Open();
  Output first = OutputOf(4, 1);
  first.prev_hash.emplace();
  first.hash = HashChainRecord({.chain = 4, .sequence = 1, .payload = EncodePayload(first)});
  Output second = OutputOf(4, 2);
  second.prev_hash = first.hash;
  const auto answers = Ingest(*settlement, {ToJson(first), ToJson(second)});
  EXPECT_EQ(answers.at(1).outcome, Outcome::kAccepted) << answers.at(1).status.ToString();
  EXPECT_EQ(answers.at(1).hash, *first.hash);
  EXPECT_EQ(answers.at(2).outcome, Outcome::kAccepted) << answers.at(2).status.ToString();
}

TEST_P(SettlementTest, TwoServicesSplitTheSymbols) {
  const std::vector<std::string> lines = Generated(400, {.symbols = 6});
  Options options = TestOptions("a");
  options.leases_max = 3;
  auto a = Open(options);
  options.owner = "b";
  options.leases_max = 0;
  auto b = Open(options);
  const auto by_a = Ingest(*a, lines);
  const auto by_b = Ingest(*b, lines);
  for (size_t line = 1; line <= lines.size(); ++line) {
    const bool stored_by_a = by_a.at(line).outcome == Outcome::kAccepted;
    EXPECT_EQ(by_a.at(line).outcome, stored_by_a ? Outcome::kAccepted : Outcome::kElsewhere);
    EXPECT_EQ(by_b.at(line).outcome, stored_by_a ? Outcome::kElsewhere : Outcome::kAccepted);
  }
  EXPECT_GT(Count(by_a)[Outcome::kAccepted], 0u);
  EXPECT_GT(Count(by_b)[Outcome::kAccepted], 0u);
  EXPECT_EQ(Stored(b->chains()), lines);
  const auto leases = b->chains().Leases();
  ASSERT_OK(leases);
  EXPECT_EQ(std::count_if(leases->begin(), leases->end(), [](const LeaseInfo& lease) { return lease.owner == "a"; }),
            3);
  // Leases that were given back are free at once.
  ASSERT_OK(a->Stop());
  EXPECT_EQ(Count(Ingest(*b, lines))[Outcome::kDuplicate], lines.size());
  ExpectSound(b->chains());
}

// What was refused for want of a lease must not be missing between two records that one intake had stored.
TEST_P(SettlementTest, ALostSymbolStaysLostForItsIntake) {
  Options options = TestOptions("a");
  options.lease_ttl = std::chrono::milliseconds(1);
  options.writers.interval = std::chrono::minutes(10);  // never renews
  const auto a = Open(options);
  options.owner = "b";
  options.lease_ttl = std::chrono::seconds(10);
  auto b = Open(options);
  std::vector<Outcome> outcomes;
  Intake intake(*a, [&](const Answer& answer) { outcomes.push_back(answer.outcome); });
  const auto submit = [&](int64_t sequence) {
    intake.Submit(ToJson(OutputOf(1, sequence)));
    intake.Flush();
    return outcomes.back();
  };
  EXPECT_EQ(submit(1), Outcome::kAccepted);
  while (Ingest(*b, {ToJson(OutputOf(1, 2))}).at(1).outcome == Outcome::kElsewhere) std::this_thread::yield();
  EXPECT_EQ(submit(3), Outcome::kElsewhere);
  ASSERT_OK(b->Stop());  // free again, but 3 was refused
  EXPECT_EQ(submit(4), Outcome::kElsewhere);
  EXPECT_EQ(Ingest(*a, {ToJson(OutputOf(1, 3))}).at(1).outcome, Outcome::kAccepted);
  EXPECT_EQ(Stored(a->chains()).size(), 3u);
}

// The same holds for an output that failed because its lease could not be asked for: the later ones wait for it (C4).
TEST_P(SettlementTest, NothingPassesAnOutputWhoseLeaseCouldNotBeAskedFor) {
  FlakyClients flaky(store_.clients());
  const auto settlement = Open(flaky, TestOptions("a"));
  {
    std::vector<Outcome> outcomes;
    Intake intake(*settlement, [&](const Answer& answer) { outcomes.push_back(answer.outcome); });
    flaky.Fail(true);
    intake.Submit(ToJson(OutputOf(1, 1)));
    intake.Flush();
    flaky.Fail(false);
    intake.Submit(ToJson(OutputOf(1, 2)));
    intake.Flush();
    intake.Submit(ToJson(OutputOf(2, 3)));
    intake.Flush();
    EXPECT_THAT(outcomes, ElementsAre(Outcome::kFailed, Outcome::kFailed, Outcome::kAccepted));
  }
  const auto again = Ingest(*settlement, {ToJson(OutputOf(1, 1)), ToJson(OutputOf(1, 2)), ToJson(OutputOf(2, 3))});
  EXPECT_EQ(again.at(1).outcome, Outcome::kAccepted) << again.at(1).status.ToString();
  EXPECT_EQ(again.at(2).outcome, Outcome::kAccepted) << again.at(2).status.ToString();
  EXPECT_EQ(again.at(3).outcome, Outcome::kDuplicate);
}

// What `braid init` makes is what the service makes when it is opened, and outputs are taken in on it as before.
class SettlementCollectionsTest : public SettlementStoreTest {
 protected:
  schema::Report Applied() {
    auto report = schema::Apply(store_.clients(), store_.database(), Collections());
    EXPECT_OK(report);
    return report.ok() ? *std::move(report) : schema::Report();
  }
};
INSTANTIATE_ON_STORES(SettlementCollectionsTest);

TEST_P(SettlementCollectionsTest, TheServiceMakesAllOfThem) {
  Open();
  const schema::Report report = Applied();
  EXPECT_THAT(schema::Things(report, schema::State::kCreated), IsEmpty());
  EXPECT_TRUE(report.ok());
}

TEST_P(SettlementCollectionsTest, OutputsAreTakenInOnWhatWasMade) {
  EXPECT_THAT(schema::Things(Applied(), schema::State::kCreated),
              ElementsAre("engine_output_log collection", "engine_output_log indexes.symbol_id_1_last_seq_1",
                          "engine_output_log_heads collection", "engine_output_log_leases collection",
                          "engine_output_log_repairs collection", "engine_output_log_tree collection"));
  const std::vector<std::string> lines = Generated(100, {.symbols = 3});
  {
    const auto settlement = Open();
    EXPECT_EQ(Count(Ingest(*settlement, lines))[Outcome::kAccepted], lines.size());
    EXPECT_EQ(Stored(settlement->chains()), lines);
    ExpectSound(settlement->chains());
  }
  EXPECT_TRUE(Applied().ok());
}

}  // namespace

}  // namespace braid::settlement
