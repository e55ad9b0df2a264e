// Building a view again beside the one that is there, while everything goes on; and damaged logs (C5, C8).
#include <algorithm>
#include <thread>

#include "services/settlement/views/testing.h"

namespace braid::settlement {
namespace {

class RebuildTest : public ViewsStoreTest {
 protected:
  std::vector<Output> Make(OutputMaker& maker, int count) {
    std::vector<Output> outputs;
    for (int i = 0; i < count; ++i) outputs.push_back(maker.Next());
    return outputs;
  }
  static std::vector<ChainRecord> RecordsOf(const std::vector<Output>& outputs) {
    std::vector<ChainRecord> records;
    for (const Output& output : outputs) records.push_back(ToRecord(output));
    return records;
  }
  std::vector<std::string> Collections() {
    const Client client = store_.clients().Acquire();
    const client::DatabasePtr database(mongoc_client_get_database(client.get(), store_.database().c_str()));
    bson_error_t error{};
    char** const names = mongoc_database_get_collection_names_with_opts(database.get(), nullptr, &error);
    std::vector<std::string> found;
    for (char** name = names; name != nullptr && *name != nullptr; ++name) found.emplace_back(*name);
    bson_strfreev(names);
    std::sort(found.begin(), found.end());
    return found;
  }
  // Collections that a rebuild fills.
  size_t BuiltOnes() {
    const auto all = Collections();
    return static_cast<size_t>(std::count_if(
        all.begin(), all.end(), [](const std::string& name) { return name.find("_g") != std::string::npos; }));
  }
  std::string CollectionOf(Views& views, View view) {
    std::string name;
    EXPECT_OK(views.Read(view, [&](const std::string& collection) {
      name = collection;
      return Status();
    }));
    return name;
  }
  void Rename(const std::string& from, const std::string& to) {
    const Client client = store_.clients().Acquire();
    client::Bson rename;
    rename.Text("renameCollection", StrCat(store_.database(), ".", from))
        .Text("to", StrCat(store_.database(), ".", to));
    ASSERT_OK(client::RunCommand(client.get(), "admin", rename.get()));
  }
  // A byte of the last segment of a chain is not what it was.
  void Damage(int64_t chain) {
    const Client client = store_.clients().Acquire();
    const auto log = client::CollectionOf(client.get(), store_.database(), "engine_output_log");
    client::Bson filter;
    filter.Integer("symbol_id", chain);
    client::Bson sort;
    sort.Integer("last_seq", -1);
    client::Bson opts;
    opts.Document("sort", sort).Integer("limit", 1);
    const client::CursorPtr cursor(mongoc_collection_find_with_opts(log.get(), filter.get(), opts.get(), nullptr));
    const bson_t* document = nullptr;
    ASSERT_TRUE(mongoc_cursor_next(cursor.get(), &document));
    std::string data(client::BinaryOf(document, "data"));
    data[50] ^= 1;  // in the hash of its first record
    client::Bson id;
    id.Text("_id", client::TextOf(document, "_id"));
    client::Bson fields;
    fields.Binary("data", data);
    client::Bson change;
    change.Document("$set", fields);
    bson_error_t error{};
    ASSERT_TRUE(mongoc_collection_update_one(log.get(), id.get(), change.get(), nullptr, nullptr, &error))
        << error.message;
  }
};
INSTANTIATE_ON_STORES(RebuildTest);

TEST_P(RebuildTest, TakesThePlaceOfTheOldOne) {
  Random random(test::Seed());
  OutputMaker maker(random);
  Model model;
  const auto views = Open();
  Append(views->chains(), Make(maker, 150), model);
  FollowAll(*views);
  ASSERT_OK(views->Rebuild(View::kBalances));
  EXPECT_EQ(CollectionOf(*views, View::kBalances), "balances");
  EXPECT_EQ(CollectionOf(*views, View::kTrades), "trades");
  EXPECT_EQ(BuiltOnes(), 0u);
  ExpectModel(*views, model);
  Append(views->chains(), Make(maker, 50), model);
  FollowAll(*views);
  ExpectModel(*views, model);
}

TEST_P(RebuildTest, WhileOthersAppendFollowAndRead) {
  Random random(test::Seed());
  OutputMaker maker(random);
  Model model;
  const auto views = Open();
  const auto follower = Open(Options(2));
  Append(views->chains(), Make(maker, 300), model);
  FollowAll(*views);
  std::atomic<bool> done = false;
  std::thread following([&] {
    while (!done) FollowAll(*follower);
  });
  std::thread reading([&] {
    size_t orders = 0;
    while (!done) {
      const size_t now = Read(*follower, View::kOrders, "status").size();
      EXPECT_GE(now, orders);  // a half-built view would have fewer
      orders = now;
    }
  });
  std::thread rebuilding([&] {
    for (int i = 0; i < 3; ++i) {
      for (const View view : kViews) EXPECT_OK(views->Rebuild(view));
    }
  });
  const auto appender = Open();
  for (int step = 0; step < 10; ++step) Append(appender->chains(), Make(maker, 20), model);
  rebuilding.join();
  done = true;
  following.join();
  reading.join();
  FollowAll(*views);
  ExpectModel(*views, model);
  EXPECT_EQ(CollectionOf(*views, View::kOrders), "orders");
  EXPECT_EQ(BuiltOnes(), 0u);
}

TEST_P(RebuildTest, GoesOnAfterAnInterruption) {
  Random random(test::Seed());
  OutputMaker maker(random);
  Model model;
  std::atomic<bool> stop = false;
  ViewsOptions options = Options();
  options.batch_records_max = 50;
  options.stop = &stop;
  auto views = Open(options);
  Append(views->chains(), Make(maker, 400), model);
  FollowAll(*views);
  FollowOptions interrupted;
  interrupted.on_progress = [&](int64_t records) { stop = records >= 100; };
  EXPECT_EQ(views->Rebuild(View::kBalances, interrupted).status().code(), Code::kInterrupted);
  EXPECT_EQ(CollectionOf(*views, View::kBalances), "balances");
  ExpectModel(*Open(), model);
  views.reset();
  store_.Restart();
  stop = false;
  views = Open(options);
  const auto rebuilt = views->Rebuild(View::kBalances);
  ASSERT_OK(rebuilt);
  EXPECT_LT(rebuilt->records, 400);
  EXPECT_EQ(CollectionOf(*views, View::kBalances), "balances");
  EXPECT_EQ(BuiltOnes(), 0u);
  ExpectModel(*views, model);
}

// As a process leaves it that is killed after the switch: before the collection was renamed, and after.
TEST_P(RebuildTest, AMoveThatWasKilledIsFinished) {
  Random random(test::Seed());
  OutputMaker maker(random);
  Model model;
  const auto views = Open();
  for (const bool renamed : {false, true}) {
    Append(views->chains(), Make(maker, 60), model);
    FollowAll(*views);
    if (!renamed) {
      Rename("balances", "balances_g7_x");
      const Client client = store_.clients().Acquire();
      const auto old = client::CollectionOf(client.get(), store_.database(), "balances");
      client::Bson document;
      document.Text("_id", "old:USDT");
      bson_error_t error{};
      ASSERT_TRUE(mongoc_collection_insert_one(old.get(), document.get(), nullptr, nullptr, &error)) << error.message;
    }
    Tamper("settlement_views", "balances", R"({"$set": {"moving": "balances_g7_x", "generation": 7, "last": 7}})");
    Tamper("settlement_views", "balances:floor", R"({"$set": {"moving": true}})");
    Append(views->chains(), Make(maker, 60), model);
    FollowAll(*views);
    EXPECT_EQ(BuiltOnes(), 0u);
    ExpectModel(*views, model);
  }
}

TEST_P(RebuildTest, AllViewsAreBuiltFromOneReading) {
  Random random(test::Seed());
  OutputMaker maker(random);
  Model model;
  const auto views = Open();
  Append(views->chains(), Make(maker, 150), model);
  FollowAll(*views);
  const auto heads = views->chains().Heads();
  ASSERT_OK(heads);
  int64_t records = 0;
  for (const ChainHead& head : *heads) records += head.records;
  const auto rebuilt = views->Rebuild(kViews);
  ASSERT_OK(rebuilt);
  EXPECT_EQ(rebuilt->replay.records, records);
  EXPECT_TRUE(rebuilt->kept.empty());
  const auto progress = views->Progress(*heads);
  ASSERT_OK(progress);
  for (const ViewProgress& view : *progress) {
    EXPECT_EQ(view.collection, NameOf(view.view));
    EXPECT_EQ(view.generation, 2);
  }
  ExpectModel(*views, model);
}

// A store of an earlier version, whose generations had other names.
TEST_P(RebuildTest, AViewOfAnotherNameGetsItsOwn) {
  Random random(test::Seed());
  OutputMaker maker(random);
  Model model;
  const auto views = Open();
  Append(views->chains(), Make(maker, 60), model);
  Rename("orders", "orders_g2");
  Tamper("settlement_views", "orders", R"({"$set": {"collection": "orders_g2", "generation": 2, "last": 2}})");
  {
    const Client client = store_.clients().Acquire();
    const auto marks = client::CollectionOf(client.get(), store_.database(), "settlement_views");
    for (int i = -1; i < 64; ++i) {
      const std::string part = i < 0 ? "floor" : StrCat(i);
      client::Bson document;
      document.Text("_id", StrCat("orders_g2:", part)).Integer("applied_seq", 0).Document("chains", client::Bson());
      bson_error_t error{};
      ASSERT_TRUE(mongoc_collection_insert_one(marks.get(), document.get(), nullptr, nullptr, &error)) << error.message;
    }
  }
  FollowAll(*views);
  EXPECT_EQ(CollectionOf(*views, View::kOrders), "orders_g2");
  ASSERT_OK(views->Rebuild(View::kOrders));
  EXPECT_EQ(CollectionOf(*views, View::kOrders), "orders");
  EXPECT_EQ(BuiltOnes(), 0u);
  ExpectModel(*views, model);
}

TEST_P(RebuildTest, ADamagedChainIsAppliedUpToTheDamageAndOthersGoOn) {
  Random random(test::Seed());
  OutputMaker maker(random);
  Model model;
  const auto views = Open();
  Append(views->chains(), Make(maker, 100), model);
  FollowAll(*views);
  const auto applied = views->Applied(View::kTrades);
  ASSERT_OK(applied);
  // Only symbols 1 and 2 grow, each alone; the new segment of 1 is damaged.
  std::vector<ChainRecord> records;
  for (int64_t sequence = 1001; sequence <= 1010; ++sequence) {
    Output output;
    output.output_seq = sequence;
    output.order_update = OrderUpdate{
        .order_id = {StrCat("new", sequence)}, .user_id = {"u"}, .symbol_id = 1 + sequence % 2, .status = "open"};
    if (sequence % 2 == 1) model.Add(output, 2);
    records.push_back(ToRecord(output));
  }
  AppendRecords(views->chains(), records);
  Damage(1);
  for (int again = 0; again < 2; ++again) {
    const auto report = views->Follow();
    ASSERT_OK(report);
    ASSERT_EQ(report->damage.size(), 1u);
    EXPECT_EQ(report->damage[0].chain, 1);
    EXPECT_EQ(report->damage[0].sequence, 1002);
    EXPECT_NE(report->damage[0].what.find("hash"), std::string::npos) << report->damage[0].what;
    EXPECT_EQ(report->records, again == 0 ? 5 : 0);
  }
  const auto after = views->Applied(View::kTrades);
  ASSERT_OK(after);
  EXPECT_EQ(after->at(1), applied->at(1));
  EXPECT_EQ(after->at(2), 1009);
  ExpectModel(*views, model);
}

TEST_P(RebuildTest, RefusedIfTheLogHasLostWhatTheViewIsMadeOf) {
  Random random(test::Seed());
  OutputMaker maker(random);
  Model model;
  const auto views = Open();
  Append(views->chains(), Make(maker, 100), model);
  FollowAll(*views);
  const auto before = Read(*views, View::kBalances, "balance");
  Damage(1);
  const auto rebuilt = views->Rebuild(View::kBalances);
  EXPECT_EQ(rebuilt.status().code(), Code::kRecordDamaged) << rebuilt.status().ToString();
  EXPECT_EQ(CollectionOf(*views, View::kBalances), "balances");
  EXPECT_EQ(BuiltOnes(), 0u);
  EXPECT_EQ(Read(*views, View::kBalances, "balance"), before);
  const auto check = views->Check();
  ASSERT_OK(check);
  EXPECT_FALSE(check->ok());
  ASSERT_FALSE(check->damage.empty());
  EXPECT_EQ(check->damage[0].chain, 1);
}

TEST_P(RebuildTest, ALogThatIsAnotherIsNamed) {
  const auto views = Open();
  Random random(test::Seed());
  OutputMaker maker(random);
  Model model;
  Append(views->chains(), Make(maker, 50), model);
  FollowAll(*views);
  const auto applied = views->Applied(View::kOrders);
  ASSERT_OK(applied);
  // The log is gone; the views are not.
  {
    const Client client = store_.clients().Acquire();
    for (const char* const name : {"engine_output_log", "engine_output_log_heads"}) {
      ASSERT_OK(client::DropCollection(client.get(), store_.database(), name));
    }
  }
  const auto report = views->Follow();
  ASSERT_OK(report);
  EXPECT_EQ(report->damage.size(), applied->size());
  // Sound as what is there now may be, it has not all that the view is made of.
  OutputMaker other(random);
  for (const int outputs : {0, 10}) {
    AppendRecords(Open()->chains(), RecordsOf(Make(other, outputs)));  // by a process that knows of no other log
    EXPECT_EQ(views->Rebuild(View::kOrders).status().code(), Code::kRecordDamaged);
    EXPECT_EQ(CollectionOf(*views, View::kOrders), "orders");
  }
}

}  // namespace
}  // namespace braid::settlement
