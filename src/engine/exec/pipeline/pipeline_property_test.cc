// Properties: $group against a plain model, $sort with $limit against a full sort, $unwind and back.
#include <map>

#include "engine/exec/pipeline/pipeline_testing.h"

namespace braid::query::pipeline {
namespace {

std::vector<bson::Document> RandomRows(Random& random, size_t count) {
  std::vector<bson::Document> rows;
  for (size_t i = 0; i < count; ++i) {
    bson::Builder row;
    row.Append("_id", static_cast<int32_t>(i));
    if (random.Chance(9, 10)) row.Append("k", static_cast<int32_t>(random.Below(7)));
    if (random.Chance(9, 10)) row.Append("v", static_cast<int32_t>(random.Below(1000)) - 500);
    rows.push_back(row.Finish());
  }
  return rows;
}

TEST(PipelinePropertyTest, GroupSumsEqualAPlainModel) {
  Random random(test::Seed());
  plan::PlanFixture fixture;
  const Array stages("[{'$group': {'_id': '$k', 's': {'$sum': '$v'}, 'n': {'$sum': 1}, 'm': {'$min': '$v'}}}]");
  for (int run = 0; run < 50; ++run) {
    const auto rows = RandomRows(random, random.Below(200));
    struct Sum {
      int32_t sum = 0;
      int32_t count = 0;
    };
    std::map<int32_t, Sum> model;  // -1: no key
    for (const bson::Document& row : rows) {
      const bson::Value key = row.Find("k");
      const bson::Value value = row.Find("v");
      Sum& sum = model[key.missing() ? -1 : key.AsInt32()];
      sum.sum += value.missing() ? 0 : value.AsInt32();
      ++sum.count;
    }
    auto groups = RunStages(fixture, stages.view(), rows);
    ASSERT_OK(groups);
    ASSERT_EQ(groups->size(), model.size());
    for (const bson::Document& group : *groups) {
      const bson::Value id = group.Find("_id");
      const auto found = model.find(id.Is(bson::Type::kNull) ? -1 : id.AsInt32());
      ASSERT_NE(found, model.end());
      EXPECT_EQ(group.Find("s").AsInt32(), found->second.sum);
      EXPECT_EQ(group.Find("n").AsInt32(), found->second.count);
    }
  }
}

TEST(PipelinePropertyTest, SortWithLimitIsTheCutOfAFullSort) {
  Random random(test::Seed());
  plan::PlanFixture fixture;
  PipelineOptions options;
  options.ns = {"t", "c"};
  options.collection = fixture.collection();
  for (const bson::Document& row : RandomRows(random, 150)) fixture.Insert(row);
  for (int run = 0; run < 50; ++run) {
    const size_t skip = random.Below(20);
    const size_t limit = 1 + random.Below(60);
    const std::string sort =
        random.Chance(1, 2) ? "{'$sort': {'k': 1, 'v': -1, '_id': 1}}" : "{'$sort': {'v': 1, '_id': -1}}";
    // Behind a stage the planner does not take, so that the pipeline sorts.
    const std::string before = StrCat("[{'$set': {'z': 1}}, ", sort);
    plan::PlanFixture::Session session(fixture);
    auto whole = Pipeline::Parse(Array(before + "]").view(), options);
    ASSERT_OK(whole);
    auto sorted = ReadAll(session.context(), **whole);
    ASSERT_OK(sorted);
    auto cut =
        Pipeline::Parse(Array(StrCat(before, ", {'$skip': ", skip, "}, {'$limit': ", limit, "}]")).view(), options);
    ASSERT_OK(cut);
    ASSERT_EQ(sorted->size(), 150u);
    sorted->erase(sorted->begin(), sorted->begin() + static_cast<std::ptrdiff_t>(skip));
    sorted->resize(std::min(limit, sorted->size()));
    EXPECT_EQ(Show(ReadAll(session.context(), **cut)), Show(sorted));
  }
}

TEST(PipelinePropertyTest, UnwindIsUndoneByPush) {
  Random random(test::Seed());
  plan::PlanFixture fixture;
  std::vector<bson::Document> rows;
  for (int i = 0; i < 100; ++i) {
    bson::Builder row;
    row.Append("_id", i).OpenObject("x").Append("before", std::string(random.Below(9), 'b')).OpenArray("l");
    for (uint64_t n = 1 + random.Below(6); n > 0; --n) row.AppendNext(std::string(random.Below(30), 'e'));
    row.Close().Append("after", i).Close().Append("last", i);
    rows.push_back(row.Finish());
  }
  const Array stages(
      "[{'$unwind': '$x.l'}, {'$group': {'_id': '$_id', 'l': {'$push': '$x.l'}, 'b': {'$first': '$x.before'}, "
      "'a': {'$last': '$x.after'}, 'e': {'$last': '$last'}}}, {'$sort': {'_id': 1}}, "
      "{'$project': {'x': {'before': '$b', 'l': '$l', 'after': '$a'}, 'last': '$e'}}]");
  EXPECT_EQ(Show(RunStages(fixture, stages.view(), rows)), Show(rows));
}

}  // namespace
}  // namespace braid::query::pipeline
