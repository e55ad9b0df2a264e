#include "cli/advise/rating.h"

#include <gmock/gmock.h>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "cli/advise/advice.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"

namespace braid::advise {
namespace {

using bson::J;
using bson::Make;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

Advice AdviceFor(const Sample& sample, const std::vector<std::string_view>& lines,
                 const std::vector<std::string_view>& candidates = {}, size_t shards = 4) {
  std::vector<Operation> operations;
  for (const std::string_view line : lines) {
    std::vector<Operation> listed = *OperationsOf(J(line));
    std::move(listed.begin(), listed.end(), std::back_inserter(operations));
  }
  Advice advice;
  advice.database = "shop";
  advice.collection = "c";
  advice.shards = shards;
  advice.sampled = sample.documents.size();
  advice.total = sample.total;
  advice.operations = operations.size();
  const Workload workload = Workload::Of(std::move(operations));
  const auto order = FindInsertionOrder(sample);
  if (order) advice.insertion_order = order->by;
  std::vector<ShardKey> keys;
  for (const std::string_view key : candidates) keys.push_back(*ShardKey::Parse(J(key)));
  if (keys.empty()) keys = FindCandidates(sample, workload, shards);
  advice.ratings = RateAll(sample, order ? &*order : nullptr, workload, keys, shards);
  return advice;
}

const Rating& Of(const Advice& advice, std::string_view key) {
  for (const Rating& rating : advice.ratings) {
    if (rating.key == *ShardKey::Parse(J(key))) return rating;
  }
  ADD_FAILURE() << key << " was not rated";
  return advice.ratings.front();
}
std::string NotesOf(const Advice& advice, std::string_view key) {
  std::string text;
  for (const std::string& note : Notes(advice, Of(advice, key))) text += note + "\n";
  return text;
}

// A shop's orders: a user has a few, zones are unequal, time grows.
Sample Orders() {
  Sample sample;
  Random random(7);
  constexpr const char* kZones[] = {"RU-MOW", "RU-MOW", "RU-MOW", "RU-SPE", "RU-KGD", "RU-EKB"};
  for (int i = 0; i < 5000; ++i) {
    bson::ObjectId id{};
    for (int byte = 0; byte < 4; ++byte) id.bytes[11 - byte] = static_cast<char>(i >> (8 * byte));
    sample.documents.push_back(Make("_id", id, "order_id", StrCat("ORD-", i), "user_id",
                                    StrCat("U", random.Below(1500)), "created_at", bson::Date{i * 60'000LL}, "geo_zone",
                                    kZones[random.Below(6)], "status", "paid"));
  }
  sample.total = 5000;
  return sample;
}

const std::vector<std::string_view> kOrderOperations = {
    "{'insert': 'c', 'count': 50}",
    "{'find': 'c', 'filter': {'user_id': 'U7'}, 'sort': {'created_at': -1}, 'count': 120}",
    "{'find': 'c', 'filter': {'_id': {'$oid': '00000000000000000000000a'}}, 'count': 20}",
    "{'find': 'c', 'filter': {'order_id': 'ORD-7'}, 'count': 10}",
    "{'aggregate': 'c', 'pipeline': [{'$match': {'created_at': {'$gte': {'$date': '1970-01-01T00:00:00Z'}}, "
    "'geo_zone': 'RU-MOW'}}], 'weight': 5}",
};

TEST(RatingTest, OrdersByUserHashedWin) {
  const Advice advice = AdviceFor(
      Orders(), kOrderOperations,
      {"{'created_at': 1}", "{'geo_zone': 1}", "{'geo_zone': 'hashed'}", "{'_id': 'hashed'}", "{'user_id': 'hashed'}"});
  EXPECT_EQ(advice.ratings.front().key.ToText(), "{ user_id: \"hashed\" }");
  EXPECT_STREQ(Verdict(advice.ratings.front().score), "good");
  EXPECT_NEAR(advice.ratings.front().targeting->score, 170.0 / 205, 1e-9);
  EXPECT_TRUE(Of(advice, "{'created_at': 1}").evenness.growth->monotonic);
  EXPECT_THAT(NotesOf(advice, "{'created_at': 1}"), HasSubstr("every insert goes to the last chunk"));
  EXPECT_LT(Of(advice, "{'created_at': 1}").score, 0.2);
  EXPECT_THAT(NotesOf(advice, "{'geo_zone': 1}"), HasSubstr("only 4 distinct values"));
  EXPECT_LT(Of(advice, "{'geo_zone': 'hashed'}").score, 0.02);
  const Rating& id = Of(advice, "{'_id': 'hashed'}");
  EXPECT_EQ(id.evenness.score, 1);
  EXPECT_EQ(id.targeting->reach.all, 135) << "the history is asked of all";
  EXPECT_LT(id.score, 0.4);
}

TEST(RatingTest, OrdersByUserHashedWinAmongWhatIsFound) {
  const Advice advice = AdviceFor(Orders(), kOrderOperations);
  EXPECT_EQ(advice.ratings.front().key.ToText(), "{ user_id: \"hashed\" }");
  std::vector<std::string> keys;
  for (const Rating& rating : advice.ratings) keys.push_back(rating.key.ToText());
  for (const char* key :
       {"{ _id: \"hashed\" }", "{ _id: 1 }", "{ user_id: 1 }", "{ order_id: \"hashed\" }", "{ created_at: 1 }",
        "{ user_id: 1, created_at: 1 }", "{ geo_zone: 1, created_at: 1 }", "{ geo_zone: 1, _id: 1 }"}) {
    EXPECT_THAT(keys, Contains(key));
  }
  EXPECT_THAT(keys, Not(Contains("{ status: \"hashed\" }"))) << "no operation asks for it";
  const std::string text = ToText(advice);
  EXPECT_THAT(text, HasSubstr("Shard shop.c by { user_id: \"hashed\" }"));
  EXPECT_THAT(text, HasSubstr("10 × find { order_id: ? }: all shards"));
  EXPECT_THAT(text, HasSubstr("5 × aggregate { created_at: { $gte: ? }, geo_zone: ? }: all shards"));
  EXPECT_THAT(text, HasSubstr("createIndex({ user_id: \"hashed\" })"));
  EXPECT_THAT(text, HasSubstr("sh.shardCollection(\"shop.c\", { user_id: \"hashed\" })"));
}

TEST(RatingTest, CartsByOwnerEscapeTheNullTrap) {
  Sample sample;
  for (int i = 0; i < 4000; ++i) {
    bson::Builder cart;
    const bool guest = i % 100 < 31;
    cart.Append("_id", StrCat("c", i));
    if (guest) {
      cart.Append("user_id", bson::Null{}).Append("session_id", StrCat("S", i)).Append("owner", StrCat("g:S", i));
    } else {
      cart.Append("user_id", StrCat("U", i)).Append("session_id", bson::Null{}).Append("owner", StrCat("u:U", i));
    }
    sample.documents.push_back(cart.Finish());
  }
  sample.total = 4000;
  const Advice advice = AdviceFor(
      sample, {"{'find': 'c', 'filter': {'owner': 'u:U50', 'status': 'active'}, 'weight': 100}",
               "{'update': 'c', 'q': {'owner': 'g:S1', 'status': 'active'}, 'u': {'$set': {'status': 'ordered'}}, "
               "'weight': 50}",
               "{'find': 'c', 'filter': {'user_id': 'U50', 'status': 'active'}, 'weight': 20}"});
  EXPECT_EQ(advice.ratings.front().key.ToText(), "{ owner: \"hashed\" }");
  const Rating& user = Of(advice, "{'user_id': 'hashed'}");
  EXPECT_TRUE(user.distinct.top_is_null);
  EXPECT_GT(user.evenness.max_over_mean, 1.7);
  EXPECT_THAT(NotesOf(advice, "{'user_id': 'hashed'}"),
              HasSubstr("31 % of the documents have { user_id: null } (null or missing); all of them will share one "
                        "shard. That is more than the 25 % a shard should have."));
}

TEST(RatingTest, OneHopelessPropertyDisqualifies) {
  const Advice advice = AdviceFor(Orders(), {"{'find': 'c', 'filter': {'geo_zone': 'RU-MOW'}, 'weight': 1000}"},
                                  {"{'geo_zone': 1}", "{'geo_zone': 'hashed'}"});
  EXPECT_EQ(advice.ratings.front().targeting->score, 1);
  EXPECT_STREQ(Verdict(advice.ratings.front().score), "poor");
  EXPECT_THAT(Recommend(advice).front(), HasSubstr("None of these keys is good"));
}

TEST(RatingTest, AnUpdateOfTheKeyMovesTheDocument) {
  const Advice advice =
      AdviceFor(Orders(), {"{'update': 'c', 'q': {'user_id': 'U7'}, 'u': {'$set': {'user_id': 'U8'}}, 'weight': 40}"},
                {"{'user_id': 'hashed'}", "{'order_id': 'hashed'}"});
  EXPECT_EQ(Of(advice, "{'user_id': 'hashed'}").targeting->reach.few, 40);
  EXPECT_THAT(NotesOf(advice, "{'user_id': 'hashed'}"), HasSubstr("40 of the updates change user_id"));
  EXPECT_THAT(NotesOf(advice, "{'order_id': 'hashed'}"), Not(HasSubstr("change")));
}

TEST(RatingTest, WithoutOperationsTheThirdPropertyIsUnknown) {
  const Advice advice = AdviceFor(Orders(), {});
  EXPECT_FALSE(advice.ratings.front().targeting.has_value());
  EXPECT_THAT(ToText(advice), HasSubstr("unknown"));
  EXPECT_THAT(Recommend(advice).back(), HasSubstr("--queries FILE"));
  EXPECT_TRUE(J(ToJson(advice)).Find("candidates").AsView().At(0).AsView().Find("targeting").Is(bson::Type::kNull));
}

TEST(RatingTest, ArraysAndUniqueIndexesAreSaid) {
  Sample sample = Orders();
  sample.documents.push_back(J("{'user_id': ['a', 'b']}"));
  Advice advice = AdviceFor(sample, kOrderOperations, {"{'user_id': 'hashed'}", "{'order_id': 1}"});
  advice.unique_indexes = {{"order_id_1", {"order_id"}}};
  EXPECT_EQ(Of(advice, "{'user_id': 'hashed'}").score, 0);
  EXPECT_THAT(NotesOf(advice, "{'user_id': 'hashed'}"), HasSubstr("1 of the documents have an array at user_id"));
  EXPECT_THAT(NotesOf(advice, "{'user_id': 'hashed'}"), HasSubstr("the unique index order_id_1"));
  EXPECT_THAT(NotesOf(advice, "{'order_id': 1}"), Not(HasSubstr("unique index")));
}

TEST(CandidatesTest, OnlyScalarsOutsideArrays) {
  Sample sample;
  for (int i = 0; i < 200; ++i) {
    sample.documents.push_back(
        Make("_id", i, "at", Make("city", StrCat("c", i), "tags", J("{'x': [1]}")), "items", J("{'0': 1}")));
    sample.documents.push_back(J("{'items': [{'sku': 1}], 'half': 1}"));
  }
  sample.total = 400;
  const Advice advice = AdviceFor(sample, {"{'find': 'c', 'filter': {'at.city': 'c1', 'items.sku': 1, 'nowhere': 1}}"});
  for (const Rating& rating : advice.ratings) {
    for (const ShardKey::Field& field : rating.key.fields()) EXPECT_THAT(field.path, testing::AnyOf("_id", "at.city"));
  }
  EXPECT_EQ(Of(advice, "{'at.city': 'hashed'}").with_array, 0u);
}

TEST(ReportTest, JsonHasTheDocumentedFields) {
  const bson::Document json = J(ToJson(AdviceFor(Orders(), kOrderOperations, {"{'user_id': 'hashed'}"})));
  for (const char* field :
       {"namespace", "shards", "documents", "operations", "insertion_order", "candidates", "recommendation"}) {
    EXPECT_FALSE(json.Find(field).missing()) << field;
  }
  const bson::View candidate = json.Find("candidates").AsView().At(0).AsView();
  for (const char* field : {"key", "score", "verdict", "distinct", "evenness", "targeting", "with_array", "notes"}) {
    EXPECT_FALSE(candidate.Find(field).missing()) << field;
  }
}

}  // namespace
}  // namespace braid::advise
