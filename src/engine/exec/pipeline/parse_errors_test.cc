// What is wrong with a pipeline, by code.
#include "engine/exec/pipeline/pipeline_testing.h"

namespace braid::query::pipeline {
namespace {

struct ParseErrorCase {
  int code;
  std::string_view stages;
};

constexpr ParseErrorCase kParseErrorsCases[] = {
    {14, "[3]"},
    {40323, "[{}]"},
    {40323, "[{'$limit': 1, '$skip': 1}]"},
    {40324, "[{'$nope': 1}]"},
    {40324, "[{'$search': {}}]"},
    {115, "[{'$lookup': {}}]"},
    {115, "[{'$facet': {}}]"},
    {40601, "[{'$out': 'o'}, {'$match': {}}]"},
    {40601, "[{'$merge': 'o'}, {'$match': {}}]"},
    {40602, "[{'$match': {}}, {'$collStats': {}}]"},
    {15959, "[{'$match': 3}]"},
    {2, "[{'$match': {'a': {'$nope': 1}}}]"},
    {15969, "[{'$project': 3}]"},
    {40272, "[{'$addFields': 3}]"},
    {40272, "[{'$set': 'a'}]"},
    {31002, "[{'$unset': 3}]"},
    {40229, "[{'$replaceRoot': 3}]"},
    {40414, "[{'$replaceRoot': {}}]"},
    {40415, "[{'$replaceRoot': {'newRoot': '$a', 'x': 1}}]"},
    {15947, "[{'$group': 3}]"},
    {15948, "[{'$group': {'_id': 1, '_id': 2}}]"},
    {15955, "[{'$group': {'n': {'$sum': 1}}}]"},
    {40234, "[{'$group': {'_id': 1, 'n': 3}}]"},
    {15952, "[{'$group': {'_id': 1, 'n': {'$nope': 3}}}]"},
    {40235, "[{'$group': {'_id': 1, 'n.x': {'$sum': 3}}}]"},
    {16406, "[{'$group': {'_id': 1, 'n': {'$sum': 3}, 'n': {'$sum': 1}}}]"},
    {15973, "[{'$sort': 3}]"},
    {15976, "[{'$sort': {}}]"},
    {15975, "[{'$sort': {'a': 2}}]"},
    {5107201, "[{'$limit': 'x'}]"},
    {5107201, "[{'$limit': -1}]"},
    {5107201, "[{'$limit': 1.5}]"},
    {15958, "[{'$limit': 0}]"},
    {5107200, "[{'$skip': -1}]"},
    {5107200, "[{'$skip': 'x'}]"},
    {40156, "[{'$count': 3}]"},
    {40157, "[{'$count': ''}]"},
    {40158, "[{'$count': '$a'}]"},
    {40159, "[{'$count': 'a\\u0000'}]"},
    {40160, "[{'$count': 'a.b'}]"},
    {15981, "[{'$unwind': 3}]"},
    {28808, "[{'$unwind': {'path': 3}}]"},
    {28809, "[{'$unwind': {'path': '$a', 'preserveNullAndEmptyArrays': 3}}]"},
    {28810, "[{'$unwind': {'path': '$a', 'includeArrayIndex': 3}}]"},
    {28810, "[{'$unwind': {'path': '$a', 'includeArrayIndex': ''}}]"},
    {28811, "[{'$unwind': {'path': '$a', 'x': 3}}]"},
    {28812, "[{'$unwind': {}}]"},
    {28818, "[{'$unwind': 'a'}]"},
    {28822, "[{'$unwind': {'path': '$a', 'includeArrayIndex': '$i'}}]"},
    {15998, "[{'$unwind': '$a..b'}]"},
    {28745, "[{'$sample': 3}]"},
    {28746, "[{'$sample': {'size': 'x'}}]"},
    {28747, "[{'$sample': {'size': -1}}]"},
    {28748, "[{'$sample': {'x': 1}}]"},
    {28749, "[{'$sample': {}}]"},
    {40147, "[{'$sortByCount': {'a': 1}}]"},
    {40148, "[{'$sortByCount': 'a'}]"},
    {40149, "[{'$sortByCount': 1}]"},
    {40201, "[{'$bucket': 3}]"},
    {40202, "[{'$bucket': {'groupBy': 3, 'boundaries': [0, 1]}}]"},
    {40200, "[{'$bucket': {'groupBy': '$a', 'boundaries': 3}}]"},
    {40191, "[{'$bucket': {'groupBy': '$a', 'boundaries': ['$a', 1]}}]"},
    {40192, "[{'$bucket': {'groupBy': '$a', 'boundaries': [1]}}]"},
    {40193, "[{'$bucket': {'groupBy': '$a', 'boundaries': [1, 'x']}}]"},
    {40194, "[{'$bucket': {'groupBy': '$a', 'boundaries': [1, 1]}}]"},
    {40195, "[{'$bucket': {'groupBy': '$a', 'boundaries': [1, 2], 'default': '$x'}}]"},
    {40196, "[{'$bucket': {'groupBy': '$a', 'boundaries': [1, 2], 'output': 3}}]"},
    {40197, "[{'$bucket': {'groupBy': '$a', 'boundaries': [1, 2], 'x': 3}}]"},
    {40198, "[{'$bucket': {'groupBy': '$a'}}]"},
    {40199, "[{'$bucket': {'groupBy': '$a', 'boundaries': [1, 3], 'default': 2}}]"},
    {16990, "[{'$out': 3}]"},
    {40414, "[{'$out': {'db': 'd'}}]"},
    {40415, "[{'$out': {'db': 'd', 'coll': 'c', 'x': 1}}]"},
    {14, "[{'$out': {'db': 3, 'coll': 'c'}}]"},
    {115, "[{'$out': {'db': 'd', 'coll': 'c', 'timeseries': {}}}]"},
    {73, "[{'$out': ''}]"},
    {17385, "[{'$out': 'system.users'}]"},
    {31321, "[{'$out': {'db': 'config', 'coll': 'c'}}]"},
    {51182, "[{'$merge': 3}]"},
    {40414, "[{'$merge': {}}]"},
    {40415, "[{'$merge': {'into': 'o', 'x': 1}}]"},
    {51178, "[{'$merge': {'into': 3}}]"},
    {51178, "[{'$merge': {'into': {'db': 'd'}}}]"},
    {40415, "[{'$merge': {'into': {'coll': 'd', 'x': 1}}}]"},
    {31319, "[{'$merge': 'system.users'}]"},
    {31320, "[{'$merge': {'into': {'db': 'admin', 'coll': 'c'}}}]"},
    {51186, "[{'$merge': {'into': 'o', 'on': 3}}]"},
    {51187, "[{'$merge': {'into': 'o', 'on': []}}]"},
    {51134, "[{'$merge': {'into': 'o', 'on': [3]}}]"},
    {31465, "[{'$merge': {'into': 'o', 'on': ['a', 'a']}}]"},
    {51191, "[{'$merge': {'into': 'o', 'whenMatched': 3}}]"},
    {2, "[{'$merge': {'into': 'o', 'whenMatched': 'x'}}]"},
    {2, "[{'$merge': {'into': 'o', 'whenNotMatched': 'x'}}]"},
    {14, "[{'$merge': {'into': 'o', 'whenNotMatched': 3}}]"},
    {51181, "[{'$merge': {'into': 'o', 'whenMatched': 'fail', 'whenNotMatched': 'discard'}}]"},
    {51181, "[{'$merge': {'into': 'o', 'whenMatched': 'keepExisting', 'whenNotMatched': 'fail'}}]"},
    {51199, "[{'$merge': {'into': 'o', 'whenMatched': 'replace', 'let': {'a': 1}}}]"},
    {14, "[{'$merge': {'into': 'o', 'whenMatched': [], 'let': 3}}]"},
    {51273, "[{'$merge': {'into': 'o', 'whenMatched': [], 'let': {'new': 1}}}]"},
    {9, "[{'$merge': {'into': 'o', 'whenMatched': [], 'let': {'A': 1}}}]"},
    {72, "[{'$merge': {'into': 'o', 'whenMatched': [{'$match': {}}]}}]"},
    {17276, "[{'$merge': {'into': 'o', 'whenMatched': [{'$set': {'a': '$$x'}}]}}]"},
    {5447000, "[{'$collStats': 3}]"},
    {40415, "[{'$collStats': {'x': {}}}]"},
    {14, "[{'$collStats': {'count': 3}}]"},
    {115, "[{'$collStats': {'latencyStats': {}}}]"},
    {28803, "[{'$indexStats': {'a': 1}}]"},
    {73, "[{'$currentOp': {}}]"},
    {73, "[{'$shardedDataDistribution': {}}]"},
    {73, "[{'$listLocalSessions': {}}]"},
    {73, "[{'$listSampledQueries': {}}]"},
    {73, "[{'$listSessions': {}}]"},
    {9, "[{'$currentOp': {'x': 1}}]"},
    {9, "[{'$currentOp': {'allUsers': 1}}]"},
    {14, "[{'$listLocalSessions': 3}]"},
    {40415, "[{'$listLocalSessions': {'x': 1}}]"},
};

PipelineOptions Options(catalog::Namespace ns) {
  PipelineOptions options;
  options.ns = std::move(ns);
  options.host = std::make_shared<RecordingHost>();
  return options;
}

int CodeOf(std::string_view stages, catalog::Namespace ns) {
  return static_cast<int>(Pipeline::Parse(Array(stages).view(), Options(std::move(ns))).status().code());
}

TEST(ParseErrorsTest, GivesTheCodeOfEachCase) {
  for (const ParseErrorCase& c : kParseErrorsCases) EXPECT_EQ(CodeOf(c.stages, {"t", "c"}), c.code) << c.stages;
}

TEST(ParseErrorsTest, NamesTheStageInProjectionErrors) {
  auto parsed = Pipeline::Parse(Array("[{'$project': {}}]").view(), Options({"t", "c"}));
  EXPECT_TRUE(parsed.status().message().starts_with("Invalid $project :: caused by :: ")) << parsed.status().message();
}

TEST(ParseErrorsTest, TellsWhereStagesMayRun) {
  EXPECT_EQ(CodeOf("[]", {"t", ""}), 73);
  EXPECT_EQ(CodeOf("[{'$match': {}}]", {"t", ""}), 73);
  EXPECT_EQ(CodeOf("[{'$collStats': {}}]", {"t", ""}), 73);
  EXPECT_EQ(CodeOf("[{'$currentOp': {}}]", {"t", ""}), 73);
  EXPECT_EQ(CodeOf("[{'$shardedDataDistribution': {}}]", {"t", ""}), 73);
  EXPECT_EQ(CodeOf("[{'$shardedDataDistribution': {'a': 1}}]", {"admin", ""}), 6789100);
  EXPECT_EQ(CodeOf("[{'$shardedDataDistribution': {}}, {'$match': {}}]", {"admin", ""}), 0);
  EXPECT_EQ(CodeOf("[{'$listSampledQueries': {}}]", {"t", ""}), 73);
  EXPECT_EQ(CodeOf("[{'$listSampledQueries': 3}]", {"admin", ""}), 6876000);
  EXPECT_EQ(CodeOf("[{'$listSampledQueries': {'namespace': 3}}]", {"admin", ""}), 14);
  EXPECT_EQ(CodeOf("[{'$listSampledQueries': {'ns': 'a.b'}}]", {"admin", ""}), 40415);
  EXPECT_EQ(CodeOf("[{'$listSampledQueries': {'namespace': 'a.b'}}, {'$match': {}}]", {"admin", ""}), 0);
  EXPECT_EQ(CodeOf("[{'$currentOp': {'allUsers': true}}, {'$match': {}}]", {"admin", ""}), 0);
  EXPECT_EQ(CodeOf("[{'$listLocalSessions': {}}]", {"t", ""}), 0);
  EXPECT_EQ(CodeOf("[{'$listSessions': {'allUsers': true}}]", {"config", "system.sessions"}), 0);
}

TEST(ParseErrorsTest, RefusesEveryRefusedStageByName) {
  for (const std::string_view name : PipelineStages().refused) {
    const auto parsed = Pipeline::Parse(Array(StrCat("[{'", name, "': {}}]")).view(), Options({"t", "c"}));
    EXPECT_FALSE(parsed.ok());
    EXPECT_NE(parsed.status().message().find(name), std::string_view::npos) << parsed.status().message();
  }
}

TEST(ParseErrorsTest, BoundsTheNumberOfStages) {
  std::string stages = "[{'$limit': 9}";
  for (int i = 0; i < 1000; ++i) stages += ", {'$limit': 9}";
  EXPECT_EQ(CodeOf(stages + "]", {"t", "c"}), 7749501);
}

}  // namespace
}  // namespace braid::query::pipeline
