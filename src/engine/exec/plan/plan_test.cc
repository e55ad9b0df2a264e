// Which plan a query gets, what explain says of it, and the rules that the property test does not see.
#include "base/strings.h"
#include "engine/exec/plan/plan_fixture.h"

namespace braid::query::plan {
namespace {

using testing::Test;

class PlanTest : public Test {
 protected:
  void SetUp() override {
    f_.AddIndex("{'v': 2, 'name': 'a_1_b_-1', 'key': {'a': 1, 'b': -1}}");
    f_.AddIndex("{'v': 2, 'name': 'c_1', 'key': {'c': 1}}");
    for (int i = 0; i < 20; ++i) {
      f_.Insert(StrCat("{'_id': ", i, ", 'a': ", i % 4, ", 'b': ", i, ", 'c': [", i, ", ", i + 100, "]}"));
    }
  }
  Query Hinted(Query query, std::string_view hint) {
    query.hint = bson::J(hint);
    return query;
  }
  std::string StagesOf(std::string_view filter, std::string_view sort = "{}", std::string_view projection = "{}") {
    return f_.Stages(f_.Find(filter, sort, projection));
  }
  PlanFixture f_;
};

TEST_F(PlanTest, TakesTheIndexThatServesBest) {
  EXPECT_EQ(StagesOf("{}"), "COLLSCAN");
  EXPECT_EQ(StagesOf("{'z': 1}"), "COLLSCAN");
  EXPECT_EQ(StagesOf("{'_id': 3}"), "IDHACK");
  EXPECT_EQ(StagesOf("{'_id': {'$gt': 3}}"), "FETCH IXSCAN(_id_)");
  EXPECT_EQ(StagesOf("{'a': 1}"), "FETCH IXSCAN(a_1_b_-1)");
  EXPECT_EQ(StagesOf("{'b': 1}"), "COLLSCAN");
  EXPECT_EQ(StagesOf("{'a': 1}", "{'b': -1}"), "FETCH IXSCAN(a_1_b_-1)");
  EXPECT_EQ(StagesOf("{'a': 1}", "{'b': 1}"), "FETCH IXSCAN(a_1_b_-1)");
  EXPECT_EQ(StagesOf("{'a': {'$gt': 1}}", "{'b': 1}"), "SORT FETCH IXSCAN(a_1_b_-1)");
  EXPECT_EQ(StagesOf("{}", "{'a': -1, 'b': 1}"), "FETCH IXSCAN(a_1_b_-1)");
  EXPECT_EQ(StagesOf("{}", "{'a': 1, 'b': 1}"), "SORT COLLSCAN");
  EXPECT_EQ(StagesOf("{}", "{'_id': -1}"), "FETCH IXSCAN(_id_)");
  EXPECT_EQ(StagesOf("{}", "{'c': 1}"), "FETCH IXSCAN(c_1)");
  EXPECT_EQ(StagesOf("{'c': {'$gt': 3}}", "{'c': 1}"), "SORT FETCH IXSCAN(c_1)");  // arrays: bounds hide elements
  EXPECT_EQ(StagesOf("{'$or': [{'a': 1}, {'c': 5}]}"), "FETCH OR IXSCAN(a_1_b_-1) IXSCAN(c_1)");
  EXPECT_EQ(StagesOf("{'$or': [{'a': 1}, {'z': 5}]}"), "COLLSCAN");
  EXPECT_EQ(StagesOf("{'a': {'$in': [1, 2]}}", "{'b': 1}"), "FETCH SORT_MERGE IXSCAN(a_1_b_-1) IXSCAN(a_1_b_-1)");
  EXPECT_EQ(StagesOf("{'a': 1}", "{}", "{'_id': 0, 'a': 1, 'b': 1}"), "PROJECTION_COVERED IXSCAN(a_1_b_-1)");
  EXPECT_EQ(StagesOf("{'a': 1}", "{}", "{'a': 1}"), "PROJECTION_SIMPLE FETCH IXSCAN(a_1_b_-1)");
  EXPECT_EQ(StagesOf("{'c': 1}", "{}", "{'_id': 0, 'c': 1}"), "PROJECTION_SIMPLE FETCH IXSCAN(c_1)");
}

TEST_F(PlanTest, ResultsInOrder) {
  EXPECT_EQ(f_.Show(f_.Find("{'a': {'$in': [1, 2]}, 'b': {'$lt': 8}}", "{'b': 1}", "{'b': 1, '_id': 0}")),
            "{ b: 1 } { b: 2 } { b: 5 } { b: 6 }");
  EXPECT_EQ(f_.Show(f_.Find("{'a': 1, 'b': {'$gt': 5, '$lte': 13}}", "{'b': 1}", "{'b': 1, '_id': 0}")),
            "{ b: 9 } { b: 13 }");
  EXPECT_EQ(f_.Show(f_.Find("{'_id': {'$gte': 17}}", "{'_id': -1}", "{'_id': 1}")),
            "{ _id: 19 } { _id: 18 } { _id: 17 }");
  Query part = f_.Find("{}", "{'b': -1}", "{'_id': 1}");
  part.skip = 1;
  part.limit = 2;
  EXPECT_EQ(f_.Show(part), "{ _id: 18 } { _id: 17 }");
}

TEST_F(PlanTest, ExplainTellsBoundsAndFigures) {
  const bson::Document explained = f_.Explain(f_.Find("{'a': 1, 'b': {'$gte': 5}, 'z': null}"));
  EXPECT_EQ(bson::ToShell(explained.Find("filter")), "{ z: { $eq: null } }");
  EXPECT_EQ(explained.Find("nReturned").AsInt32(), 4);
  EXPECT_EQ(explained.Find("docsExamined").AsInt32(), 4);
  const bson::View scan = explained.Find("inputStage").AsView();
  EXPECT_EQ(bson::ToShell(scan.Find("indexBounds")), "{ a: [ \"[1, 1]\" ], b: [ \"[inf.0, 5]\" ] }");
  EXPECT_EQ(bson::ToShell(scan.Find("keyPattern")), "{ a: 1, b: -1 }");
  EXPECT_EQ(scan.Find("direction").AsString(), "forward");
  EXPECT_FALSE(scan.Find("isMultiKey").AsBool());
  EXPECT_EQ(scan.Find("keysExamined").AsInt32(), 4);
  EXPECT_EQ(scan.Find("seeks").AsInt32(), 1);
  const bson::Document multikey = f_.Explain(f_.Find("{'c': {'$gte': 5}}"));
  EXPECT_EQ(bson::ToShell(multikey.Find("inputStage").AsView().Find("multiKeyPaths")), "{ c: [ \"c\" ] }");
  EXPECT_EQ(multikey.Find("inputStage").AsView().Find("dupsDropped").AsInt32(), 15);
}

TEST_F(PlanTest, SingleIdsAreFetchedByTheirKeys) {
  EXPECT_EQ(StagesOf("{'_id': {'$in': [7, 3, 99, 3]}}"), "FETCH IXSCAN(_id_)");
  EXPECT_EQ(f_.Show(f_.Find("{'_id': {'$in': [7, 3, 99, 3.0, 'x', null]}}", "{}", "{'_id': 1}")),
            "{ _id: 3 } { _id: 7 }");
  EXPECT_EQ(f_.Show(f_.Find("{'_id': {'$in': [7, 3]}, 'a': 3}", "{'_id': -1}", "{'_id': 1}")), "{ _id: 7 } { _id: 3 }");
  const bson::Document explained = f_.Explain(f_.Find("{'_id': {'$in': [7, 3, 99]}}"));
  const bson::View scan = explained.Find("inputStage").AsView();
  EXPECT_EQ(scan.Find("keysExamined").AsInt32(), 2);
  EXPECT_EQ(scan.Find("seeks").AsInt32(), 3);
  EXPECT_EQ(bson::ToShell(scan.Find("indexBounds")), "{ _id: [ \"[3, 3]\", \"[7, 7]\", \"[99, 99]\" ] }");
}

TEST_F(PlanTest, SkipsBetweenSeparateRanges) {
  const bson::Document explained = f_.Explain(f_.Find("{'a': {'$in': [0, 3]}, 'b': 3}"));
  EXPECT_EQ(explained.Find("nReturned").AsInt32(), 1);
  EXPECT_LE(explained.Find("inputStage").AsView().Find("keysExamined").AsInt32(), 5);
}

TEST_F(PlanTest, HintsAndTheirErrors) {
  EXPECT_EQ(f_.Stages(Hinted(f_.Find("{'c': 1}"), "{'a': 1, 'b': -1}")), "FETCH IXSCAN(a_1_b_-1)");
  EXPECT_EQ(f_.Stages(Hinted(f_.Find("{'a': 1}"), "{'$natural': -1}")), "COLLSCAN");
  Query named = f_.Find("{'a': 1}");
  named.hint_name = "c_1";
  EXPECT_EQ(f_.Stages(named), "FETCH IXSCAN(c_1)");
  named.hint_name = "nope";
  EXPECT_EQ(Plan::Make(named).status().code(), Code::kBadValue);
  EXPECT_EQ(Plan::Make(Hinted(f_.Find(), "{'a': 1}")).status().code(), Code::kBadValue);
  named.collection = nullptr;
  EXPECT_EQ(f_.Stages(named), "EOF");
}

TEST_F(PlanTest, MinAndMaxAreKeysOfTheHintedIndex) {
  const auto limited = [&](std::string_view min, std::string_view max, std::string_view hint) {
    Query query = f_.Find("{}", "{}", "{'_id': 1}");
    if (!min.empty()) query.min = bson::J(min);
    if (!max.empty()) query.max = bson::J(max);
    if (!hint.empty()) query.hint = bson::J(hint);
    return query;
  };
  constexpr const char* kHint = "{'a': 1, 'b': -1}";
  EXPECT_EQ(f_.Show(limited("{'a': 1, 'b': 9}", "{'a': 2, 'b': 14}", kHint)),
            "{ _id: 9 } { _id: 5 } { _id: 1 } { _id: 18 }");
  const auto code = [&](const Query& query) { return static_cast<int>(Plan::Make(query).status().code()); };
  EXPECT_EQ(code(limited("{'a': 1, 'b': 9}", "", "")), 51173);
  EXPECT_EQ(code(limited("{'a': 1}", "", kHint)), 51174);
  EXPECT_EQ(code(limited("{'a': 2, 'b': 1}", "{'a': 1, 'b': 1}", kHint)), 51175);
  EXPECT_EQ(code(limited("{'a': 2}", "{'b': 1}", kHint)), 51176);
}

TEST_F(PlanTest, ReturnKeyAndRecordId) {
  Query keys = f_.Find("{'a': 1, 'b': {'$lt': 6}}");
  keys.return_key = true;
  EXPECT_EQ(f_.Show(keys), "{ a: 1, b: 5 } { a: 1, b: 1 }");
  Query ids = f_.Find("{'b': 5}", "{}", "{'_id': 1}");
  ids.show_record_id = true;
  const auto documents = f_.Read(ids);
  ASSERT_OK(documents);
  ASSERT_EQ(documents->size(), 1u);
  const bson::Document five = bson::J("{'_id': 5}");
  EXPECT_EQ((*documents)[0].Find("$recordId").AsBinary().bytes, txn::IdKey(five.Find("_id")));
}

TEST_F(PlanTest, CountsWithoutDocuments) {
  EXPECT_EQ(*f_.Count(f_.Find()), 20);
  EXPECT_EQ(*f_.Count(f_.Find("{'a': 1}")), 5);
  EXPECT_EQ(*f_.Count(f_.Find("{'c': {'$gte': 5}}")), 20);
  EXPECT_EQ(*f_.Count(f_.Find("{'$or': [{'a': 1}, {'c': 5}]}")), 5);
  Query part = f_.Find("{'a': 1}");
  part.skip = 2;
  part.limit = 2;
  EXPECT_EQ(*f_.Count(part), 2);
  PlanFixture::Session session(f_);
  const auto explained = ExplainCount(session.context(), f_.Find("{'a': 1}"), true);
  ASSERT_OK(explained);
  EXPECT_EQ(explained->count, 5);
  EXPECT_EQ(explained->figures().documents_examined, 0u);
  EXPECT_EQ(explained->shards.front().stages.Find("inputStage").AsView().Find("stage").AsString(), "COUNT_SCAN");
  const auto all = ExplainCount(session.context(), f_.Find(), true);
  ASSERT_OK(all);
  EXPECT_EQ(all->shards.front().stages.Find("stage").AsString(), "RECORD_STORE_FAST_COUNT");
  EXPECT_EQ(all->count, 20);
}

// An update that moves a document ahead in the index must not meet it again.
TEST_F(PlanTest, WritesOfTheCallerAreNotMetAgain) {
  PlanFixture::Session session(f_);
  Query query = f_.Find("{'a': {'$gte': 0}}");
  query.for_change = true;
  auto plan = Plan::Make(query);
  ASSERT_OK(plan);
  bson::View document;
  int changed = 0;
  while (*(*plan)->Next(session.context(), &document)) {
    ASSERT_LT(++changed, 21);
    const bson::Document before(document);
    bson::Builder after;
    for (const bson::Element& field : before.view()) {
      field.name == "a" ? after.Append("a", field.value.AsInt32() + 100) : after.Append(field.name, field.value);
    }
    ASSERT_OK(txn::Replace(session.context(), f_.collection(), 0, before, after.Finish()));
  }
  EXPECT_EQ(changed, 20);
}

// A cursor that lives on reads the snapshot of its beginning, whatever was written in between.
TEST_F(PlanTest, GoesOnWithAnotherContext) {
  auto plan = Plan::Make(f_.Find("{'a': 1}", "{'b': 1}"));
  ASSERT_OK(plan);
  storage::Snapshot snapshot;
  bson::View document;
  {
    PlanFixture::Session session(f_);
    ASSERT_TRUE(*(*plan)->Next(session.context(), &document));
    snapshot = session.context().TakeSnapshot();
  }
  f_.Insert("{'_id': 100, 'a': 1, 'b': 50}");
  PlanFixture::Session session(f_);
  session.context().UseSnapshot(std::move(snapshot));
  int rest = 0;
  while (*(*plan)->Next(session.context(), &document)) ++rest;
  EXPECT_EQ(rest, 4);
}

// Two conditions may be met by two elements of one array, unless $elemMatch asks for one.
TEST(PlanArrayTest, FieldsBelowOneArray) {
  PlanFixture f;
  f.AddIndex("{'v': 2, 'name': 'd', 'key': {'d.b': 1, 'd.c': 1}}");
  f.Insert("{'_id': 1, 'd': [{'b': 1, 'c': 5}, {'b': 9, 'c': 2}]}");
  f.Insert("{'_id': 2, 'd': [{'b': 1, 'c': 2}]}");
  const auto bounds = [](const bson::Document& explained) {
    return bson::ToShell(explained.Find("inputStage").AsView().Find("indexBounds"));
  };
  const Query apart = f.Find("{'d.b': 1, 'd.c': 2}");
  EXPECT_EQ(bounds(f.Explain(apart)), "{ d.b: [ \"[1, 1]\" ], d.c: [ \"[MinKey, MaxKey]\" ] }");
  EXPECT_EQ(*f.Count(apart), 2);
  const Query together = f.Find("{'d': {'$elemMatch': {'b': 1, 'c': 2}}}");
  EXPECT_EQ(bounds(f.Explain(together)), "{ d.b: [ \"[1, 1]\" ], d.c: [ \"[2, 2]\" ] }");
  EXPECT_EQ(*f.Count(together), 1);
}

// Bounds of a later field, and a sparse index, hide the elements that an array sorts by.
TEST(PlanArrayTest, SortByAnArrayNeedsAllOfItsEntries) {
  for (const char* sparse : {"false", "true"}) {
    PlanFixture f;
    f.AddIndex(StrCat("{'v': 2, 'name': 'd', 'key': {'d.b': 1, 'd.c': 1}, 'sparse': ", sparse, "}"));
    f.Insert("{'_id': 1, 'd': [{'b': 1}, {'b': 7, 'c': 3}]}");
    f.Insert("{'_id': 2, 'd': [{'b': 5, 'c': 3}]}");
    f.Insert("{'_id': 3, 'd': [{'b': 6, 'c': 3}, {}]}");
    EXPECT_EQ(f.Show(f.Find("{'d.c': 3}", "{'d.b': 1}", "{'_id': 1}")), "{ _id: 3 } { _id: 1 } { _id: 2 }");
    EXPECT_EQ(f.Show(f.Find("{'d.b': {'$exists': true}}", "{'d.b': 1}", "{'_id': 1}")),
              "{ _id: 3 } { _id: 1 } { _id: 2 }");
  }
}

TEST(PlanTtlTest, ExpiredDocumentsAreNotShownNorCounted) {
  PlanFixture f;
  f.AddIndex("{'v': 2, 'name': 't_1', 'key': {'t': 1}, 'expireAfterSeconds': 10}");
  f.AddIndex("{'v': 2, 'name': 'a_1', 'key': {'a': 1}}");
  const int64_t now = f.clock().NowMillis();
  f.Insert(bson::Make("_id", 1, "a", 1, "t", bson::Date{now - 1'000}));
  f.Insert(bson::Make("_id", 2, "a", 1, "t", bson::Date{now - 9'000}));
  EXPECT_EQ(*f.Count(f.Find()), 2);
  f.clock().Advance(std::chrono::seconds(2));
  for (const char* filter : {"{}", "{'a': 1}", "{'_id': {'$in': [1, 2]}}"}) {
    EXPECT_EQ(*f.Count(f.Find(filter)), 1) << filter;
    EXPECT_EQ(f.Show(f.Find(filter, "{}", "{'_id': 1}")), "{ _id: 1 }") << filter;
  }
  EXPECT_EQ(f.Show(f.Find("{'_id': 2}")), "");
  EXPECT_EQ(f.Show(f.Find("{'a': 1}", "{}", "{'_id': 0, 'a': 1}")), "{ a: 1 }");
}

TEST(PlanSortTest, RefusesWhatDoesNotFitInMemory) {
  PlanFixture f;
  const std::string filler(15u << 20, 'x');
  for (int i = 0; i < 8; ++i) f.Insert(bson::Make("_id", i, "a", 8 - i, "x", filler));
  const auto sorted = f.Read(f.Find("{}", "{'a': 1}"));
  EXPECT_EQ(sorted.status().code(), Code::kQueryExceededMemoryLimitNoDiskUseAllowed);
  Query first = f.Find("{}", "{'a': 1}", "{'_id': 1}");
  first.limit = 2;
  EXPECT_EQ(f.Show(first), "{ _id: 7 } { _id: 6 }");
}

TEST(PlanChoiceTest, LooksAtTheDataBetweenIndexes) {
  PlanFixture f;
  f.AddIndex("{'v': 2, 'name': 'kind_1', 'key': {'kind': 1}}");
  f.AddIndex("{'v': 2, 'name': 'code_1', 'key': {'code': 1}}");
  for (int i = 0; i < 200; ++i) f.Insert(bson::Make("_id", i, "kind", i % 2, "code", i));
  EXPECT_EQ(f.Stages(f.Find("{'kind': 1, 'code': 7}")), "FETCH IXSCAN(code_1)");
  EXPECT_EQ(f.Stages(f.Find("{'kind': 1, 'code': {'$lt': 4}}")), "FETCH IXSCAN(code_1)");
  Query soon = f.Find("{'code': {'$gte': 0}}", "{'_id': 1}");
  soon.limit = 3;
  EXPECT_EQ(f.Stages(soon), "LIMIT FETCH IXSCAN(_id_)");
}

}  // namespace
}  // namespace braid::query::plan
