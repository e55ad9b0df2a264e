// A follower keeps the views up to a log that grows, whatever else goes on (C8).
#include "services/settlement/views/follower.h"

#include <thread>

#include "embedded/testing/stores.h"
#include "services/settlement/views/testing.h"

namespace braid::settlement {
namespace {

using std::chrono::milliseconds;

class FollowerTest : public ViewsStoreTest {
 protected:
  std::unique_ptr<Follower> Start(const ViewsOptions& views, FollowerOptions options = {}) {
    options.interval = milliseconds(5);
    auto started = Follower::Start(store_.clients(), views, options);
    EXPECT_OK(started);
    return *std::move(started);
  }
  std::vector<Output> Make(int count) {
    std::vector<Output> outputs;
    for (int i = 0; i < count; ++i) outputs.push_back(maker_.Next());
    return outputs;
  }
  static std::vector<ViewProgress> ProgressOf(Views& views) {
    const auto heads = views.chains().Heads();
    EXPECT_OK(heads);
    auto progress = views.Progress(*heads);
    EXPECT_OK(progress);
    EXPECT_EQ(progress->size(), std::size(kViews));
    return *std::move(progress);
  }
  /// False after a minute.
  static bool Until(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
  }

  Random random_{test::Seed()};
  OutputMaker maker_{random_};
  Model model_;
};
INSTANTIATE_ON_STORES(FollowerTest);

TEST_P(FollowerTest, FollowsAGrowingLogBesideAnother) {
  const auto views = Open();
  const auto one = Start(Options(4));
  const auto other = Start(Options(3));
  for (int step = 0; step < 25; ++step) Append(views->chains(), Make(20), model_);
  // Without being asked to.
  const auto newest = [&] {
    int64_t sequence = 0;
    const auto heads = views->chains().Heads();
    EXPECT_OK(heads);
    for (const ChainHead& head : *heads) sequence = std::max(sequence, head.sequence);
    return sequence;
  };
  const int64_t end = newest();
  EXPECT_TRUE(Until([&] { return one->figures().behind == 0 && one->figures().applied_seq == end; }));
  Append(views->chains(), Make(20), model_);
  EXPECT_OK(one->CatchUp());
  for (const ViewProgress& view : ProgressOf(*views)) {
    EXPECT_EQ(view.behind, 0) << NameOf(view.view);
    EXPECT_EQ(view.applied_seq, newest()) << NameOf(view.view);
    EXPECT_EQ(view.collection, NameOf(view.view));
  }
  EXPECT_OK(other->CatchUp());
  EXPECT_EQ(other->figures().failures, 0);
  ExpectModel(*views, model_);
}

TEST_P(FollowerTest, WritersViewsAndRebuildsAtTheSameTime) {
  const auto views = Open();
  const auto follower = Start(Options(4));
  std::vector<std::vector<Output>> shares(3);  // a chain belongs to one writer, as elsewhere
  for (Output& output : Make(600)) {
    output.trades.clear();
    model_.Add(output, SmallestChain(output));
    shares[static_cast<size_t>(SmallestChain(output)) % shares.size()].push_back(std::move(output));
  }
  std::vector<std::thread> writers;
  for (const std::vector<Output>& share : shares) {
    writers.emplace_back([&] {
      for (size_t begin = 0; begin < share.size(); begin += 10) {
        std::vector<ChainRecord> records;
        for (size_t i = begin; i < std::min(begin + 10, share.size()); ++i) records.push_back(ToRecord(share[i]));
        AppendRecords(views->chains(), records);
      }
    });
  }
  for (const View view : kViews) EXPECT_OK(views->Rebuild(view));
  for (std::thread& writer : writers) writer.join();
  EXPECT_OK(follower->CatchUp());
  ExpectModel(*views, model_);
}

// A floor counts what was applied, by any process and in any number of pieces.
TEST_P(FollowerTest, CountsWhatIsBehind) {
  const auto views = Open();
  Append(views->chains(), Make(100), model_);
  const auto total = [&] {
    int64_t records = 0;
    const auto heads = views->chains().Heads();
    EXPECT_OK(heads);
    for (const ChainHead& head : *heads) records += head.records;
    return records;
  };
  const int64_t before = total();
  for (const ViewProgress& view : ProgressOf(*views)) EXPECT_EQ(view.behind, before);
  FollowAll(*views);
  Append(views->chains(), Make(50), model_);
  for (const ViewProgress& view : ProgressOf(*views)) {
    EXPECT_EQ(view.records, before);
    EXPECT_EQ(view.behind, total() - before);
  }
  ViewsOptions small = Options();
  small.batch_records_max = 7;
  FollowAll(*Open(small));
  ASSERT_OK(views->Rebuild(View::kOrders));
  for (const ViewProgress& view : ProgressOf(*views)) {
    EXPECT_EQ(view.records, total());
    EXPECT_EQ(view.behind, 0);
    EXPECT_EQ(view.generation, view.view == View::kOrders ? 2 : 1);
  }
}

TEST_P(FollowerTest, StoppedInTheMiddleAndContinuedByMoreWorkers) {
  const auto views = Open();
  Append(views->chains(), Make(500), model_);
  ViewsOptions options = Options(4);
  options.batch_records_max = 20;
  auto follower = Start(options);
  EXPECT_TRUE(Until([&] { return follower->figures().records >= 40; }));
  follower->Stop();
  EXPECT_EQ(follower->CatchUp().code(), Code::kInterrupted);
  EXPECT_GT(ProgressOf(*views).front().behind, 0);
  const auto check = views->Check();
  ASSERT_OK(check);
  EXPECT_TRUE(check->ok());
  follower = Start(Options(16));
  Append(views->chains(), Make(100), model_);
  EXPECT_OK(follower->CatchUp());
  ExpectModel(*views, model_);
}

TEST_P(FollowerTest, CatchingUpEndsWhenInterrupted) {
  const auto views = Open();
  Append(views->chains(), Make(300), model_);
  ViewsOptions options = Options();
  options.batch_records_max = 1;
  const auto follower = Start(options);
  std::atomic<bool> stop = true;
  EXPECT_EQ(follower->CatchUp({.stop = &stop}).code(), Code::kInterrupted);
  EXPECT_OK(Start(Options())->CatchUp());
  ExpectModel(*views, model_);
}

TEST_P(FollowerTest, TellsDamageOnceAndGoesOnWithTheOthers) {
  const auto views = Open();
  Append(views->chains(), Make(60), model_);
  ChainRecord damaged;
  damaged.chain = 3;
  damaged.sequence = 1000;
  damaged.payload = "not an output";
  AppendRecords(views->chains(), {damaged});
  std::atomic<int> told = 0;
  FollowerOptions options;
  options.retry_most = milliseconds(1);  // looks at the damage again and again
  options.on_damage = [&](const ChainDamage& damage) {
    EXPECT_EQ(damage.chain, 3);
    EXPECT_EQ(damage.sequence, 1000);
    ++told;
  };
  const auto follower = Start(Options(), options);
  EXPECT_TRUE(Until([&] { return told == 1; }));
  for (int64_t sequence = 1001; sequence <= 1005; ++sequence) {
    Output output;
    output.output_seq = sequence;
    output.order_update =
        OrderUpdate{.order_id = {StrCat("new", sequence)}, .user_id = {"u"}, .symbol_id = 1, .status = "open"};
    Append(views->chains(), {output}, model_);
  }
  const Status caught_up = follower->CatchUp();
  EXPECT_EQ(caught_up.code(), Code::kRecordDamaged);
  EXPECT_NE(caught_up.message().find("symbol 3, output 1000"), std::string::npos) << caught_up.message();
  EXPECT_EQ(told, 1);
  EXPECT_EQ(follower->damage().size(), 1u);
  EXPECT_EQ(follower->figures().behind, 1);
  ExpectModel(*views, model_);
}

TEST_P(FollowerTest, AViewThatCannotBeExactIsLeftOutAndTheOthersGoOn) {
  const auto views = Open();
  std::atomic<int> told = 0;
  FollowerOptions options;
  options.on_failure = [&](const Status& why) {
    EXPECT_EQ(why.code(), Code::kOverflow);
    ++told;
  };
  const auto follower = Start(Options(), options);
  const auto deposit = [&](int64_t sequence, const char* delta) {
    Output output;
    output.output_seq = sequence;
    output.order_update =
        OrderUpdate{.order_id = {StrCat("o", sequence)}, .user_id = {"u"}, .symbol_id = 1, .status = "open"};
    output.balance_events.push_back({.user_id = {"u"}, .asset = "USDT", .delta = delta, .reason = "deposit"});
    AppendRecords(views->chains(), {ToRecord(output)});
  };
  deposit(1, "1");
  ASSERT_TRUE(Until([&] { return Read(*views, View::kBalances, "balance").size() == 1; }));
  Tamper("balances", "u:USDT", R"({"$set": {"balance": {"$numberDecimal": "Infinity"}}})");
  deposit(2, "0.5");
  EXPECT_TRUE(Until([&] { return told == 1; }));
  deposit(3, "1");
  EXPECT_EQ(follower->CatchUp().code(), Code::kOverflow);
  EXPECT_EQ(told, 1);
  EXPECT_EQ(Read(*views, View::kOrders, "status").size(), 3u);
  EXPECT_EQ(follower->figures().failures, 0);
}

// A store that is away for a while is waited for; one that cannot come back is not.
TEST_P(FollowerTest, EndsByItselfOnlyIfTheStoreFailedForGood) {
  test::FlakyClients flaky(store_.clients());
  FollowerOptions options;
  options.interval = options.retry_first = options.retry_most = milliseconds(1);
  auto follower = Follower::Start(flaky, Options(), options);
  ASSERT_OK(follower);
  flaky.Fail(true);
  ASSERT_TRUE(Until([&] { return (*follower)->figures().failures > 2; }));
  EXPECT_FALSE((*follower)->ended());
  flaky.FailForGood();
  ASSERT_TRUE(Until([&] { return (*follower)->ended(); }));
  EXPECT_EQ((*follower)->CatchUp().code(), Code::kHostUnreachable);
}

TEST_P(FollowerTest, OptionsAreChecked) {
  FollowerOptions options;
  options.interval = milliseconds(0);
  EXPECT_EQ(Follower::Start(store_.clients(), Options(), options).status().code(), Code::kBadValue);
  EXPECT_EQ(Follower::Start(store_.clients(), Options(0), {}).status().code(), Code::kBadValue);
}

}  // namespace
}  // namespace braid::settlement
