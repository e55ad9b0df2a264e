// Readers and writers while chunks move back and forth and a shard is added: nothing is missed, nothing comes twice.
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include "engine/balance/testing_fixture.h"

namespace braid::balance {
namespace {

constexpr int kPermanent = 200;
constexpr int kMoves = 60;

class MovingTest : public BalanceTest {
 protected:
  void Run(const char* pattern, const std::vector<std::string>& bounds) {
    Start(pattern, bounds);
    std::vector<std::thread> threads;
    for (int w = 0; w < 2; ++w) threads.emplace_back([this, w] { Write(w); });
    threads.emplace_back([this] { ChangeKeys(); });
    for (uint64_t r = 0; r < 2; ++r) threads.emplace_back([this, r] { ReadAll(r); });
    threads.emplace_back([this] { ReadSingle(); });
    threads.emplace_back([this] { BuildAndDrop(); });
    MoveAround();
    stop_ = true;
    for (std::thread& thread : threads) thread.join();
    ASSERT_OK(Continue());
    End();
  }

 private:
  void Start(const char* pattern, const std::vector<std::string>& bounds) {
    shared_->workers = &workers_;
    AddShards(2);
    Create();
    ASSERT_OK(Build({"{'v': 2, 'key': {'u': 1}, 'name': 'u_1', 'unique': true}",
                     "{'v': 2, 'key': {'kind': 1, 'n': 1}, 'name': 'kind_1_n_1'}"}));
    ASSERT_OK(Shard(pattern));
    for (const std::string& bound : bounds) {
      ASSERT_OK(Change([&](sharding::Placement* table) { return table->Split(bson::J(bound)); }));
    }
    for (int i = 0; i < kPermanent; ++i) {
      ASSERT_OK(Insert(bson::Make("_id", i, "k", i % 50, "u", i, "kind", "permanent", "n", i).view()));
    }
  }

  /// Documents of its own, each with one known content.
  void Write(int writer) {
    Random random(seed_ + static_cast<uint64_t>(writer));
    std::map<int, bson::Document>& mine = written_[writer];
    while (!stop_) {
      const int id = 1000 + writer * 1000 + static_cast<int>(random.Below(150));
      const bson::Document document = bson::Make("_id", id, "k", static_cast<int>(random.Below(50)), "u", id, "kind",
                                                 "mine", "n", static_cast<int>(random.Below(1000)));
      if (!mine.contains(id)) {
        Expect(Insert(document.view()), "insert");
        mine[id] = document;
      } else if (random.Chance(2, 3)) {
        Expect(Replace(document.view()), "replace");
        mine[id] = document;
      } else {
        Expect(Remove(document.Find("_id")), "remove");
        mine.erase(id);
      }
      if (random.Chance(1, 4)) {  // a key that somebody has
        const bson::Document twice = bson::Make("_id", -id, "k", static_cast<int>(random.Below(50)), "u",
                                                static_cast<int>(random.Below(kPermanent)), "kind", "twice");
        if (Insert(twice.view()).code() != Code::kDuplicateKey) Fail("a unique key was taken twice");
      }
      ++writes_;
    }
  }

  /// Permanent documents go from shard to shard, but never away.
  void ChangeKeys() {
    Random random(seed_ + 10);
    while (!stop_) {
      const int id = static_cast<int>(random.Below(kPermanent));
      Expect(
          Replace(bson::Make("_id", id, "k", static_cast<int>(random.Below(50)), "u", id, "kind", "permanent", "n", id)
                      .view()),
          "change of a key");
      ++writes_;
    }
  }

  void ReadAll(uint64_t reader) {
    const bson::Document permanent = bson::J("{'kind': 'permanent'}");
    Random random(seed_ + 20 + reader);
    while (!stop_) {
      const auto sorted =
          Read(random.Chance(1, 2) ? permanent.view() : bson::J("{'n': {'$gte': 0}, 'kind': 'permanent'}").view(),
               random.Chance(1, 2) ? "{'n': 1}" : "{'_id': 1}");
      if (!sorted.ok()) return Fail(sorted.error().ToString());
      if (sorted->size() != kPermanent) return Fail(StrCat("a sorted read had ", sorted->size(), " documents"));
      for (int i = 0; i < kPermanent; ++i) {
        if ((*sorted)[static_cast<size_t>(i)].document.Find("_id").AsInt32() != i) return Fail("not in order");
      }
      const auto count = Count(permanent);
      if (!count.ok() || *count != kPermanent) return Fail(StrCat("counted ", count.value_or(-1)));
      const auto all = Read(bson::Document());
      if (!all.ok()) return Fail(all.error().ToString());
      std::set<int> ids;
      int found = 0;
      for (const Row& row : *all) {
        const int id = row.document.Find("_id").AsInt32();
        if (!ids.insert(id).second) return Fail(StrCat("_id ", id, " came twice"));
        found += id < kPermanent ? 1 : 0;
      }
      if (found != kPermanent) return Fail(StrCat("a read of all had ", found, " permanent documents"));
      ++reads_;
    }
  }

  void ReadSingle() {
    Random random(seed_ + 30);
    while (!stop_) {
      const auto one = Read(bson::Make("_id", static_cast<int>(random.Below(kPermanent))));
      if (!one.ok() || one->size() != 1) return Fail(StrCat("by _id: ", one.ok() ? one->size() : 999));
      const int u = static_cast<int>(random.Below(kPermanent));
      const auto by_u = Read(bson::Make("u", u));
      if (!by_u.ok() || by_u->size() != 1) return Fail(StrCat("by u: ", by_u.ok() ? by_u->size() : 999));
      // Targeted, if the key is k: each one has it, and none comes twice.
      const auto some = Read(bson::Make("k", static_cast<int>(random.Below(50))));
      if (!some.ok()) return Fail(some.error().ToString());
      std::set<int> ids;
      for (const Row& row : *some) {
        if (!ids.insert(row.document.Find("_id").AsInt32()).second) return Fail("came twice by k");
      }
      ++reads_;
    }
  }

  /// A build that goes on while documents change their shards has them all, once.
  void BuildAndDrop() {
    while (!stop_) {
      const auto built = Build({"{'v': 2, 'key': {'n': 1, 'u': 1}, 'name': 'extra'}",
                                "{'v': 2, 'key': {'u': 1, 'k': 1}, 'name': 'extra_unique', 'unique': true}"});
      if (!built.ok()) return Fail(built.error().ToString());
      const auto rows = Read(bson::J("{'n': {'$gte': 0}, 'kind': 'permanent'}"), "{'n': 1, 'u': 1}");
      if (!rows.ok() || rows->size() != kPermanent) return Fail("the new index misses documents");
      if (stop_) return;  // the last ones stay, for ExpectValid
      const catalog::CollectionPtr collection = Find();
      const Status dropped = catalog_
                                 ->RemoveIndexes(ns_, {collection->FindIndex("extra")->number,
                                                       collection->FindIndex("extra_unique")->number})
                                 .status();
      if (!dropped.ok()) return Fail(dropped.ToString());
    }
  }

  void MoveAround() {
    Random random(seed_ + 40);
    for (int i = 0; i < kMoves && !failed_; ++i) {
      if (i == kMoves / 3) AddShards(1);
      const sharding::ShardNumbers shards = catalog_->UsableShards();
      const size_t chunk = random.Below(placement()->chunks.size());
      const auto moved = MoveChunk(chunk, shards[random.Below(shards.size())], random.Chance(1, 5));
      if (!moved.ok() && moved.error().code() != Code::kInterrupted &&
          moved.error().code() != Code::kConflictingOperationInProgress) {
        return Fail(moved.error().ToString());
      }
      moved_ += moved.value_or(0);
      if (random.Chance(1, 4)) {
        const auto more = Continue();
        if (!more.ok()) return Fail(more.error().ToString());
        moved_ += *more;
      }
    }
  }

  void End() {
    ExpectValid();
    EXPECT_GT(moved_, 100u);
    EXPECT_GT(writes_.load(), 50u);
    EXPECT_GT(reads_.load(), 5u);
    const auto rows = Read(bson::Document(), "{'_id': 1}");
    ASSERT_OK(rows);
    ASSERT_EQ(rows->size(), kPermanent + written_[0].size() + written_[1].size());
    for (const auto& mine : written_) {
      for (const auto& [id, document] : mine) {
        const auto found = Read(bson::Make("_id", id));
        ASSERT_OK(found);
        ASSERT_EQ(found->size(), 1u) << id;
        EXPECT_EQ(found->front().document.bytes(), document.bytes());
        EXPECT_EQ(found->front().shard, placement()->ChunkOf(placement()->key.KeyOf(document).value()).shard);
      }
    }
  }

  void Expect(const Status& status, const char* what) {
    if (!status.ok()) Fail(StrCat(what, ": ", status.ToString()));
  }
  void Fail(const std::string& what) {
    ADD_FAILURE() << what;
    failed_ = true;
    stop_ = true;
  }

  const uint64_t seed_ = test::Seed();
  Workers workers_{2};
  std::map<int, bson::Document> written_[2];
  std::atomic<bool> stop_{false};
  std::atomic<bool> failed_{false};
  std::atomic<uint64_t> writes_{0};
  std::atomic<uint64_t> reads_{0};
  uint64_t moved_ = 0;
};

TEST_F(MovingTest, NobodyMissesADocumentOfAHashedKey) { Run("{'k': 'hashed'}", {}); }
TEST_F(MovingTest, NobodyMissesADocumentOfARangedKey) {
  Run("{'k': 1}", {"{'k': 10}", "{'k': 20}", "{'k': 30}", "{'k': 40}"});
}
TEST_F(MovingTest, NobodyMissesADocumentOfAHashedId) { Run("{'_id': 'hashed'}", {}); }

}  // namespace
}  // namespace braid::balance
