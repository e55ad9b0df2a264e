// The property of placement: whatever is written, moved, interrupted and restarted, every document is where the table
// says, once, and found by every way of asking.
#include <algorithm>
#include <deque>
#include <map>

#include "engine/balance/balancer.h"
#include "engine/balance/testing_fixture.h"

namespace braid::balance {
namespace {

constexpr uint64_t kShardsMax = 8;
constexpr uint64_t kIds = 250;
using Model = std::map<std::string, bson::Document>;  // by key(_id)

class PlacementProperty : public BalanceTest {
 protected:
  void Run(const char* pattern, bool filled) {
    SCOPED_TRACE(StrCat(pattern, filled ? ", filled before" : ""));
    AddShards(2);
    Create();
    ASSERT_OK(Build({"{'v': 2, 'key': {'u': 1}, 'name': 'u_1', 'unique': true}"}));
    if (filled) {
      for (int i = 0; i < 90; ++i) InsertOne();
      if (std::string_view(pattern) != "{'_id': 1}") {
        ASSERT_OK(Build({StrCat("{'v': 2, 'key': ", pattern, ", 'name': 'shard_key'}")}));
      }
    }
    ASSERT_OK(Shard(pattern));
    for (int i = 0; i < 60; ++i) InsertOne();
    for (int step = 0; step < 400 && !HasFatalFailure(); ++step) {
      Step();
      if (step % 20 == 0) Check();
    }
    seen_.clear();
    ASSERT_OK(Continue());
    EXPECT_FALSE(placement()->is_moving());
    Check();
    EXPECT_GT(moved_, 20u);
  }

 private:
  void Step() {
    switch (random_.Below(20)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: return InsertOne();
      case 5:
      case 6:
      case 7:
      case 8: return ReplaceOne();
      case 9: return RemoveOne();
      case 10:
      case 11: return SplitSomewhere();
      case 12: return MergeSomewhere();
      case 13: return MoveSomething(false);
      case 14: return MoveSomething(true);
      case 15: return MoveSome();
      case 16: {
        const auto moved = Continue();
        ASSERT_OK(moved);
        moved_ += *moved;
        return;
      }
      case 17: return Remember();
      case 18:
        if (random_.Chance(1, 3) && catalog_->shards().size() < kShardsMax) AddShards(1);
        return;
      default:
        if (random_.Chance(1, 3)) {
          seen_.clear();  // a snapshot does not outlive its store
          Open();
        } else if (random_.Chance(1, 3)) {
          Balancer balancer(*shared_);
          ASSERT_OK(balancer.Round());
        }
    }
  }

  /// Equal numbers of different types are one _id, though a hash tells them apart.
  std::string RandomId() {
    const uint64_t i = random_.Below(kIds);
    switch (i % 5) {
      case 0: return StrCat("'", i, "'");
      case 1: return StrCat(i / 5, ".5");
      case 2: return StrCat("{'$numberDecimal': '", i / 5, ".5'}");
      case 3: return StrCat("{'$numberDecimal': '", i, "'}");
      default: return StrCat(i);
    }
  }
  std::string RandomValue() {
    switch (random_.Below(8)) {
      case 0: return "null";
      case 1: return "3.5";
      case 2: return "{'$numberDecimal': '3.5'}";
      case 3: return StrCat("'s", random_.Below(6), "'");
      case 4: return "{'x': 1.5}";
      default: return StrCat(random_.Below(12));
    }
  }
  std::string RandomFields() {
    std::string text = StrCat("'u': ", random_.Below(900), ", 'n': ", random_.Below(10));
    if (random_.Chance(7, 8)) text += StrCat(", 'k': ", RandomValue());
    if (random_.Chance(7, 8)) text += StrCat(", 'j': ", RandomValue());
    return text;
  }
  bool IsTaken(bson::View document, const std::string& but = "") const {
    const int32_t u = document.Find("u").AsInt32();
    return std::ranges::any_of(
        model_, [&](const auto& one) { return one.first != but && one.second.Find("u").AsInt32() == u; });
  }

  void InsertOne() {
    const bson::Document document = bson::J(StrCat("{'_id': ", RandomId(), ", ", RandomFields(), "}"));
    const std::string key = txn::IdKey(document.Find("_id"));
    const bool refused = model_.contains(key) || IsTaken(document);
    const Status status = Insert(document.view());
    ASSERT_EQ(status.code(), refused ? Code::kDuplicateKey : Code::kOk)
        << bson::ToShell(document) << " " << status.ToString();
    if (!refused) model_.emplace(key, document);
  }
  void ReplaceOne() {
    if (model_.empty()) return;
    auto at = std::next(model_.begin(), static_cast<ptrdiff_t>(random_.Below(model_.size())));
    bson::Builder after;
    after.Append("_id", at->second.Find("_id"));
    const bson::Document fields = bson::J(StrCat("{", RandomFields(), "}"));
    if (random_.Chance(1, 3)) {  // the shard key stays
      const bson::Document& before = at->second;
      for (const bson::Element& field : before.view()) {
        if (field.name == "k" || field.name == "j" || field.name == "u") after.Append(field.name, field.value);
      }
      after.Append("n", fields.Find("n"));
    } else {
      after.AppendAll(fields);
    }
    const bson::Document document = after.Finish();
    const bool refused = IsTaken(document, at->first);
    const Status status = Replace(document.view());
    ASSERT_EQ(status.code(), refused ? Code::kDuplicateKey : Code::kOk)
        << bson::ToShell(document) << " " << status.ToString();
    if (!refused) at->second = document;
  }
  void RemoveOne() {
    if (model_.empty()) return;
    const auto at = std::next(model_.begin(), static_cast<ptrdiff_t>(random_.Below(model_.size())));
    ASSERT_OK(Remove(at->second.Find("_id")));
    model_.erase(at);
  }

  void SplitSomewhere() {
    ASSERT_OK(Change([this](sharding::Placement* table) {
      const bson::Document document = bson::J(StrCat("{'_id': ", RandomId(), ", ", RandomFields(), "}"));
      return table->Split(table->key.ValuesOf(document).value());
    }));
  }
  void MergeSomewhere() {
    const sharding::PlacementPtr table = placement();
    if (table->chunks.size() < 4) return;
    const size_t at = random_.Below(table->chunks.size() - 1);
    const sharding::Chunk& a = table->chunks[at];
    const sharding::Chunk& b = table->chunks[at + 1];
    const bool possible = a.shard == b.shard && !a.from && !b.from;
    const Status status =
        Change([&](sharding::Placement* changed) { return changed->Merge(a.begin, table->EndOf(at + 1)); });
    EXPECT_EQ(status.code(), possible ? Code::kOk : Code::kIllegalOperation);
  }
  void MoveSomething(bool interrupted) {
    const sharding::PlacementPtr table = placement();
    const sharding::ShardNumbers shards = catalog_->UsableShards();
    const size_t chunk = random_.Below(table->chunks.size());
    const storage::ShardNumber to = shards[random_.Below(shards.size())];
    const auto moved = MoveChunk(chunk, to, interrupted);
    if (table->chunks[chunk].from) {
      ASSERT_EQ(moved.error().code(), Code::kConflictingOperationInProgress);
    } else if (interrupted) {
      // Nothing to do is done at once.
      ASSERT_TRUE(moved.ok() || moved.error().code() == Code::kInterrupted);
    } else {
      ASSERT_OK(moved);
      moved_ += *moved;
      EXPECT_FALSE(placement()->is_moving());
    }
  }
  /// What an interrupted move leaves: some of its documents have gone, some have not.
  void MoveSome() {
    for (const auto& entry : model_) {
      const bson::Document& document = entry.second;
      const sharding::Chunk chunk = placement()->ChunkOf(placement()->key.KeyOf(document).value());
      if (!chunk.from || random_.Chance(1, 2)) continue;
      ASSERT_OK(Statement([&](txn::Context& context, const auto& collection) -> Status {
        storage::Buffer buffer;
        BRAID_TRY(const auto shard, txn::ReadForChange(context, *collection, document.Find("_id"), &buffer));
        EXPECT_TRUE(shard && chunk.HasPart(*shard));
        if (shard != chunk.from) return {};
        return txn::Move(context, collection, *chunk.from, chunk.shard, bson::View(buffer.view()));
      }));
    }
  }

  /// A reader that began now and goes on later, in the state of now.
  void Remember() {
    if (seen_.size() >= 3) seen_.pop_front();
    seen_.push_back({std::make_unique<Session>(*this), model_});
    seen_.back().session->context.FixSnapshot();
  }

  static std::vector<std::string> Expected(const Model& model, const query::Filter& filter) {
    std::vector<std::string> texts;
    for (const auto& [key, document] : model) {
      if (filter.Matches(document).value()) texts.emplace_back(document.bytes());
    }
    std::ranges::sort(texts);
    return texts;
  }
  void ExpectFound(txn::Context& context, const Model& model, std::string_view filter) {
    query::Query query = Ask(bson::J(filter));
    const std::vector<std::string> expected = Expected(model, query.filter);
    const auto rows = Read(context, std::move(query));
    ASSERT_OK(rows);
    std::vector<std::string> found;
    for (const Row& row : *rows) found.emplace_back(row.document.bytes());
    std::ranges::sort(found);
    ASSERT_EQ(found.size(), expected.size()) << filter;
    ASSERT_TRUE(found == expected) << filter;
  }

  void Check() {
    ExpectValid();
    const auto rows = Read(bson::Document(), "{'_id': 1}");
    ASSERT_OK(rows);
    ASSERT_EQ(rows->size(), model_.size());
    auto at = model_.begin();
    for (const Row& row : *rows) {  // key(_id) is in the order of _id
      ASSERT_EQ(row.document.bytes(), at->second.bytes());
      const sharding::Chunk& chunk = placement()->ChunkOf(placement()->key.KeyOf(row.document).value());
      ASSERT_TRUE(chunk.HasPart(row.shard)) << bson::ToShell(row.document) << " is on " << row.shard;
      ++at;
    }
    ASSERT_EQ(Count(bson::Document()).value(), static_cast<int64_t>(model_.size()));
    Session session(*this);
    for (int i = 0; i < 4; ++i) {
      ExpectFound(session.context, model_, StrCat("{'k': ", RandomValue(), "}"));
      ExpectFound(session.context, model_, StrCat("{'k': ", RandomValue(), ", 'j': ", RandomValue(), "}"));
      ExpectFound(session.context, model_, StrCat("{'_id': ", RandomId(), "}"));
      ExpectFound(session.context, model_, StrCat("{'_id': {'$in': [", RandomId(), ", ", RandomId(), "]}}"));
      ExpectFound(session.context, model_, StrCat("{'k': {'$gte': ", random_.Below(12), "}}"));
      ExpectFound(session.context, model_, StrCat("{'u': {'$lt': ", random_.Below(900), "}}"));
      const bson::Document n = bson::J(StrCat("{'n': ", random_.Below(10), ", 'k': ", RandomValue(), "}"));
      ASSERT_EQ(Count(n).value(), static_cast<int64_t>(Expected(model_, Ask(n).filter).size()));
    }
    for (Remembered& seen : seen_) {
      ExpectFound(seen.session->context, seen.model, "{}");
      ExpectFound(seen.session->context, seen.model, StrCat("{'k': ", RandomValue(), "}"));
      ExpectFound(seen.session->context, seen.model, StrCat("{'_id': ", RandomId(), "}"));
    }
  }

  struct Remembered {
    std::unique_ptr<Session> session;
    Model model;
  };

  Random random_{test::Seed()};
  Model model_;
  std::deque<Remembered> seen_;
  uint64_t moved_ = 0;
};

TEST_F(PlacementProperty, HoldsForAHashedKey) { Run("{'k': 'hashed'}", false); }
TEST_F(PlacementProperty, HoldsForAHashedKeyOfAFilledCollection) { Run("{'k': 'hashed'}", true); }
TEST_F(PlacementProperty, HoldsForARangedKey) { Run("{'k': 1}", true); }
TEST_F(PlacementProperty, HoldsForAHashedId) { Run("{'_id': 'hashed'}", false); }
TEST_F(PlacementProperty, HoldsForARangedId) { Run("{'_id': 1}", true); }
TEST_F(PlacementProperty, HoldsForACompoundKey) { Run("{'k': 1, 'j': 1}", false); }
TEST_F(PlacementProperty, HoldsForACompoundKeyWithAHash) { Run("{'k': 1, 'j': 'hashed'}", true); }
TEST_F(PlacementProperty, HoldsForACompoundKeyThatStartsHashed) { Run("{'k': 'hashed', '_id': 1}", false); }

}  // namespace
}  // namespace braid::balance
