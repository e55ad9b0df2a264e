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
    const Counters::Increment increment{.entity = entity, .by = {a, b}};
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
    CounterValues sums{};
    EXPECT_OK(Run([&](Transaction& transaction) -> Status {
      BRAID_TRY(sums, counters.Sum(transaction, entity));
      return {};
    }));
    return sums;
  }
  std::vector<Counters::Entity> All(const Counters& counters) {
    std::vector<Counters::Entity> entities;
    EXPECT_OK(Run([&](Transaction& transaction) {
      entities.clear();
      return counters.ForEach(transaction, [&](const Counters::Entity& entity) {
        entities.push_back(entity);
        return Status();
      });
    }));
    return entities;
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
  const std::vector<Counters::Increment> increments = {{.entity = "x", .by = {5}}, {.entity = "x", .by = {6}}};
  EXPECT_EQ(AddCountingNew(*counters, 3, increments).value(), 1);
  EXPECT_EQ(AddCountingNew(*counters, 3, increments).value(), 0);
  const std::map<std::string, int64_t> expected = {{"x:0", 11}, {"x:3", 11}};
  EXPECT_EQ(Documents(), expected);
}

TEST_P(CountersTest, IncrementsOfOneEntityBecomeOneChangeAndNoChangeNoDocument) {
  const auto counters = Open(2);
  const std::vector<Counters::Increment> increments = {
      {.entity = "x", .by = {1, 2}}, {.entity = "y", .by = {7, 0}}, {.entity = "x", .by = {-1, -2}}};
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
      increments.push_back({.entity = entity, .by = {by(), by()}});
      for (size_t field = 0; field < 2; ++field) model[entity][field] += increments.back().by[field];
    }
    const auto shard = static_cast<uint32_t>(random.Below(counters->shard_count()));
    ASSERT_OK(Run([&](Transaction& transaction) { return counters->Add(transaction, shard, increments); }));
  }
  for (const auto& [entity, sums] : model) EXPECT_EQ(Sum(*counters, entity), sums) << entity;
  EXPECT_EQ(Sum(*counters, "unknown"), CounterValues{});
  std::map<std::string, CounterValues> merged;
  for (const Counters::Entity& entity : All(*counters)) merged.emplace(entity.name, entity.sums);
  model.erase("");
  EXPECT_EQ(merged, model);
}

// A3: who was opened with the old N goes on writing; everybody's reads cover what is written beyond it.
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
    EXPECT_GE(Sum(*old, "")[0], raised + before);
  }
  stop = true;
  writer.join();
  EXPECT_EQ(old->shard_count(), 3U);
  EXPECT_EQ(Sum(*old, "")[0], raised + written);
  EXPECT_EQ(Sum(*Open(9), "")[0], raised + written);
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
  EXPECT_EQ(Sum(*Open(7), "")[0], 5);
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
        for (int i = 0; i < 10; ++i) increments.push_back({.entity = StrCat("e", random.Below(kEntities)), .by = {1}});
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
  for (const Counters::Entity& entity : entities) {
    EXPECT_TRUE(entity.counted) << entity.name;
    sum += entity.sums[0];
  }
  EXPECT_EQ(sum, added);
}

// What a transaction counted and then gave up must be counted again, though this process has seen it.
TEST_P(CountersTest, WhatAFailedTransactionCountedIsCountedAgain) {
  const auto counters = Open(3);
  const Counters::Increment increment{.entity = "x", .by = {1}};
  const Status failed = Run([&](Transaction& transaction) -> Status {
    BRAID_CHECK_OK(counters->AddCountingNew(transaction, 1, {&increment, 1}));
    return Status(Code::kBadValue, "on second thoughts");
  });
  EXPECT_EQ(failed.code(), Code::kBadValue);
  EXPECT_EQ(AddCountingNew(*counters, 1, {&increment, 1}).value(), 1);
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
  for (const Counters::Entity& entity : All(*counters)) {
    EXPECT_TRUE(names.insert(entity.name).second) << entity.name << " came twice";
    EXPECT_EQ(entity.sums, entity.name == "b" ? CounterValues({4, 0}) : CounterValues({3, 30})) << entity.name;
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
    const CounterValues wanted = {40, -2};
    ASSERT_OK(Run([&](Transaction& transaction) { return counters->Correct(transaction, entity, wanted); }));
    EXPECT_EQ(Sum(*counters, entity), wanted);
  }
  ASSERT_OK(Run([&](Transaction& transaction) { return counters->Correct(transaction, "new", {1, 1}); }));
  EXPECT_EQ(Sum(*counters, "new"), CounterValues({1, 1}));
}

}  // namespace
}  // namespace braid
