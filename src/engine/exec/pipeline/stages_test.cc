// Every stage over documents from a list.
#include <algorithm>

#include "base/work.h"
#include "engine/exec/pipeline/pipeline_testing.h"

namespace braid::query::pipeline {
namespace {

struct StageCase {
  std::string_view stages;
  std::string_view documents;
  std::string_view expected;
};

constexpr StageCase kStagesCases[] = {
    {"[{'$addFields': {'b': {'$add': ['$a', 1]}}}]", "[{'a': 1}, {'a': 2}]", "{ a: 1, b: 2 } { a: 2, b: 3 }"},
    {"[{'$set': {'a': 'x'}}]", "[{'a': 1, 'c': 2}]", "{ a: \"x\", c: 2 }"},
    {"[{'$unset': 'a'}]", "[{'a': 1, 'c': 2}]", "{ c: 2 }"},
    {"[{'$unset': ['a', 'b.c']}]", "[{'a': 1, 'b': {'c': 1, 'd': 2}}]", "{ b: { d: 2 } }"},
    {"[{'$project': {'_id': 0, 'a': 1}}]", "[{'_id': 1, 'a': 2, 'b': 3}]", "{ a: 2 }"},
    {"[{'$match': {'a': {'$gt': 1}}}]", "[{'a': 1}, {'a': 2}, {'a': 3}]", "{ a: 2 } { a: 3 }"},
    {"[{'$replaceRoot': {'newRoot': '$a'}}]", "[{'a': {'x': 1}}]", "{ x: 1 }"},
    {"[{'$replaceRoot': {'newRoot': '$a'}}]", "[{'b': 1}]", "error 40228"},
    {"[{'$replaceWith': {'y': '$a'}}]", "[{'a': 1}, {}]", "{ y: 1 } {}"},
    {"[{'$limit': 2}]", "[{'a': 1}, {'a': 2}, {'a': 3}]", "{ a: 1 } { a: 2 }"},
    {"[{'$skip': 2}]", "[{'a': 1}, {'a': 2}, {'a': 3}]", "{ a: 3 }"},
    {"[{'$skip': 5}]", "[{'a': 1}]", ""},
    {"[{'$count': 'n'}]", "[{'a': 1}, {'a': 2}]", "{ n: 2 }"},
    {"[{'$count': 'n'}]", "[]", ""},
    {"[{'$sort': {'a': 1}}]", "[{'a': 3}, {'a': 1}, {}, {'a': [2, 9]}]", "{} { a: 1 } { a: [ 2, 9 ] } { a: 3 }"},
    {"[{'$sort': {'a': -1, 'b': 1}}]", "[{'a': 1, 'b': 2}, {'a': 2}, {'a': 1, 'b': 1}]",
     "{ a: 2 } { a: 1, b: 1 } { a: 1, b: 2 }"},
    {"[{'$sort': {'a': 1, 'b': 1}}]", "[{'a': [1], 'b': [2]}]", "error 2"},
    {"[{'$sample': {'size': 9}}, {'$sort': {'a': 1}}]", "[{'a': 2}, {'a': 1}]", "{ a: 1 } { a: 2 }"},
    {"[{'$sample': {'size': 1}}]", "[{'a': 2}, {'a': 2}, {'a': 2}]", "{ a: 2 }"},
    {"[{'$sortByCount': '$a'}]", "[{'a': 1}, {'a': 2}, {'a': 2}]", "{ _id: 2, count: 2 } { _id: 1, count: 1 }"},
    {"[{'$sortByCount': {'$mod': ['$a', 2]}}]", "[{'a': 1}, {'a': 2}, {'a': 4}]",
     "{ _id: 0, count: 2 } { _id: 1, count: 1 }"},
    {"[{'$bucket': {'groupBy': '$a', 'boundaries': [0, 5, 9], 'default': 'x'}}]",
     "[{'a': 0}, {'a': 5}, {'a': 4}, {'a': 9}, {}]",
     "{ _id: 0, count: 2 } { _id: 5, count: 1 } { _id: \"x\", count: 2 }"},
    {"[{'$bucket': {'groupBy': '$a', 'boundaries': [0, 5], 'output': {'s': {'$sum': '$a'}}}}]", "[{'a': 1}, {'a': 2}]",
     "{ _id: 0, s: 3 }"},
    {"[{'$bucket': {'groupBy': '$a', 'boundaries': [0, 5]}}]", "[{'a': 7}]", "error 40066"},
    // $group: ids of any kind; equal numbers are one group; missing is null.
    {"[{'$group': {'_id': '$a', 'n': {'$sum': 1}}}]", "[{'a': 1}, {'a': 1.0}, {'a': 'x'}, {}, {'a': null}]",
     "{ _id: 1, n: 2 } { _id: \"x\", n: 1 } { _id: null, n: 2 }"},
    {"[{'$group': {'_id': {'x': '$a', 'y': '$b'}}}]", "[{'a': 1, 'b': 2}, {'a': 1}, {'a': 1, 'b': 2}]",
     "{ _id: { x: 1, y: 2 } } { _id: { x: 1 } }"},
    {"[{'$group': {'_id': null, 's': {'$sum': '$a'}, 'l': {'$push': '$a'}, 'm': {'$max': '$a'}}}]",
     "[{'a': 1}, {'a': 3}, {}]", "{ _id: null, s: 4, l: [ 1, 3 ], m: 3 }"},
    {"[{'$group': {'_id': 1, 'n': {'$sum': 1}}}]", "[]", ""},
    {"[{'$group': {'_id': 1, 'n': {'$count': {}}}}]", "[{}, {}]", "{ _id: 1, n: 2 }"},
    // $unwind
    {"[{'$unwind': '$a'}]", "[{'a': [1, 2], 'b': 0}, {'a': 7}, {'a': []}, {'a': null}, {}]",
     "{ a: 1, b: 0 } { a: 2, b: 0 } { a: 7 }"},
    {"[{'$unwind': {'path': '$a', 'preserveNullAndEmptyArrays': true}}]",
     "[{'a': [1]}, {'a': [], 'b': 1}, {'a': null}, {'b': 2}]", "{ a: 1 } { b: 1 } { a: null } { b: 2 }"},
    {"[{'$unwind': {'path': '$a', 'includeArrayIndex': 'i', 'preserveNullAndEmptyArrays': true}}]",
     "[{'a': ['x', 'y']}, {'a': 5}, {'a': []}]", "{ a: \"x\", i: 0 } { a: \"y\", i: 1 } { a: 5, i: null } { i: null }"},
    {"[{'$unwind': {'path': '$a.b', 'includeArrayIndex': 'a.i'}}]", "[{'a': {'b': ['long', 1], 'c': 2}, 'd': 3}]",
     "{ a: { b: \"long\", c: 2, i: 0 }, d: 3 } { a: { b: 1, c: 2, i: 1 }, d: 3 }"},
    {"[{'$unwind': '$a.b'}]", "[{'a': [{'b': [1, 2]}]}]", ""},
    {"[{'$unwind': '$a'}, {'$unwind': '$a'}]", "[{'a': [[1, 2], [3]]}]", "{ a: 1 } { a: 2 } { a: 3 }"},
};

TEST(StagesTest, MakesTheDocumentsOfEachCase) {
  plan::PlanFixture fixture;
  for (const StageCase& c : kStagesCases) {
    EXPECT_EQ(Show(RunStages(fixture, Array(c.stages).view(), Array(c.documents).documents())), c.expected)
        << c.stages << " over " << c.documents;
  }
}

TEST(StagesTest, EveryStageHasACase) {
  // Those that need a host are met in pipeline_test.cc.
  constexpr std::string_view kWithHost[] = {
      "$collStats",    "$currentOp", "$indexStats", "$listLocalSessions",      "$listSampledQueries",
      "$listSessions", "$merge",     "$out",        "$shardedDataDistribution"};
  for (const std::string_view name : PipelineStages().supported) {
    const std::string quoted = StrCat("'", name, "'");
    const bool met =
        std::ranges::any_of(kStagesCases, [&](const StageCase& c) { return c.stages.find(quoted) != c.stages.npos; });
    EXPECT_TRUE(met || std::ranges::binary_search(kWithHost, name)) << name;
  }
}

TEST(StagesTest, NamesAreSortedAndApart) {
  const OperatorNames names = PipelineStages();
  EXPECT_TRUE(std::ranges::is_sorted(names.supported));
  EXPECT_TRUE(std::ranges::is_sorted(names.refused));
  for (const std::string_view name : names.refused) EXPECT_FALSE(std::ranges::binary_search(names.supported, name));
}

TEST(StagesTest, GroupFollowsTheCollation) {
  plan::PlanFixture fixture;
  auto environment = std::make_shared<Environment>();
  auto collation = bson::Collation::Parse(bson::J("{'locale': 'en', 'strength': 2}"));
  ASSERT_OK(collation);
  environment->collation = *collation;
  PipelineOptions options;
  options.environment = environment;
  const Array stages("[{'$group': {'_id': '$a', 'n': {'$sum': 1}}}, {'$sort': {'_id': 1}}]");
  EXPECT_EQ(Show(RunStages(fixture, stages.view(), Array("[{'a': 'b'}, {'a': 'A'}, {'a': 'a'}]").documents(), options)),
            "{ _id: \"A\", n: 2 } { _id: \"b\", n: 1 }");
}

TEST(StagesTest, GroupAndSortStopAtTheMemoryLimit) {
  plan::PlanFixture fixture;
  const std::string filler(8u << 20, 'x');
  std::vector<bson::Document> documents;
  for (int i = 0; i < 14; ++i) documents.push_back(bson::Make("_id", i, "a", filler));
  for (const std::string_view stages : {"[{'$group': {'_id': null, 'all': {'$push': '$a'}}}]",
                                        "[{'$sort': {'_id': 1}}]", "[{'$sample': {'size': 20}}]"}) {
    EXPECT_EQ(Show(RunStages(fixture, Array(stages).view(), documents)), "error 292") << stages;
  }
}

TEST(StagesTest, SampleTakesEveryDocumentWithTheSameChance) {
  plan::PlanFixture fixture;
  std::vector<bson::Document> documents;
  for (int i = 0; i < 4; ++i) documents.push_back(bson::Make("a", i));
  int taken[4] = {};
  for (int run = 0; run < 800; ++run) {
    auto sampled = RunStages(fixture, Array("[{'$sample': {'size': 2}}]").view(), documents);
    ASSERT_OK(sampled);
    ASSERT_EQ(sampled->size(), 2u);
    for (const bson::Document& document : *sampled) ++taken[document.Find("a").AsInt32()];
  }
  // 400 expected, deviation 14: ten deviations.
  for (const int times : taken) EXPECT_NEAR(times, 400, 140);
}

class CountingWork final : public Work {
 public:
  int questions = 0;

 private:
  Status Interrupted() override {
    ++questions;
    return {};
  }
};

// Copying a document of 1 MB takes as long as thousands of small ones: others must not wait for hundreds of copies.
TEST(StagesTest, LargeDocumentsAreAskedToStopAsOftenAsTheirSizeRequires) {
  plan::PlanFixture fixture;
  bson::Builder large;
  large.Append("text", std::string(1 << 20, 'x')).OpenArray("list");
  for (int i = 0; i < 50; ++i) large.AppendNext(i);
  large.Close();
  CountingWork work;
  const WorkEntered entered(work);
  const Array stages("[{'$unwind': '$list'}, {'$match': {'list': 7}}]");
  const auto found = RunStages(fixture, stages.view(), {large.Finish()});
  ASSERT_OK(found);
  EXPECT_EQ(found->size(), 1u);
  EXPECT_GE(work.questions, 50);
}

}  // namespace
}  // namespace braid::query::pipeline
