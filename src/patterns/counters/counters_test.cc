// Counters against a plain map: ids, sums, growth of N, and entities that are counted once.
#include "braid/counters.h"

#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "embedded/testing/stores.h"

namespace braid {
namespace {

using client::Bson;
using Body = std::function<Status(Transaction&)>;

class CountersTest : public test::StoreTest {
 protected:
  Status Run(const Body& body) { return RunTransaction(store_.clients(), {.database = store_.database()}, body); }

  CounterOptions OptionsOf(uint32_t shards) const {
    return {.database = store_.database(), .collection = "totals", .fields = {"a", "b"}, .shard_count = shards};
  }
  std::unique_ptr<Counters> Open(uint32_t shards) {
    auto opened = Counters::Open(store_.clients(), OptionsOf(shards));
    EXPECT_OK(opened);
    return *std::move(opened);
  }

  Status Add(Counters& counters, uint32_t shard, const std::string& entity, int64_t a, int64_t b = 0) {
    const Counters::Increment increment{.entity = entity, .by = {{"a", a}, {"b", b}}};
    return Run([&](Transaction& transaction) { return counters.Add(transaction, shard, {&increment, 1}); });
  }
  Result<int64_t> AddCountingNew(Counters& counters, uint32_t shard, std::span<const Counters::Increment> increments) {
    int64_t counted = 0;
    BRAID_CHECK_OK(Run([&](Transaction& transaction) -> Status {
      BRAID_TRY(counted, counters.AddCountingNew(transaction, shard, increments));
      return {};
    }));
    return counted;
  }
  CounterValues Sum(const Counters& counters, const std::string& entity) {
    CounterValues sums;
    EXPECT_OK(Run([&](Transaction& transaction) -> Status {
      BRAID_TRY(sums, counters.Sum(transaction, entity));
      return {};
    }));
    return sums;
  }
  struct Summed {
    std::string name;
    CounterValues sums;
    bool counted = false;
  };
  std::vector<Summed> All(const Counters& counters) {
    std::vector<Summed> entities;
    EXPECT_OK(Run([&](Transaction& transaction) {
      entities.clear();
      return counters.ForEach(transaction, [&](const Counters::Entity& entity) -> Status {
        BRAID_TRY(const CounterValues sums, counters.Narrow(entity.name, entity.sums));
        entities.push_back({.name = entity.name, .sums = sums, .counted = entity.counted});
        return {};
      });
    }));
    return entities;
  }
  // Adds to field a of the whole as writers do that keep its sum within 64 bits.
  Status AddWithRoom(Counters& counters, uint32_t shard, int64_t a) {
    const Counters::Increment increment{.by = {{"a", a}}};
    return Run([&](Transaction& transaction) -> Status {
      BRAID_CHECK_OK(counters.ExpectRoom(transaction, shard, "a", a));
      return counters.Add(transaction, shard, {&increment, 1});
    });
  }
  // _id to field a, as they are in the store.
  std::map<std::string, int64_t> Documents() {
    std::map<std::string, int64_t> documents;
    const Bson all;
    EXPECT_OK(Run([&](Transaction& transaction) {
      documents.clear();
      return transaction.Find("totals", all.get(), [&](const bson_t& document) {
        documents.emplace(client::TextOf(&document, "_id"), client::IntegerOf(&document, "a"));
        return Status();
      });
    }));
    return documents;
  }
};
INSTANTIATE_ON_STORES(CountersTest);

// A1: "0" … "N-1" of the whole, "{entity}:{shard}" of an entity.
TEST_P(CountersTest, IdsAreShardNumbersAndEntityWithShard) {
  const auto counters = Open(12);
  ASSERT_OK(Add(*counters, 0, "", 1));
  ASSERT_OK(Add(*counters, 11, "", 2));
  ASSERT_OK(Add(*counters, 3, "fp1", 4));
  ASSERT_OK(Add(*counters, 10, "fp1", 8));
  const std::map<std::string, int64_t> expected = {{"0", 1}, {"11", 2}, {"fp1:3", 4}, {"fp1:10", 8}};
  EXPECT_EQ(Documents(), expected);
}

TEST_P(CountersTest, ANewEntityStartsInShardZero) {
  const auto counters = Open(4);
  const std::vector<Counters::Increment> increments = {{.entity = "x", .by = {{"a", 5}}},
                                                       {.entity = "x", .by = {{"a", 6}}}};
  EXPECT_EQ(AddCountingNew(*counters, 3, increments).value(), 1);
  EXPECT_EQ(AddCountingNew(*counters, 3, increments).value(), 0);
  const std::map<std::string, int64_t> expected = {{"x:0", 11}, {"x:3", 11}};
  EXPECT_EQ(Documents(), expected);
}

TEST_P(CountersTest, IncrementsOfOneEntityBecomeOneChangeAndNoChangeNoDocument) {
  const auto counters = Open(2);
  const std::vector<Counters::Increment> increments = {{.entity = "x", .by = {{"a", 1}, {"b", 2}}},
                                                       {.entity = "y", .by = {{"a", 7}, {"b", 0}}},
                                                       {.entity = "x", .by = {{"a", -1}, {"b", -2}}}};
  ASSERT_OK(Run([&](Transaction& transaction) { return counters->Add(transaction, 1, increments); }));
  const std::map<std::string, int64_t> expected = {{"y:1", 7}};
  EXPECT_EQ(Documents(), expected);
}

TEST_P(CountersTest, ANameThatWouldMakeAnotherId) {
  const auto counters = Open(2);
  EXPECT_EQ(Add(*counters, 0, "a:1", 1).code(), Code::kBadValue);
  EXPECT_EQ(Add(*counters, 0, std::string("a\0b", 3), 1).code(), Code::kBadValue);
  EXPECT_TRUE(Documents().empty());
}

// Any increments on any shards sum up to what a map says (A2); single shards may be negative.
TEST_P(CountersTest, SumsEqualAPlainModel) {
  Random random(test::Seed());
  const auto counters = Open(1 + static_cast<uint32_t>(random.Below(20)));
  std::map<std::string, CounterValues> model;
  for (int step = 0; step < 100; ++step) {
    std::vector<Counters::Increment> increments;
    for (uint64_t i = 0; i <= random.Below(5); ++i) {
      const std::string entity = random.Chance(1, 3) ? "" : StrCat("e", random.Below(6));
      const auto by = [&] { return static_cast<int64_t>(random.Below(2000)) - 1000; };
      increments.push_back({.entity = entity, .by = {{"a", by()}, {"b", by()}}});
      for (const auto& [field, value] : increments.back().by) model[entity][field] += value;
    }
    const auto shard = static_cast<uint32_t>(random.Below(counters->shard_count()));
    ASSERT_OK(Run([&](Transaction& transaction) { return counters->Add(transaction, shard, increments); }));
  }
  for (const auto& [entity, sums] : model) EXPECT_EQ(Sum(*counters, entity), sums) << entity;
  EXPECT_EQ(Sum(*counters, "unknown"), CounterValues{});
  std::map<std::string, CounterValues> merged;
  for (const Summed& entity : All(*counters)) merged.emplace(entity.name, entity.sums);
  model.erase("");
  EXPECT_EQ(merged, model);
}

// A writer that was opened with the old N goes on writing, and all reads cover what is written beyond it (A3).
TEST_P(CountersTest, NIsRaisedWhileAnotherWritesWithTheOld) {
  const auto old = Open(3);
  std::atomic<bool> stop = false;
  std::atomic<int64_t> written = 0;
  std::thread writer([&] {
    for (uint32_t i = 0; !stop; ++i) {
      EXPECT_OK(Add(*old, i % 3, "", 1));
      ++written;
    }
  });
  int64_t raised = 0;
  for (uint32_t n = 4; n <= 9; ++n) {
    const auto now = Open(n);
    EXPECT_EQ(now->shard_count(), n);
    ASSERT_OK(Add(*now, n - 1, "", 1000));
    raised += 1000;
    const int64_t before = written;
    EXPECT_GE(Sum(*old, "")["a"], raised + before);
  }
  stop = true;
  writer.join();
  EXPECT_EQ(old->shard_count(), 3U);
  EXPECT_EQ(Sum(*old, "")["a"], raised + written);
  EXPECT_EQ(Sum(*Open(9), "")["a"], raised + written);
}

TEST_P(CountersTest, NIsNeverLowered) {
  ASSERT_OK(Add(*Open(7), 6, "", 5));
  const auto lowered = Counters::Open(store_.clients(), OptionsOf(6));
  ASSERT_FALSE(lowered.ok());
  EXPECT_EQ(lowered.error().code(), Code::kShardCountLowered);
  const std::string message(lowered.error().message());
  for (const char* part :
       {"totals", "7 logical shards", "only be raised", "6 would leave shards out", "Use 7 or more"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  store_.Restart();
  EXPECT_EQ(Counters::Open(store_.clients(), OptionsOf(6)).status().code(), Code::kShardCountLowered);
  EXPECT_EQ(Sum(*Open(7), "")["a"], 5);
}

TEST_P(CountersTest, OptionsOutOfRange) {
  for (const uint32_t shards : {0U, 10'001U}) {
    EXPECT_EQ(Counters::Open(store_.clients(), OptionsOf(shards)).status().code(), Code::kBadValue);
  }
  CounterOptions options = OptionsOf(1);
  options.fields.clear();
  EXPECT_EQ(options.Validate().code(), Code::kBadValue);
  options.fields.assign(kCounterFieldsMax + 1, "f");
  EXPECT_EQ(options.Validate().code(), Code::kBadValue);
}

// Threads with objects of their own, as processes have, that meet the same new entities in different batches.
TEST_P(CountersTest, ANewEntityIsCountedOnceWhoeverAddsIt) {
  constexpr int kThreads = 4;
  constexpr uint64_t kEntities = 60;
  const auto reader = Open(kThreads);
  std::atomic<int64_t> counted = 0;
  std::atomic<int64_t> added = 0;
  const uint64_t seed = test::Seed();
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      Random random(seed + thread);
      const auto counters = Open(kThreads);
      for (int batch = 0; batch < 15; ++batch) {
        std::vector<Counters::Increment> increments;
        for (int i = 0; i < 10; ++i)
          increments.push_back({.entity = StrCat("e", random.Below(kEntities)), .by = {{"a", 1}}});
        const auto fresh = AddCountingNew(*counters, thread, increments);
        ASSERT_OK(fresh);
        counted += *fresh;
        added += 10;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto entities = All(*reader);
  EXPECT_EQ(counted, static_cast<int64_t>(entities.size()));
  int64_t sum = 0;
  for (const Summed& entity : entities) {
    EXPECT_TRUE(entity.counted) << entity.name;
    sum += entity.sums["a"];
  }
  EXPECT_EQ(sum, added);
}

// What a transaction counted and then gave up must be counted again, though this process has seen it.
TEST_P(CountersTest, WhatAFailedTransactionCountedIsCountedAgain) {
  const auto counters = Open(3);
  const Counters::Increment increment{.entity = "x", .by = {{"a", 1}}};
  const Status failed = Run([&](Transaction& transaction) -> Status {
    BRAID_CHECK_OK(counters->AddCountingNew(transaction, 1, {&increment, 1}));
    return Status(Code::kBadValue, "on second thoughts");
  });
  EXPECT_EQ(failed.code(), Code::kBadValue);
  EXPECT_EQ(AddCountingNew(*counters, 1, {&increment, 1}).value(), 1);
}

// An entity that an earlier call of the same transaction has counted is not counted again, and not remembered either:
// the transaction may still fail.
TEST_P(CountersTest, NewEntitiesAreCountedByAnyNumberOfCallsOfATransaction) {
  const auto counters = Open(3);
  const std::vector<Counters::Increment> first = {{.entity = "x", .by = {{"a", 1}}}};
  const std::vector<Counters::Increment> second = {{.entity = "x", .by = {{"a", 2}}},
                                                   {.entity = "y", .by = {{"a", 4}}}};
  const auto add = [&](Transaction& transaction) -> Status {
    for (int i = 0; i < 2; ++i) {
      BRAID_TRY(const int64_t x, counters->AddCountingNew(transaction, 1, first));
      EXPECT_EQ(x, i == 0 ? 1 : 0);
      BRAID_TRY(const int64_t y, counters->AddCountingNew(transaction, 2, second));
      EXPECT_EQ(y, i == 0 ? 1 : 0);
    }
    return {};
  };
  const Status failed = Run([&](Transaction& transaction) -> Status {
    BRAID_CHECK_OK(add(transaction));
    return Status(Code::kBadValue, "on second thoughts");
  });
  EXPECT_EQ(failed.message(), "on second thoughts");
  ASSERT_OK(Run(add));
  EXPECT_EQ(Sum(*counters, "x")["a"], 6);
  EXPECT_EQ(Sum(*counters, "y")["a"], 8);
  for (const Summed& entity : All(*counters)) EXPECT_TRUE(entity.counted) << entity.name;
}

TEST_P(CountersTest, FieldsAreKnownByName) {
  const auto counters = Open(2);
  const std::vector<Counters::Increment> unknown = {{.entity = "x", .by = {{"a", 1}, {"c", 1}}}};
  const Status status = Run([&](Transaction& transaction) { return counters->Add(transaction, 0, unknown); });
  EXPECT_EQ(status.code(), Code::kBadValue);
  EXPECT_NE(status.message().find("have no field 'c'"), std::string_view::npos) << status.message();
  EXPECT_TRUE(Documents().empty());
  const auto room = [&](Transaction& transaction) { return counters->ExpectRoom(transaction, 0, "c", 1); };
  EXPECT_EQ(Run(room).code(), Code::kBadValue);
  const auto correct = [&](Transaction& transaction) { return counters->Correct(transaction, "x", {{"c", 1}}); };
  EXPECT_EQ(Run(correct).code(), Code::kBadValue);
}

TEST(FieldValuesTest, AFieldThatIsNotNamedIsZero) {
  CounterValues values{{"a", 1}, {"b", 2}, {"a", 3}};
  EXPECT_EQ(std::as_const(values)["a"], 4);
  EXPECT_EQ(std::as_const(values)["c"], 0);
  EXPECT_EQ(values, CounterValues({{"b", 2}, {"a", 4}, {"d", 0}}));
  EXPECT_NE(values, CounterValues({{"b", 2}}));
  EXPECT_NE(CounterValues(), values);
  values["c"] -= 5;
  std::vector<std::string> named;
  for (const auto& [field, value] : values) named.push_back(field);
  EXPECT_EQ(named, std::vector<std::string>({"a", "b", "c"}));
  EXPECT_EQ(values["c"], -5);
}

TEST_P(CountersTest, ForEachMergesByNameInOrder) {
  const auto counters = Open(12);
  // "a-" sorts between "a" and "a:…" of the ids, "b" is only in a shard of two digits.
  for (const char* name : {"a", "a-", "aa", "c"}) {
    for (const uint32_t shard : {0U, 2U, 11U}) ASSERT_OK(Add(*counters, shard, name, 1, 10));
  }
  ASSERT_OK(Add(*counters, 10, "b", 4));
  ASSERT_OK(Add(*counters, 1, "", 100));
  std::set<std::string> names;
  for (const Summed& entity : All(*counters)) {
    EXPECT_TRUE(names.insert(entity.name).second) << entity.name << " came twice";
    EXPECT_EQ(entity.sums,
              entity.name == "b" ? CounterValues({{"a", 4}, {"b", 0}}) : CounterValues({{"a", 3}, {"b", 30}}))
        << entity.name;
    EXPECT_EQ(entity.counted, entity.name != "b") << entity.name;
  }
  EXPECT_EQ(names, std::set<std::string>({"a", "a-", "aa", "b", "c"}));
}

TEST_P(CountersTest, ForEachStopsAtAnError) {
  const auto counters = Open(2);
  for (int i = 0; i < 5; ++i) ASSERT_OK(Add(*counters, 0, StrCat("e", i), 1));
  int seen = 0;
  const Status status = Run([&](Transaction& transaction) {
    return counters->ForEach(transaction, [&](const Counters::Entity&) {
      return ++seen == 2 ? Status(Code::kBadValue, "enough") : Status();
    });
  });
  EXPECT_EQ(status.message(), "enough");
  EXPECT_EQ(seen, 2);
}

TEST_P(CountersTest, CorrectMakesTheSumWhatIsGiven) {
  const auto counters = Open(3);
  for (const char* entity : {"", "x"}) {
    ASSERT_OK(Add(*counters, 1, entity, 5, 5));
    ASSERT_OK(Add(*counters, 2, entity, -9, 1));
    const CounterValues wanted = {{"a", 40}, {"b", -2}};
    ASSERT_OK(Run([&](Transaction& transaction) { return counters->Correct(transaction, entity, wanted); }));
    EXPECT_EQ(Sum(*counters, entity), wanted);
  }
  ASSERT_OK(Run([&](Transaction& transaction) { return counters->Correct(transaction, "new", {{"a", 1}, {"b", 1}}); }));
  EXPECT_EQ(Sum(*counters, "new"), CounterValues({{"a", 1}, {"b", 1}}));
}

// A reader takes N as it is, whatever it was told, and changes nothing (A3).
TEST_P(CountersTest, AReaderNeitherRaisesNorIsRefused) {
  ASSERT_OK(Add(*Open(7), 6, "", 5));
  for (const uint32_t told : {1U, 7U, 40U}) {
    const auto reader = Counters::OpenToRead(store_.clients(), OptionsOf(told));
    ASSERT_OK(reader);
    EXPECT_EQ((*reader)->shard_count(), 7U);
    EXPECT_EQ(Sum(**reader, "")["a"], 5);
  }
  EXPECT_EQ(Open(7)->shard_count(), 7U);
}

TEST_P(CountersTest, NothingWraps) {
  const auto counters = Open(3);
  for (const char* entity : {"", "x"}) {
    ASSERT_OK(Add(*counters, 0, entity, INT64_MAX));
    // In one document, in one call, and in the sum over documents.
    const Status one = Add(*counters, 0, entity, 1);
    EXPECT_EQ(one.code(), Code::kOverflow) << one.ToString();
    EXPECT_NE(one.message().find("totals"), std::string_view::npos) << one.message();
    const std::vector<Counters::Increment> two = {{.entity = entity, .by = {{"a", INT64_MAX}}},
                                                  {.entity = entity, .by = {{"a", 1}}}};
    const Status merged = Run([&](Transaction& transaction) { return counters->Add(transaction, 1, two); });
    EXPECT_EQ(merged.code(), Code::kOverflow);
    EXPECT_NE(merged.message().find("would not fit in 64 bits"), std::string_view::npos) << merged.message();
    ASSERT_OK(Add(*counters, 1, entity, 7));
    EXPECT_OK(Run([&](Transaction& transaction) -> Status {
      EXPECT_EQ(counters->Sum(transaction, entity).status().code(), Code::kOverflow);
      BRAID_TRY(const WideSums sums, counters->SumWide(transaction, entity));
      EXPECT_TRUE(sums["a"] == WideSum{INT64_MAX} + 7);
      return {};
    }));
  }
}

// Writers on shards of their own do not see each other, and still cannot together exceed what a sum can hold.
TEST_P(CountersTest, TheSumStaysWithin64BitsWhoeverAdds) {
  constexpr uint32_t kThreads = 4;
  constexpr int64_t kStep = INT64_MAX / 40;
  const auto reader = Open(kThreads);
  std::atomic<int64_t> added = 0;
  std::atomic<int> refused = 0;
  std::vector<std::thread> threads;
  for (uint32_t shard = 0; shard < kThreads; ++shard) {
    threads.emplace_back([&, shard] {
      const auto counters = Open(kThreads);
      for (int i = 0; i < 15; ++i) {
        const Status status = AddWithRoom(*counters, shard, kStep);
        if (status.ok()) {
          ++added;
        } else {
          EXPECT_EQ(status.code(), Code::kOverflow) << status.ToString();
          ++refused;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Sum(*reader, "")["a"], added * kStep);
  EXPECT_EQ(added + refused, 60);
  EXPECT_GE(added, 35);  // a tenth is left for shards that fill up unseen
  EXPECT_LE(added, 40);
  EXPECT_OK(AddWithRoom(*reader, 3, 1));
}

}  // namespace
}  // namespace braid
