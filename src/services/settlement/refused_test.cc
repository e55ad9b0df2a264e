// What is no output is kept, and nothing passes it before it is corrected or somebody says so (C4).
#include "services/settlement/refused.h"

#include <gmock/gmock.h>

#include "client/fields.h"
#include "services/settlement/testing.h"

namespace braid::settlement {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class RefusedTest : public SettlementStoreTest {
 protected:
  static std::vector<Outcome> Outcomes(const std::map<uint64_t, Answer>& answers) {
    std::vector<Outcome> outcomes;
    for (const auto& [number, answer] : answers) outcomes.push_back(answer.outcome);
    return outcomes;
  }
  static std::string WithoutStatus(int64_t symbol, int64_t sequence) {
    Output output = OutputOf(symbol, sequence);
    output.order_update->status = "";
    return ToJson(output);
  }
  std::vector<client::BsonPtr> Kept() {
    const Client client = store_.clients().Acquire();
    const client::Bson all;
    std::vector<client::BsonPtr> documents;
    const auto handle = client::CollectionOf(client.get(), store_.database(), "engine_output_log_refused");
    const client::CursorPtr cursor(mongoc_collection_find_with_opts(handle.get(), all.get(), nullptr, nullptr));
    const bson_t* document = nullptr;
    while (mongoc_cursor_next(cursor.get(), &document)) documents.emplace_back(bson_copy(document));
    return documents;
  }
};
INSTANTIATE_ON_STORES(RefusedTest);

TEST_P(RefusedTest, NothingOfItsSymbolPassesItUntilItIsCorrected) {
  const auto settlement = Open();
  const std::vector<std::string> lines = {ToJson(OutputOf(1, 1)), WithoutStatus(1, 2), ToJson(OutputOf(1, 3)),
                                          ToJson(OutputOf(2, 4))};
  const auto answers = Ingest(*settlement, lines);
  EXPECT_THAT(Outcomes(answers),
              ElementsAre(Outcome::kAccepted, Outcome::kRefused, Outcome::kHalted, Outcome::kAccepted));
  EXPECT_EQ(answers.at(2).status.message(), "order_update.status is empty");
  EXPECT_EQ(answers.at(2).output_seq, 2);
  EXPECT_THAT(std::string(answers.at(3).status.message()), HasSubstr("waits for sequence 2"));
  EXPECT_THAT(Outcomes(Ingest(*settlement, {ToJson(OutputOf(1, 1)), ToJson(OutputOf(1, 2)), ToJson(OutputOf(1, 3))})),
              ElementsAre(Outcome::kDuplicate, Outcome::kAccepted, Outcome::kAccepted));
  EXPECT_EQ(Stored(settlement->chains()).size(), 4u);
  ExpectSound(settlement->chains());
}

TEST_P(RefusedTest, IsKeptWithReasonFileAndLine) {
  const auto settlement = Open();
  for (int again = 0; again < 2; ++again) {
    Intake intake(
        *settlement, [](const Answer&) {}, "monday.ndjson");
    intake.Submit(ToJson(OutputOf(1, 1)));
    intake.Submit(WithoutStatus(1, 2));
  }
  const auto kept = Kept();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(client::TextOf(kept[0].get(), "file"), "monday.ndjson");
  EXPECT_EQ(client::IntegerOf(kept[0].get(), "line"), 2);
  EXPECT_EQ(client::IntegerOf(kept[0].get(), "output_seq"), 2);
  EXPECT_EQ(client::IntegerOf(kept[0].get(), "symbols.0"), 1);
  EXPECT_EQ(client::IntegerOf(kept[0].get(), "times"), 2);
  EXPECT_EQ(client::TextOf(kept[0].get(), "reason"), "order_update.status is empty");
  EXPECT_EQ(client::TextOf(kept[0].get(), "text"), WithoutStatus(1, 2));
  EXPECT_THAT(settlement->chains().Heads()->front().halted, HasSubstr("monday.ndjson, line 2"));
}

TEST_P(RefusedTest, ALineOfAnySymbolEndsItsIntake) {
  const auto settlement = Open();
  const auto answers = Ingest(*settlement, {ToJson(OutputOf(1, 1)), "{", ToJson(OutputOf(2, 2))});
  EXPECT_THAT(Outcomes(answers), ElementsAre(Outcome::kAccepted, Outcome::kRefused, Outcome::kHalted));
  EXPECT_THAT(std::string(answers.at(2).status.message()), HasSubstr("not valid JSON"));
  EXPECT_THAT(std::string(answers.at(3).status.message()), HasSubstr("line 2 is no output"));
  EXPECT_EQ(Kept().size(), 1u);
  ASSERT_OK(UnplacedLines::GiveUp(settlement->chains(), "a test", "the line was a comment"));
  EXPECT_EQ(Ingest(*settlement, {ToJson(OutputOf(2, 2))}).at(1).outcome, Outcome::kAccepted);
}

// Not even another process passes a line that could be of any symbol.
TEST_P(RefusedTest, NothingNewPassesALineOfAnySymbol) {
  Ingest(*Open(), {ToJson(OutputOf(1, 1)), "{"});
  const auto later = Open();
  const auto answers = Ingest(*later, {ToJson(OutputOf(1, 1)), ToJson(OutputOf(1, 2)), ToJson(OutputOf(2, 3))});
  EXPECT_THAT(Outcomes(answers), ElementsAre(Outcome::kDuplicate, Outcome::kHalted, Outcome::kHalted));
  EXPECT_THAT(std::string(answers.at(2).status.message()), HasSubstr("line 2 was refused, and of which symbol"));
  // Somebody gives it up elsewhere: the next intake of a service that runs asks the store.
  ASSERT_OK(UnplacedLines::GiveUp(Open()->chains(), "a test", "it was a comment"));
  EXPECT_EQ(Ingest(*later, {ToJson(OutputOf(1, 2))}).at(1).outcome, Outcome::kAccepted);
  EXPECT_TRUE(UnplacedLines::List(store_.clients(), TestOptions().ToChains())->empty());
}

TEST_P(RefusedTest, ALineWithASequenceHoldsBackWhatFollowsIt) {
  const std::string of_no_symbol = R"({"output_seq":3,"input":{},"order_update":{"order_id":1,"symbol_id":"1"}})";
  const auto settlement = Open();
  Ingest(*settlement, {ToJson(OutputOf(1, 1)), of_no_symbol});
  EXPECT_THAT(Outcomes(Ingest(*settlement, {ToJson(OutputOf(2, 4)), ToJson(OutputOf(1, 2))})),
              ElementsAre(Outcome::kHalted, Outcome::kAccepted));
  // With the output itself, wherever it comes from, everything goes on.
  EXPECT_THAT(Outcomes(Ingest(*settlement, {ToJson(OutputOf(1, 3)), ToJson(OutputOf(2, 4))})),
              ElementsAre(Outcome::kAccepted, Outcome::kAccepted));
  EXPECT_THAT(Outcomes(Ingest(*Open(), {ToJson(OutputOf(1, 5))})), ElementsAre(Outcome::kAccepted));
  ExpectSound(settlement->chains());
}

TEST_P(RefusedTest, ALineOfAnySymbolIsCorrectedInItsFile) {
  const auto give = [&](const std::vector<std::string>& lines) {
    const auto settlement = Open();
    std::map<uint64_t, Answer> answers;
    Mutex mu;
    Intake intake(
        *settlement,
        [&](const Answer& answer) {
          const MutexLock lock(mu);
          answers.emplace(answer.number, answer);
        },
        "monday.ndjson", Intake::Source::kFile);
    for (const std::string& line : lines) intake.Submit(line);
    intake.Flush();
    return Outcomes(answers);
  };
  const std::string one = ToJson(OutputOf(1, 1));
  const std::string two = ToJson(OutputOf(1, 2));
  const std::string three = ToJson(OutputOf(1, 3));
  const std::string four = ToJson(OutputOf(1, 4));
  give({one, "{", three, "{"});
  // What follows it is not taken for it, although it is in the same line of a file of that name.
  EXPECT_THAT(give({three, four}), ElementsAre(Outcome::kHalted, Outcome::kHalted));
  EXPECT_THAT(give({one, two, three, "{", four}), ElementsAre(Outcome::kDuplicate, Outcome::kAccepted,
                                                              Outcome::kAccepted, Outcome::kRefused, Outcome::kHalted));
  EXPECT_THAT(give({one, two, three, four}),
              ElementsAre(Outcome::kDuplicate, Outcome::kDuplicate, Outcome::kDuplicate, Outcome::kAccepted));
}

TEST_P(RefusedTest, IsPassedOverOnlyForAReasonThatIsKept) {
  Options options = TestOptions();
  options.skip_refused = "the engine was tested";
  const auto settlement = Open(options);
  const auto answers = Ingest(*settlement, {WithoutStatus(1, 1), "{", ToJson(OutputOf(1, 2))});
  EXPECT_THAT(Outcomes(answers), ElementsAre(Outcome::kRefused, Outcome::kRefused, Outcome::kAccepted));
  const auto kept = Kept();
  ASSERT_EQ(kept.size(), 2u);
  for (const auto& document : kept) EXPECT_EQ(client::TextOf(document.get(), "skipped"), "the engine was tested");
}

TEST_P(RefusedTest, ALineOfAnySymbolIsPassedOverWhenItComesAgain) {
  Ingest(*Open(), {"{", ToJson(OutputOf(1, 1))});
  Options options = TestOptions();
  options.skip_refused = "the engine was tested";
  EXPECT_THAT(Outcomes(Ingest(*Open(options), {"{", ToJson(OutputOf(1, 1))})),
              ElementsAre(Outcome::kRefused, Outcome::kAccepted));
  EXPECT_THAT(Outcomes(Ingest(*Open(), {ToJson(OutputOf(1, 2))})), ElementsAre(Outcome::kAccepted));
}

TEST_P(RefusedTest, AnOutputThatBreaksItsChainIsKeptToo) {
  const auto settlement = Open();
  Output wrong = OutputOf(1, 2);
  wrong.prev_hash.emplace().fill(0xee);
  Ingest(*settlement, {ToJson(OutputOf(1, 1)), ToJson(wrong)});
  const auto kept = Kept();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(client::IntegerOf(kept[0].get(), "output_seq"), 2);
  EXPECT_THAT(std::string(client::TextOf(kept[0].get(), "reason")), HasSubstr("expected a record after sequence 1"));
}

// The case of C9 at the service: nothing passes an output of two symbols of which one is halted.
TEST_P(RefusedTest, AnOutputOfTwoSymbolsHoldsBackBoth) {
  const auto settlement = Open();
  Output wrong = OutputOf(1, 3);
  wrong.prev_hash.emplace().fill(0xee);
  Output both = OutputOf(1, 4);
  for (const int64_t symbol : {1, 2}) {
    both.trades.push_back({{"t", false}, symbol, "1", "1", {"7", true}, {"8", true}});
  }
  const std::vector<std::string> first = {ToJson(OutputOf(1, 1)), ToJson(OutputOf(2, 2)), ToJson(wrong), ToJson(both),
                                          ToJson(OutputOf(2, 5))};
  EXPECT_THAT(Outcomes(Ingest(*settlement, first)), ElementsAre(Outcome::kAccepted, Outcome::kAccepted,
                                                                Outcome::kRefused, Outcome::kHalted, Outcome::kHalted));
  ASSERT_OK(settlement->chains().Repair(1, {.by = "a test", .reason = "the engine was wrong"}));
  EXPECT_THAT(Outcomes(Ingest(*settlement, {ToJson(OutputOf(1, 3)), ToJson(both), ToJson(OutputOf(2, 5))})),
              ElementsAre(Outcome::kAccepted, Outcome::kAccepted, Outcome::kAccepted));
  ExpectSound(settlement->chains());
}

TEST(LocateTest, TellsSequenceAndSymbolsOnlyIfBothAreSure) {
  OutputParser parser;
  const auto symbols = [&](std::string_view line) {
    const auto located = parser.Locate(line);
    return located ? located->symbols : std::vector<int64_t>{-1};
  };
  EXPECT_THAT(symbols(R"({"output_seq":1,"order_update":{"symbol_id":3}})"), ElementsAre(3));
  EXPECT_THAT(symbols(R"({"output_seq":1,"trades":[{"symbol_id":4},{"symbol_id":2},{"symbol_id":4}]})"),
              ElementsAre(4, 2));
  EXPECT_THAT(symbols(R"({"output_seq":1,"symbol_id":9,"order_update":{"symbol_id":3}})"), ElementsAre(3, 9));
  EXPECT_THAT(symbols(R"({"output_seq":1})"), ElementsAre(0));
  EXPECT_THAT(symbols(R"({"output_seq":1,"symbol_id":5,"trades":7})"), ElementsAre(5));
  for (const std::string_view unsure :
       {R"({"output_seq":1,"trades":7})", R"({"output_seq":1,"trade":[]})", "[]", "{", R"({"output_seq":0,"input":{}})",
        R"({"input":{},"symbol_id":1})", R"({"output_seq":1,"order_update":{"symbol_id":"3"}})"}) {
    EXPECT_THAT(symbols(unsure), ElementsAre(-1)) << unsure;
  }
}

}  // namespace
}  // namespace braid::settlement
