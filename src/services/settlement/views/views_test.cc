// Views against a plain model, through anything that may happen to a process (C8).
#include "services/settlement/views/views.h"

#include <thread>

#include "services/settlement/views/testing.h"

namespace braid::settlement {
namespace {

class ViewsTest : public ViewsStoreTest {};
INSTANTIATE_ON_STORES(ViewsTest);

Output Deposit(int64_t sequence, const std::string& user, const std::string& asset, const std::string& delta) {
  Output output;
  output.output_seq = sequence;
  output.balance_events.push_back({.user_id = {user}, .asset = asset, .delta = delta, .reason = "deposit"});
  return output;
}

TEST_P(ViewsTest, EqualTheModelWhateverHappens) {
  Random random(test::Seed());
  OutputMaker maker(random);
  Model model;
  std::vector<Output> all;
  auto views = Open();
  for (int step = 0; step < 12; ++step) {
    std::vector<Output> outputs;
    for (uint64_t i = random.Below(60); i > 0; --i) outputs.push_back(all.emplace_back(maker.Next()));
    Append(views->chains(), outputs, model);
    if (!all.empty() && random.Chance(1, 2)) {  // the same again: acknowledged, not stored twice
      AppendRecords(views->chains(), {ToRecord(all[random.Below(all.size())])});
    }
    if (random.Chance(1, 3)) {
      views.reset();
      store_.Restart();
      ViewsOptions options = Options(1 + static_cast<uint32_t>(random.Below(20)));
      options.batch_records_max = 1 + static_cast<uint32_t>(random.Below(100));
      views = Open(options);
    }
    if (random.Chance(2, 3)) FollowAll(*views);
  }
  FollowAll(*views);
  ExpectModel(*views, model);
  FollowAll(*views);
  ExpectModel(*views, model);
}

// Marks go back to an older state only with the documents; so a floor that was never raised is the worst a kill leaves.
TEST_P(ViewsTest, ABatchAgainChangesNothing) {
  Random random(test::Seed());
  OutputMaker maker(random);
  Model model;
  std::vector<Output> outputs;
  for (int i = 0; i < 200; ++i) outputs.push_back(maker.Next());
  const auto views = Open();
  Append(views->chains(), outputs, model);
  FollowAll(*views);
  for (const View view : kViews) {
    Tamper("settlement_views", StrCat(NameOf(view), ":floor"), R"({"$set": {"chains": {}, "applied_seq": 0}})");
  }
  const auto again = views->Follow();
  ASSERT_OK(again);
  EXPECT_GE(again->records, 200);
  ExpectModel(*views, model);
}

TEST_P(ViewsTest, SeveralFollowWhileOthersAppend) {
  Random random(test::Seed());
  OutputMaker maker(random);
  Model model;
  auto views = Open(Options(3));
  auto others = Open(Options(5));
  std::atomic<bool> done = false;
  std::thread follower([&] {
    while (!done) FollowAll(*others);
  });
  for (int step = 0; step < 15; ++step) {
    std::vector<Output> outputs;
    for (int i = 0; i < 20; ++i) outputs.push_back(maker.Next());
    Append(views->chains(), outputs, model);
    if (step % 3 == 0) FollowAll(*views);
  }
  done = true;
  follower.join();
  FollowAll(*views);
  ExpectModel(*views, model);
}

TEST_P(ViewsTest, BalancesAreExact) {
  const auto views = Open();
  const std::string large = "123456789012345678901234567890";
  AppendRecords(views->chains(), {ToRecord(Deposit(1, "a", "USDT", "0.1")), ToRecord(Deposit(2, "a", "USDT", "0.2")),
                                  ToRecord(Deposit(3, "b", "USDT", large)), ToRecord(Deposit(4, "b", "USDT", "0.0001")),
                                  ToRecord(Deposit(5, "c:d", "e", "1")), ToRecord(Deposit(6, "c", "d:e", "2"))});
  FollowAll(*views);
  const std::map<std::string, std::string> expected = {
      {"a:USDT", "0.3"}, {"b:USDT", large + ".0001"}, {"c%3Ad:e", "1"}, {"c:d:e", "2"}};
  EXPECT_EQ(Read(*views, View::kBalances, "balance"), expected);
}

// One account with more than 34 digits: its balance is exact, everybody else's goes on, and it comes back.
TEST_P(ViewsTest, BalancesOfAnyLengthAreExact) {
  const auto views = Open();
  const std::string nines(34, '9');
  AppendRecords(views->chains(), {ToRecord(Deposit(1, "a", "USDT", nines)), ToRecord(Deposit(2, "b", "USDT", "1"))});
  FollowAll(*views);
  AppendRecords(views->chains(), {ToRecord(Deposit(3, "a", "USDT", "0.1")), ToRecord(Deposit(4, "b", "USDT", "1"))});
  FollowAll(*views);
  const std::map<std::string, std::string> longer = {{"a:USDT", nines + ".1"}, {"b:USDT", "2"}};
  EXPECT_EQ(Read(*views, View::kBalances, "balance"), longer);
  ASSERT_OK(views->Rebuild(View::kBalances));
  EXPECT_EQ(Read(*views, View::kBalances, "balance"), longer);
  AppendRecords(views->chains(), {ToRecord(Deposit(5, "a", "USDT", "-" + nines))});
  FollowAll(*views);
  EXPECT_EQ(Read(*views, View::kBalances, "balance")["a:USDT"], "0.1");
  const auto check = views->Check();
  ASSERT_OK(check);
  EXPECT_TRUE(check->ok());
}

// Only what somebody else wrote into a view can stop it; it says where until it goes on.
TEST_P(ViewsTest, AViewThatIsStuckSaysWhyAndTheOthersGoOn) {
  const auto views = Open();
  AppendRecords(views->chains(), {ToRecord(Deposit(1, "b", "USDT", "1"))});
  FollowAll(*views);
  Tamper("balances", "b:USDT", R"({"$set": {"balance": {"$numberDecimal": "NaN"}}})");
  Output order = Deposit(3, "a", "USDT", "1");
  order.order_update = OrderUpdate{.order_id = {"o"}, .user_id = {"a"}, .symbol_id = 0, .status = "new"};
  AppendRecords(views->chains(), {ToRecord(Deposit(2, "b", "USDT", "1")), ToRecord(order)});
  const auto why = [&] {
    const auto progress = views->Progress({});
    EXPECT_OK(progress);
    return progress->front().stuck;
  };
  EXPECT_EQ(why(), "");
  ASSERT_EQ(views->Follow().status().code(), Code::kOverflow);
  EXPECT_NE(why().find("user b in USDT after output 2"), std::string::npos) << why();
  EXPECT_EQ(Read(*views, View::kOrders, "status")["o"], "new");
  Tamper("balances", "b:USDT", R"({"$set": {"balance": {"$numberDecimal": "1"}}})");
  FollowAll(*views);
  EXPECT_EQ(why(), "");
  EXPECT_EQ(Read(*views, View::kBalances, "balance")["b:USDT"], "2");
}

TEST_P(ViewsTest, CheckFindsWhatWasTamperedWith) {
  Random random(test::Seed());
  OutputMaker maker(random);
  Model model;
  std::vector<Output> outputs;
  for (int i = 0; i < 100; ++i) outputs.push_back(maker.Next());
  const auto views = Open();
  Append(views->chains(), outputs, model);
  FollowAll(*views);
  const std::string balance = model.balances.begin()->first;
  const std::string trade = model.trades.begin()->first;
  Tamper("balances", balance, R"({"$inc": {"balance": {"$numberDecimal": "0.00000001"}}})");
  Tamper("trades", trade, R"({"$set": {"note": "added"}})");
  const auto check = views->Check();
  ASSERT_OK(check);
  EXPECT_FALSE(check->ok());
  ASSERT_EQ(check->differences.size(), 2u);
  EXPECT_EQ(check->differences[0].id, balance);
  EXPECT_NE(check->differences[0].expected, check->differences[0].found);
  EXPECT_EQ(check->differences[1].id, trade);
  // Building it again makes it right.
  ASSERT_OK(views->Rebuild(View::kBalances));
  ASSERT_OK(views->Rebuild(View::kTrades));
  ExpectModel(*views, model);
}

// A source should not do it; the view must be a recount all the same, whichever of the two is applied first.
TEST_P(ViewsTest, TwoUpdatesOfOneSequence) {
  const auto views = Open();
  const auto order = [](int64_t symbol, const char* status) {
    Output output;
    output.output_seq = 5;
    output.order_update = OrderUpdate{.order_id = {"o"}, .user_id = {"u"}, .symbol_id = symbol, .status = status};
    return ToRecord(output);
  };
  AppendRecords(views->chains(), {order(2, "first")});
  FollowAll(*views);
  AppendRecords(Open()->chains(), {order(1, "second")});  // by another process, which cannot know
  FollowAll(*views);
  EXPECT_EQ(Read(*views, View::kOrders, "status")["o"], "first");
  const auto check = views->Check();
  ASSERT_OK(check);
  EXPECT_TRUE(check->ok());
}

TEST_P(ViewsTest, OptionsAreChecked) {
  EXPECT_EQ(Views::Open(store_.clients(), Options(0)).status().code(), Code::kBadValue);
  EXPECT_EQ(Views::Open(store_.clients(), Options(65)).status().code(), Code::kBadValue);
}

}  // namespace
}  // namespace braid::settlement
