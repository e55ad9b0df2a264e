// What a replay asks of the store: a balance is written once for all outputs of a batch, and what cannot be stored yet
// is not looked for (C5, C8).
#include <gmock/gmock.h>

#include "services/settlement/views/testing.h"
#include "services/settlement/views/view_changes.h"

namespace braid::settlement {
namespace {

class ReplayTest : public ViewsStoreTest {
 protected:
  /// How often the server was asked for `what`: "query", "update" or "insert".
  int64_t Count(const char* what) {
    const Client client = store_.clients().Acquire();
    client::Bson command;
    command.Integer("serverStatus", 1);
    const auto reply = client::RunCommand(client.get(), "admin", command.get());
    EXPECT_OK(reply);
    bson_iter_t status;
    bson_iter_t counter;
    const std::string path = StrCat("opcounters.", what);
    EXPECT_TRUE(bson_iter_init(&status, reply->get()) && bson_iter_find_descendant(&status, path.c_str(), &counter));
    return bson_iter_as_int64(&counter);
  }
};
INSTANTIATE_ON_STORES(ReplayTest);

TEST_P(ReplayTest, ABalanceIsWrittenOnceForManyOutputs) {
  const auto views = Open(Options(1));
  std::vector<Output> outputs;
  Model model;
  const auto make = [&](int64_t first) {
    outputs.clear();
    for (int64_t i = 0; i < 600; ++i) {
      Output& output = outputs.emplace_back();
      output.output_seq = first + i;
      output.input = StrCat(R"({"note":")", std::string(20'000, 'x'), "\"}");
      output.balance_events.push_back({{StrCat("u", i % 3)}, "USDT", "0.00000001", "x"});
    }
    Append(views->chains(), outputs, model);
  };
  make(1);
  FollowAll(*views);
  make(1001);
  const int64_t before = Count("update");
  FollowAll(*views);
  // Three balances, the marks of their partitions and the floors of three views, although 12 MB were read.
  EXPECT_LE(Count("update") - before, 3 + 3 + 3);
  ExpectModel(*views, model);
}

// Also where the numbers of chains are in another order as texts.
TEST_P(ReplayTest, ManyRowsTakeSeveralCommands) {
  const auto views = Open(Options(1));
  std::vector<Output> outputs;
  Model model;
  const std::string status(250, 's');
  for (int64_t i = 1; i <= 1500; ++i) {
    Output& output = outputs.emplace_back();
    output.output_seq = i;
    const int64_t symbol = 1 + i % 12;
    output.order_update = OrderUpdate{{StrCat("o", i)}, {"u"}, symbol, status};
    for (int64_t trade = 0; trade < i % 13; ++trade) {
      output.trades.push_back({.trade_id = {StrCat("t", i, "-", trade)},
                               .symbol_id = symbol,
                               .price = "12.50",
                               .qty = "0.001",
                               .buyer_id = {"b"},
                               .seller_id = {"s"}});
    }
  }
  Append(views->chains(), outputs, model);
  FollowAll(*views);
  ExpectModel(*views, model);
}

TEST_P(ReplayTest, WhatCannotBeStoredIsNotLookedFor) {
  ViewsOptions options = Options(1);
  options.batch_records_max = 10;
  const auto views = Open(options);
  std::vector<Output> outputs;
  Model model;
  for (int64_t i = 1; i <= 100; ++i) {
    Output& output = outputs.emplace_back();
    output.output_seq = i;
    output.order_update = OrderUpdate{{StrCat("o", i)}, {"u"}, 1, "NEW"};
  }
  Append(views->chains(), outputs, model);
  const int64_t before = Count("query");
  FollowAll(*views);
  const int64_t fresh = Count("query") - before;
  ExpectModel(*views, model);
  // The same again from marks that are not of the first record, so that every order is looked for.
  for (int64_t i = 1; i <= 100; ++i) {
    outputs[static_cast<size_t>(i - 1)].output_seq = 100 + i;
    outputs[static_cast<size_t>(i - 1)].order_update->order_id.text = StrCat("p", i);
  }
  Append(views->chains(), outputs, model);
  const int64_t middle = Count("query");
  FollowAll(*views);
  EXPECT_EQ(Count("query") - middle, fresh + 10);  // one for each batch
  ExpectModel(*views, model);
}

// The balances that a run has written itself are known to it.
TEST_P(ReplayTest, ABalanceIsReadOnceInARun) {
  ViewsOptions options = Options(1);
  options.batch_records_max = 10;
  const auto views = Open(options);
  std::vector<Output> outputs;
  Model model;
  const auto apply = [&](int64_t first, const auto& user_of) {
    outputs.clear();
    for (int64_t i = first; i < first + 100; ++i) {
      Output& output = outputs.emplace_back();
      output.output_seq = i;
      output.balance_events.push_back({{user_of(i)}, "USDT", "0.50000000", "x"});
    }
    Append(views->chains(), outputs, model);
    const int64_t before = Count("query");
    FollowAll(*views);
    ExpectModel(*views, model);
    return Count("query") - before;
  };
  const int64_t without = apply(1, [](int64_t i) { return StrCat("u", i); });  // none of which is looked for
  EXPECT_EQ(apply(101, [](int64_t i) { return StrCat("w", i % 3); }), without + 1);
}

// What a run knows of balances is no longer true once another process has applied outputs beyond it.
TEST_P(ReplayTest, BalancesOfAnotherProcessAreReadAgain) {
  ViewsOptions options = Options();
  options.batch_records_max = 10;
  const auto views = Open(options);
  const auto other = Open(options);
  std::vector<Output> outputs;
  Model model;
  for (int64_t i = 1; i <= 300; ++i) {
    Output& output = outputs.emplace_back();
    output.output_seq = i;
    output.balance_events.push_back({{StrCat("u", i % 3)}, "USDT", "0.50000000", "x"});
  }
  Append(views->chains(), outputs, model);
  bool ahead = false;
  FollowOptions follow;
  follow.on_progress = [&](int64_t applied) {
    if (std::exchange(ahead, true)) return;
    ASSERT_LT(applied, 100);
    FollowOptions half;
    half.stop_before = {{0, 151}};
    ASSERT_OK(other->Follow(half));
  };
  ASSERT_OK(views->Follow(follow));
  EXPECT_TRUE(ahead);
  ExpectModel(*views, model);
}

// A run that knows a balance need not read it, and sees all the same that it is gone.
TEST_P(ReplayTest, ABalanceThatIsRemovedMeanwhileIsAnError) {
  ViewsOptions options = Options(1);
  options.batch_records_max = 10;
  const auto views = Open(options);
  std::vector<Output> outputs;
  Model model;
  for (int64_t i = 1; i <= 300; ++i) {
    Output& output = outputs.emplace_back();
    output.output_seq = i;
    output.balance_events.push_back({{"u"}, "USDT", "0.50000000", "x"});
  }
  Append(views->chains(), outputs, model);
  FollowOptions follow;
  follow.on_progress = [&](int64_t applied) {
    ASSERT_LE(applied, 300);
    const Client client = store_.clients().Acquire();
    const auto balances = client::CollectionOf(client.get(), store_.database(), "balances");
    const client::Bson all;
    bson_error_t error{};
    ASSERT_TRUE(mongoc_collection_delete_many(balances.get(), all.get(), nullptr, nullptr, &error)) << error.message;
  };
  const auto followed = views->Follow(follow);
  ASSERT_FALSE(followed.ok());
  EXPECT_THAT(followed.status().message(), testing::HasSubstr("were removed by another program"));
}

// An order that comes again is found, whether it is in the same batch, in another one, or was applied by somebody else.
TEST_P(ReplayTest, AnOrderThatComesAgainIsFound) {
  ViewsOptions options = Options();
  options.batch_records_max = 7;
  const auto views = Open(options);
  Random random(test::Seed());
  std::vector<Output> outputs;
  Model model;
  for (int64_t i = 1; i <= 200; ++i) {
    Output& output = outputs.emplace_back();
    output.output_seq = i;
    const auto symbol = static_cast<int64_t>(random.Below(3));
    output.order_update = OrderUpdate{{StrCat("o", random.Below(60))}, {"u"}, symbol, StrCat("s", i)};
  }
  Append(views->chains(), outputs, model);
  const auto other = Open(options);
  FollowOptions half;
  half.stop_before = {{1, 101}, {2, 57}};
  ASSERT_OK(other->Follow(half));
  for (const View view : kViews) {  // as if it had been killed before it raised the floor
    Tamper("settlement_views", StrCat(NameOf(view), ":floor"), R"({"$set": {"chains": {}, "applied_seq": 0}})");
  }
  FollowAll(*views);
  ExpectModel(*views, model);
}

TEST(SeenIdsTest, KnowsEveryIdThatWasAdded) {
  views::SeenIds seen(20'000);
  int mistaken = 0;
  for (int i = 0; i < 20'000; ++i) mistaken += seen.TestAndAdd(StrCat("id", i)) ? 1 : 0;
  EXPECT_LT(mistaken, 200);
  for (int i = 0; i < 20'000; ++i) ASSERT_TRUE(seen.TestAndAdd(StrCat("id", i))) << i;
}

}  // namespace
}  // namespace braid::settlement
