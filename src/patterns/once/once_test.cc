// Once: whatever is claimed, in whatever pieces and by whomever, each calculation of a key is given out exactly once.
#include "braid/once.h"

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
using Ids = std::vector<std::string>;

class OnceTest : public test::StoreTest {
 protected:
  Status Run(const std::function<Status(Transaction&)>& body) {
    return RunTransaction(store_.clients(), {.database = store_.database()}, body);
  }
  Once Flags(std::vector<std::string> calculations) const {
    return *Once::Open({.database = store_.database(), .calculations = std::move(calculations)});
  }
  std::vector<Once::Claimed> Claim(const Once& once, const Ids& ids, const std::vector<uint32_t>& masks = {}) {
    std::vector<Once::Claimed> claimed;
    EXPECT_OK(Run([&](Transaction& transaction) -> Status {
      if (masks.empty()) {
        BRAID_TRY(claimed, once.Claim(transaction, ids));
      } else {
        BRAID_TRY(claimed, once.Claim(transaction, ids, masks));
      }
      return {};
    }));
    return claimed;
  }
  std::vector<uint32_t> Missing(const Once& once, const Ids& ids, const std::vector<uint32_t>& masks = {}) {
    std::vector<uint32_t> missing;
    for (const Once::Claimed& one : Claim(once, ids, masks)) missing.push_back(one.missing);
    return missing;
  }
  std::vector<uint32_t> Done(const Once& once, const Ids& ids) {
    std::vector<uint32_t> done;
    EXPECT_OK(Run([&](Transaction& transaction) -> Status {
      BRAID_TRY(done, once.Done(transaction, ids));
      return {};
    }));
    return done;
  }
  Ids MissingIds(const Once& once, uint32_t mask, size_t batch) {
    Ids all;
    EXPECT_OK(once.ForEachMissing(store_.clients(), mask, batch, [&](std::span<const std::string> ids) {
      EXPECT_LE(ids.size(), batch);
      all.insert(all.end(), ids.begin(), ids.end());
      return Status();
    }));
    return all;
  }
  // The whole document as JSON.
  std::string Document(const std::string& id) {
    std::string text;
    const Ids ids = {id};
    EXPECT_OK(Run([&](Transaction& transaction) {
      return transaction.FindIds("stats_lock", ids, [&](const bson_t& document) {
        char* json = bson_as_relaxed_extended_json(&document, nullptr);
        text = json;
        bson_free(json);
        return Status();
      });
    }));
    return text;
  }
};
INSTANTIATE_ON_STORES(OnceTest);

// A4: one boolean per calculation, by name.
TEST(OnceOptionsTest, OptionsThatAreNotValidAreTheAnswerOfOpen) {
  EXPECT_OK(Once::Open({.database = "d", .calculations = {"a", "b"}}));
  for (const char* name : {"", "_id", "awaited", "a.b", "$a"}) {
    const auto opened = Once::Open({.database = "d", .calculations = {"a", name}});
    EXPECT_EQ(opened.status().code(), Code::kBadValue) << name;
    EXPECT_NE(opened.status().message().find(name), std::string_view::npos) << opened.status().message();
  }
  EXPECT_EQ(Once::Open({.database = "d"}).status().code(), Code::kBadValue);
  EXPECT_EQ(Once::Open({.database = "d", .calculations = Ids(kCalculationsMax + 1, "a")}).status().code(),
            Code::kBadValue);
}

TEST_P(OnceTest, TheDocumentIsTheOneOfTheRequirement) {
  const Once once = Flags({"overall_stats", "finality_provider"});
  EXPECT_EQ(Missing(once, {"abc:active"}), std::vector<uint32_t>({3}));
  EXPECT_EQ(Document("abc:active"), R"({ "_id" : "abc:active", "overall_stats" : true, "finality_provider" : true })");
  EXPECT_EQ(Missing(once, {"abc:unbonded"}, {2}), std::vector<uint32_t>({2}));
  EXPECT_EQ(Document("abc:unbonded"), R"({ "_id" : "abc:unbonded", "finality_provider" : true })");
}

TEST_P(OnceTest, DuplicatesInsideABatchAcrossBatchesAndAcrossRestarts) {
  const Once once = Flags({"x", "y"});
  const auto claimed = Claim(once, {"a", "b", "a", "a"});
  ASSERT_EQ(claimed.size(), 4U);
  EXPECT_EQ(claimed[0].missing, 3U);
  EXPECT_FALSE(claimed[0].known);
  EXPECT_EQ(claimed[1].missing, 3U);
  for (const size_t i : {2U, 3U}) {
    EXPECT_EQ(claimed[i].missing, 0U);
    EXPECT_TRUE(claimed[i].known);
  }
  EXPECT_EQ(Missing(once, {"b", "c", "a"}), std::vector<uint32_t>({0, 3, 0}));
  store_.Restart();
  EXPECT_EQ(Missing(once, {"c", "a", "d", "b"}), std::vector<uint32_t>({0, 0, 3, 0}));
  EXPECT_EQ(Missing(once, {}), std::vector<uint32_t>());
}

TEST_P(OnceTest, HalfDoneKeysResumeWithWhatIsMissing) {
  const Once once = Flags({"x", "y", "z"});
  EXPECT_EQ(Missing(once, {"a", "b", "c"}, {1, 6, 7}), std::vector<uint32_t>({1, 6, 7}));
  EXPECT_EQ(Done(once, {"c", "unknown", "a", "b"}), std::vector<uint32_t>({7, 0, 1, 6}));
  EXPECT_EQ(Missing(once, {"a", "b", "c"}, {3, 2, 7}), std::vector<uint32_t>({2, 0, 0}));
  const auto claimed = Claim(once, {"a", "b", "c", "d"});
  std::vector<uint32_t> missing;
  for (const Once::Claimed& one : claimed) missing.push_back(one.missing);
  EXPECT_EQ(missing, std::vector<uint32_t>({4, 1, 0, 7}));
  EXPECT_TRUE(claimed[0].known && claimed[1].known && claimed[2].known && !claimed[3].known);
  EXPECT_EQ(Done(once, {"a", "b", "c", "d"}), std::vector<uint32_t>({7, 7, 7, 7}));
}

TEST_P(OnceTest, WhatAFailedTransactionClaimedIsStillToBeDone) {
  const Once once = Flags({"x"});
  const Ids ids = {"a"};
  const Status failed = Run([&](Transaction& transaction) -> Status {
    BRAID_CHECK_OK(once.Claim(transaction, ids));
    return Status(Code::kBadValue, "on second thoughts");
  });
  EXPECT_EQ(failed.message(), "on second thoughts");
  EXPECT_EQ(Missing(once, ids), std::vector<uint32_t>({1}));
}

// Only the boolean true means done: another program may have written anything.
TEST_P(OnceTest, WhatIsNotTrueIsNotDone) {
  Bson odd;
  odd.Text("_id", "a").Bool("x", false).Integer("y", 1).Text("note", "kept");
  const bson_t* documents[] = {odd.get()};
  ASSERT_OK(Run([&](Transaction& transaction) { return transaction.Insert("stats_lock", documents); }));
  const Once once = Flags({"x", "y"});
  EXPECT_EQ(Missing(once, {"a"}), std::vector<uint32_t>({3}));
  EXPECT_EQ(Document("a"), R"({ "_id" : "a", "x" : true, "y" : true, "note" : "kept" })");
}

TEST_P(OnceTest, ACalculationAddedLaterIsBackFilledOnce) {
  Ids ids;
  for (int i = 0; i < 57; ++i) ids.push_back(StrCat("key", 100 + i));
  for (const uint32_t missing : Missing(Flags({"x"}), ids)) EXPECT_EQ(missing, 1U);
  const Once grown = Flags({"x", "added"});
  EXPECT_EQ(MissingIds(grown, 1, 10), Ids());
  EXPECT_EQ(MissingIds(grown, 0, 10), Ids());
  EXPECT_EQ(MissingIds(grown, 3, 10), ids);
  std::map<std::string, int> effects;
  const auto fill = [&](std::span<const std::string> batch) -> Status {
    for (size_t i = 0; i < batch.size(); ++i) {
      const Ids one = {batch[i]};
      EXPECT_EQ(Missing(grown, one, {2}), std::vector<uint32_t>({2}));
      ++effects[batch[i]];
    }
    return {};
  };
  ASSERT_OK(grown.ForEachMissing(store_.clients(), 2, 10, fill));
  EXPECT_EQ(effects.size(), ids.size());
  EXPECT_EQ(MissingIds(grown, 3, 10), Ids());
  EXPECT_EQ(Missing(grown, {ids[0]}), std::vector<uint32_t>({0}));
}

TEST_P(OnceTest, ABackFillThatEndedHalfWayGoesOn) {
  Ids ids;
  for (int i = 0; i < 30; ++i) ids.push_back(StrCat("key", 100 + i));
  Claim(Flags({"x"}), ids);
  const Once grown = Flags({"x", "added"});
  int batches = 0;
  const auto interrupted = [&](std::span<const std::string> batch) -> Status {
    if (++batches == 2) return Status(Code::kInterrupted, "killed");
    Claim(grown, Ids(batch.begin(), batch.end()));
    return {};
  };
  EXPECT_EQ(grown.ForEachMissing(store_.clients(), 2, 10, interrupted).code(), Code::kInterrupted);
  EXPECT_EQ(MissingIds(grown, 2, 10), Ids(ids.begin() + 10, ids.end()));
}

TEST_P(OnceTest, AnAwaitedKeyIsKnownAndNothingOfItIsDone) {
  const Once once = Flags({"x", "y"});
  Claim(once, {"done"});
  const Ids ids = {"early", "done", "early"};
  ASSERT_OK(Run([&](Transaction& transaction) { return once.Await(transaction, ids); }));
  EXPECT_EQ(Done(once, {"early", "done"}), std::vector<uint32_t>({0, 3}));
  const auto claimed = Claim(once, {"early", "done"});
  EXPECT_TRUE(claimed[0].known);
  EXPECT_EQ(claimed[0].missing, 3U);
  EXPECT_EQ(claimed[1].missing, 0U);
}

// An await and a claim of one key at the same time must collide: one of them has to see the other.
TEST_P(OnceTest, AwaitAndClaimOfOneKeyNeverMissEachOther) {
  const Once once = Flags({"x"});
  for (int round = 0; round < 20; ++round) {
    const Ids ids = {StrCat("key", round)};
    std::atomic<bool> claim_saw_await = false;
    std::atomic<bool> await_saw_claim = false;
    std::thread awaiting([&] {
      EXPECT_OK(Run([&](Transaction& transaction) -> Status {
        BRAID_TRY(const auto done, once.Done(transaction, ids));
        await_saw_claim = done[0] != 0;
        return done[0] != 0 ? Status() : once.Await(transaction, ids);
      }));
    });
    EXPECT_OK(Run([&](Transaction& transaction) -> Status {
      BRAID_TRY(const auto claimed, once.Claim(transaction, ids));
      claim_saw_await = claimed[0].known;
      return {};
    }));
    awaiting.join();
    EXPECT_NE(claim_saw_await.load(), await_saw_claim.load()) << round;
  }
}

// The property: effects counted beside the flags, by threads with overlapping keys and random masks.
TEST_P(OnceTest, EveryEffectHappensExactlyOnce) {
  constexpr uint64_t kKeys = 80;
  constexpr int kThreads = 4;
  const Once once = Flags({"x", "y", "z"});
  std::atomic<int64_t> effects[kKeys][3] = {};
  const uint64_t seed = test::Seed();
  const auto work = [&](uint64_t thread) {
    Random random(seed + thread);
    for (int batch = 0; batch < 25; ++batch) {
      Ids ids;
      std::vector<uint32_t> masks;
      std::vector<uint64_t> keys;
      for (int i = 0; i < 8; ++i) {
        keys.push_back(random.Below(kKeys));
        ids.push_back(StrCat("k", keys.back()));
        masks.push_back(static_cast<uint32_t>(random.Below(8)));
      }
      const auto missing = Missing(once, ids, masks);
      for (size_t i = 0; i < missing.size(); ++i) {
        EXPECT_EQ(missing[i] & ~masks[i], 0U);
        for (int bit = 0; bit < 3; ++bit) effects[keys[i]][bit] += missing[i] >> bit & 1;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
  Ids ids;
  for (uint64_t key = 0; key < kKeys; ++key) ids.push_back(StrCat("k", key));
  const auto done = Done(once, ids);
  const auto rest = Missing(once, ids);
  for (uint64_t key = 0; key < kKeys; ++key) {
    for (int bit = 0; bit < 3; ++bit) {
      EXPECT_EQ(effects[key][bit], done[key] >> bit & 1) << key;
      EXPECT_EQ(effects[key][bit] + (rest[key] >> bit & 1), 1) << key;
    }
  }
}

TEST(OnceOptionsTest, NamesThatCannotBeFields) {
  for (const char* name : {"", "_id", "a.b", "$set", "awaited"}) {
    EXPECT_EQ((OnceOptions{.calculations = {name}}).Validate().code(), Code::kBadValue) << name;
  }
  EXPECT_EQ(OnceOptions{}.Validate().code(), Code::kBadValue);
  std::vector<std::string> names;
  for (size_t i = 0; i <= kCalculationsMax; ++i) names.push_back(StrCat("x", i));
  EXPECT_EQ(OnceOptions{.calculations = names}.Validate().code(), Code::kBadValue);
  names.pop_back();
  EXPECT_OK(OnceOptions{.calculations = names}.Validate());
}

}  // namespace
}  // namespace braid
