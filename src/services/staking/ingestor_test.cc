// The totals equal those of a plain model, whatever comes, in whatever order, through whomever (A5–A7, A9).
#include "services/staking/ingestor.h"

#include <algorithm>
#include <thread>

#include "services/staking/testing/bad_events.h"
#include "services/staking/testing/fixture.h"

namespace braid::staking {
namespace {

using test::Active;
using test::Unbonded;

class IngestorTest : public test::StakingTest {
 protected:
  // Reads until told to stop; nothing may ever be negative, nor more active than there is in all.
  void Observe(const Tables& tables, const std::atomic<bool>& stop) {
    const auto expect_sound = [](const CounterValues& sums) {
      for (const auto& [field, sum] : sums) EXPECT_GE(sum, 0) << field;
      EXPECT_LE(sums[kActiveTvl], sums[kTotalTvl]);
      EXPECT_LE(sums[kActiveDelegations], sums[kTotalDelegations]);
    };
    while (!stop) {
      const auto overall = GetOverallStats(store_.clients(), tables);
      ASSERT_OK(overall);
      expect_sound(overall->sums);
      for (const auto& [entity, sums] : AllOf(tables, *tables.providers)) expect_sound(sums);
      for (const auto& [entity, sums] : AllOf(tables, *tables.stakers)) expect_sound(sums);
      const auto report = Audit(store_.clients(), tables, false);
      ASSERT_OK(report);
      EXPECT_TRUE(report->ok()) << Describe(*report);
    }
  }

  // The reasons kept in unprocessable_messages, by message; what is not text by its length.
  std::map<std::string, std::string> Kept(const char* collection = kUnprocessable) {
    std::map<std::string, std::string> kept;
    const client::Bson all;
    EXPECT_OK(RunTransaction(store_.clients(), {.database = store_.database()}, [&](Transaction& transaction) {
      kept.clear();
      return transaction.Find(collection, all.get(), [&](const bson_t& document) {
        std::string message(client::TextOf(&document, "message"));
        if (message.empty()) message = client::BinaryOf(&document, "message");
        EXPECT_EQ(client::IntegerOf(&document, "bytes"), static_cast<int64_t>(message.size()));
        EXPECT_TRUE(client::DateOf(&document, "received_at").has_value());
        kept.emplace(message, client::TextOf(&document, "reason"));
        return Status();
      });
    }));
    return kept;
  }
  void ExpectKept(const std::map<std::string, std::string>& kept, const test::BadEvent& bad) {
    const auto place = kept.find(bad.line);
    ASSERT_NE(place, kept.end()) << bad.line.substr(0, 300);
    EXPECT_NE(place->second.find(bad.reason), std::string::npos) << place->second;
  }
};
INSTANTIATE_ON_STORES(IngestorTest);

TEST_P(IngestorTest, PlusAndMinus) {
  const Outcome first = Ingest({Active(1, 1, 1, 500), Active(2, 1, 2, 30), Active(3, 2, 1, 7)});
  EXPECT_EQ(first.accepted, 3U);
  ExpectModel();
  EXPECT_EQ(Ingest({Unbonded(1)}).accepted, 1U);
  EXPECT_EQ(
      model_.Overall(),
      CounterValues(
          {{kActiveTvl, 37}, {kTotalTvl, 537}, {kActiveDelegations, 2}, {kTotalDelegations, 3}, {kTotalStakers, 2}}));
  ExpectModel();
}

TEST_P(IngestorTest, DuplicatesChangeNothing) {
  const std::vector<Event> events = {Active(1, 1, 1, 500), Active(2, 1, 1, 5), Unbonded(2), Unbonded(9)};
  const Outcome first = Ingest(events);
  EXPECT_EQ(first.accepted, 3U);
  EXPECT_EQ(first.parked, 1U);
  store_.Restart();
  for (int i = 0; i < 2; ++i) {
    const Outcome again = Ingest({events[3], events[2], events[1], events[0], events[0], events[3]});
    EXPECT_EQ(again.duplicate, 6U);
    EXPECT_EQ(again.accepted + again.parked + again.released, 0U);
  }
  ExpectModel();
}

// A6: the amount is the one of its own active event, whatever the unbonded event claims.
TEST_P(IngestorTest, AnUnbondedEventTakesAwayWhatItsActiveAdded) {
  Ingest({Active(1, 1, 1, 500), Active(2, 1, 1, 9)});
  const std::vector<std::string> line = {StrCat(R"({"event_type":"unbonded","staking_tx_hash_hex":")",
                                                Active(1, 1, 1, 1).hash, R"(","staking_value":999999})")};
  ASSERT_OK(IngestLines(line));
  model_.Add(Unbonded(1));
  ExpectModel();
}

TEST_P(IngestorTest, AnEarlyUnbondedEventWaitsForItsActive) {
  EXPECT_EQ(Ingest({Unbonded(1), Unbonded(2)}).parked, 2U);
  ExpectModel();
  store_.Restart();
  const Outcome outcome = Ingest({Active(1, 1, 1, 500)});
  EXPECT_EQ(outcome.accepted, 1U);
  EXPECT_EQ(outcome.released, 1U);
  EXPECT_EQ(
      model_.Overall(),
      CounterValues(
          {{kActiveTvl, 0}, {kTotalTvl, 500}, {kActiveDelegations, 0}, {kTotalDelegations, 1}, {kTotalStakers, 1}}));
  ExpectModel();
  EXPECT_EQ(Ingest({Unbonded(1)}).duplicate, 1U);
  ExpectModel();
}

// The first to come is the delegation. The same hash with other contents changes nothing, is counted apart and kept.
TEST_P(IngestorTest, TheSameHashWithOtherContents) {
  Ingest({Active(1, 1, 1, 500)});
  for (const auto& [other, reason] : std::map<std::string, std::string>{
           {ToJson(Active(1, 1, 1, 3)), "staking_value is 3, but the delegation of this hash has 500"},
           {ToJson(Active(1, 7, 1, 500)), "staker_pk_hex is "},
           {ToJson(Active(1, 1, 7, 500)), "finality_provider_pk_hex is "}}) {
    const std::vector<std::string> lines = {other, ToJson(Active(1, 1, 1, 500)), other};
    const auto outcome = IngestLines(lines);
    ASSERT_OK(outcome);
    EXPECT_EQ(outcome->conflicting, 2U);
    EXPECT_EQ(outcome->duplicate, 1U);
    ExpectKept(Kept(kConflicting), {.line = other, .reason = reason});
  }
  EXPECT_EQ(Kept(kConflicting).size(), 3U);
  EXPECT_EQ(GetOverallStats(store_.clients(), *OpenTables())->conflicting_events, 3);
  ExpectModel();
}

// Of two that contradict each other in one batch the first counts, if they are of one staker.
TEST_P(IngestorTest, ConflictsWithinABatchAndAfterAnEarlyUnbonded) {
  Ingest({Active(1, 1, 1, 500), Unbonded(2)});
  const std::vector<std::string> lines = {ToJson(Active(2, 1, 1, 40)), ToJson(Active(2, 1, 1, 41)),
                                          ToJson(Active(3, 2, 2, 9)), ToJson(Active(3, 2, 3, 9))};
  const auto outcome = IngestLines(lines);
  ASSERT_OK(outcome);
  EXPECT_EQ(outcome->accepted, 2U);
  EXPECT_EQ(outcome->conflicting, 2U);
  EXPECT_EQ(outcome->released, 1U);
  model_.Add(Active(2, 1, 1, 40));
  model_.Add(Active(3, 2, 2, 9));
  ExpectModel();
}

// Whatever the unbonded event says beside its type and hash does not matter.
TEST_P(IngestorTest, OtherFieldsOfAnUnbondedEvent) {
  Ingest({Active(1, 1, 1, 500), Active(2, 1, 1, 3)});
  const std::string hash = Active(1, 1, 1, 1).hash;
  const std::vector<std::string> lines = {
      StrCat(R"({"staking_value":-5,"staker_pk_hex":"zz","timestamp":"soon","event_type":"unbonded",)",
             R"("staking_tx_hash_hex":")", hash, R"("})")};
  EXPECT_EQ(IngestLines(lines)->accepted, 1U);
  model_.Add(Unbonded(1));
  ExpectModel();
}

// A total that would not fit in 64 bits refuses the event by name; what fits is counted, exactly (A7, A9).
TEST_P(IngestorTest, TotalsThatWouldOverflow) {
  constexpr uint64_t kEvents = 4100;  // of all bitcoin there can be: 8.6e18, and 8.3e18 are let in without a doubt
  std::vector<std::string> lines;
  for (uint64_t i = 0; i < kEvents; ++i) lines.push_back(ToJson(Active(i, i % 3, 1, kValueMax)));
  const auto outcome = IngestLines(lines);
  ASSERT_OK(outcome);
  EXPECT_EQ(outcome->accepted + outcome->rejected, kEvents);
  EXPECT_GT(outcome->rejected, 0U);
  EXPECT_GT(outcome->accepted, 3900U);
  const auto overall = GetOverallStats(store_.clients(), *OpenTables());
  ASSERT_OK(overall);
  EXPECT_EQ(overall->sums[kTotalTvl], static_cast<int64_t>(outcome->accepted) * kValueMax);
  EXPECT_EQ(overall->sums[kTotalDelegations], static_cast<int64_t>(outcome->accepted));
  EXPECT_TRUE(RunAudit().ok());
  const auto kept = Kept();
  EXPECT_EQ(kept.size(), outcome->rejected);
  for (const auto& [line, reason] : kept) {
    EXPECT_NE(reason.find("total_tvl of the whole in overall_stats would not fit in 64 bits"), std::string::npos);
  }
  // What is small enough, and what takes away, is still counted.
  const std::vector<std::string> small = {ToJson(Active(9999, 9, 1, 1))};
  EXPECT_EQ(IngestLines(small)->accepted, 1U);
  EXPECT_TRUE(RunAudit().ok());
}

TEST_P(IngestorTest, UpperCaseIsTheSameDelegationAndTheSameStaker) {
  Ingest({Active(1, 1, 1, 500)});
  std::string line = ToJson(Active(1, 1, 1, 500));
  std::string next = ToJson(Active(2, 1, 1, 1));
  for (std::string* text : {&line, &next}) {
    for (const char letter : {'a', 'b', 'f'}) {
      const std::string digits(40, letter);
      const size_t at = text->find(digits);
      if (at != std::string::npos) text->replace(at, 40, std::string(40, static_cast<char>(letter - 'a' + 'A')));
    }
  }
  model_.Add(Active(2, 1, 1, 1));
  const std::vector<std::string> lines = {line, next};
  const auto outcome = IngestLines(lines);
  ASSERT_OK(outcome);
  EXPECT_EQ(outcome->duplicate, 1U);
  EXPECT_EQ(outcome->accepted, 1U);
  ExpectModel();
}

TEST_P(IngestorTest, EachBadEventAloneCostsOnlyItself) {
  uint64_t number = 0;
  IngestOptions options;
  options.tables = TableOptions();
  const auto ingestor = Ingestor::Open(store_.clients(), options);
  ASSERT_OK(ingestor);
  for (const test::BadEvent& bad : test::BadEvents()) {
    const std::vector<Event> good = {Active(++number, 1, 1, 5), Active(++number, 2, 1, 5)};
    const std::string lines[] = {ToJson(good[0]), bad.line, ToJson(good[1])};
    const auto outcome = (*ingestor)->Apply(std::vector<std::string_view>(std::begin(lines), std::end(lines)));
    ASSERT_OK(outcome);
    EXPECT_EQ(outcome->rejected, 1U);
    EXPECT_EQ(outcome->accepted, 2U) << bad.line.substr(0, 300);
    for (const Event& event : good) model_.Add(event);
  }
  const auto kept = Kept();
  for (const test::BadEvent& bad : test::BadEvents()) ExpectKept(kept, bad);
  ExpectModel();
}

TEST_P(IngestorTest, BadEventsInTheMiddleOfTenThousand) {
  Random random(braid::test::Seed());
  std::vector<std::string> lines;
  for (uint64_t i = 0; i < 10'000; ++i) {
    const Event event = Active(i, i % 100, i % 7, static_cast<int64_t>(1 + i));
    lines.push_back(ToJson(event));
    model_.Add(event);
  }
  const auto bad = test::BadEvents();
  for (const test::BadEvent& one : bad) {
    lines.insert(lines.begin() + static_cast<int64_t>(random.Below(lines.size())), one.line);
  }
  for (const bool again : {false, true}) {
    const auto outcome = IngestLines(lines);
    ASSERT_OK(outcome);
    EXPECT_EQ(outcome->rejected, bad.size());
    EXPECT_EQ(again ? outcome->duplicate : outcome->accepted, 10'000U);
    const auto kept = Kept();
    EXPECT_EQ(kept.size(), bad.size());
    for (const test::BadEvent& one : bad) ExpectKept(kept, one);
  }
  ExpectModel();
}

TEST_P(IngestorTest, ABadEventOfMegabytesIsKeptWithItsBeginning) {
  const std::vector<std::string> lines = {
      StrCat("{\"x\":\"", std::string((1 << 20) - 7, 'x'), "é", std::string(3 << 20, 'y'))};
  const auto outcome = IngestLines(lines);
  ASSERT_OK(outcome);
  EXPECT_EQ(outcome->rejected, 1U);
  const auto overall = GetOverallStats(store_.clients(), *OpenTables());
  ASSERT_OK(overall);
  EXPECT_EQ(overall->unprocessable_messages, 1);
}

// The property. Several ingestors at once take overlapping parts of one multiset of events, with restarts in between.
TEST_P(IngestorTest, TotalsEqualAModelWhateverComes) {
  Random random(braid::test::Seed());
  constexpr uint64_t kHashes = 250;
  std::vector<std::string> lines;
  const auto bad = test::BadEvents();
  for (uint64_t hash = 0; hash < kHashes; ++hash) {
    std::vector<Event> events;
    const Event active =
        Active(hash, random.Below(25), random.Below(4), static_cast<int64_t>(1 + random.Below(1'000'000)));
    if (random.Chance(9, 10)) events.push_back(active);
    if (random.Chance(1, 2)) events.push_back(Unbonded(hash));
    for (const Event& event : events) {
      model_.Add(event);
      for (uint64_t i = 0; i <= random.Below(3); ++i) lines.push_back(ToJson(event));
    }
    if (random.Chance(1, 20)) lines.push_back(bad[random.Below(bad.size())].line);
  }
  for (size_t i = lines.size(); i > 1; --i) std::swap(lines[i - 1], lines[random.Below(i)]);

  constexpr size_t kPhases = 3;
  constexpr size_t kIngestors = 3;
  const size_t share = lines.size() / kPhases + 1;
  for (size_t phase = 0; phase < kPhases; ++phase) {
    const auto tables = OpenTables();
    std::atomic<bool> stop = false;
    std::thread observer([&] { Observe(*tables, stop); });
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kIngestors; ++i) {
      // Each takes this part, and a piece of any other, in pieces of its own.
      std::vector<std::string> part(lines.begin() + static_cast<int64_t>(phase * share),
                                    lines.begin() + static_cast<int64_t>(std::min((phase + 1) * share, lines.size())));
      for (int more = 0; more < 20; ++more) part.push_back(lines[random.Below(lines.size())]);
      for (size_t at = part.size(); at > 1; --at) std::swap(part[at - 1], part[random.Below(at)]);
      const IngestOptions options{.workers = 1 + random.Below(3), .batch_events_max = 1 + random.Below(60)};
      threads.emplace_back([this, part = std::move(part), options] {
        for (size_t begin = 0; begin < part.size(); begin += 100) {
          const auto outcome =
              IngestLines(std::span(part).subspan(begin, std::min<size_t>(100, part.size() - begin)), options);
          ASSERT_OK(outcome);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    stop = true;
    observer.join();
    store_.Restart();
  }
  ExpectModel();
}

// A writer that gives no number uses that of the store, also while it is being raised (A3).
TEST_P(IngestorTest, TheNumberOfShardsIsRaisedUnderLoad) {
  OpenTables();
  std::atomic<uint32_t> shards = 10;
  std::atomic<uint64_t> next = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&] {
      while (shards < 40) {
        const std::vector<std::string> lines = {ToJson(Active(++next, 1, 1, 1))};
        ASSERT_OK(IngestLines(lines));
      }
    });
  }
  while (shards < 40) {
    Options options = TableOptions();
    options.shard_count = shards + 1;
    ASSERT_OK(Tables::Open(store_.clients(), options));
    ++shards;
  }
  for (std::thread& thread : threads) thread.join();
  for (uint64_t i = 1; i <= next; ++i) model_.Add(Active(i, 1, 1, 1));
  EXPECT_EQ(OpenTables()->overall->shard_count(), 40U);
  ExpectModel();
  Options lowered = TableOptions();
  lowered.shard_count = 39;
  EXPECT_EQ(Tables::Open(store_.clients(), lowered).status().code(), Code::kShardCountLowered);
}

// A process that raises the three sets may be killed in between.
TEST_P(IngestorTest, ANumberThatWasRaisedInOneSetOnlyIsRaisedInAll) {
  for (const char* set : {"overall_stats", "finality_providers_stats", "staker_stats"}) {
    const uint32_t raised = OpenTables()->overall->shard_count() + 3;
    Change("counter_sets", set, StrCat(R"({"$set":{"shards":)", raised, "}}"));
    const auto tables = OpenTables();
    EXPECT_EQ(tables->overall->shard_count(), raised) << set;
    EXPECT_EQ(tables->providers->shard_count(), raised) << set;
    EXPECT_EQ(tables->stakers->shard_count(), raised) << set;
  }
}

TEST_P(IngestorTest, OptionsOutOfRange) {
  for (const IngestOptions& options :
       {IngestOptions{.workers = 0}, IngestOptions{.workers = 65}, IngestOptions{.batch_events_max = 0},
        IngestOptions{.batch_events_max = 20'001}}) {
    EXPECT_EQ(Ingestor::Open(store_.clients(), options).status().code(), Code::kBadValue);
  }
}

}  // namespace
}  // namespace braid::staking
