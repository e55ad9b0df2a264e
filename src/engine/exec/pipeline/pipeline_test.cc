// Pipelines over a collection: what the planner takes over, counts, writes, reports and explain.
#include "engine/exec/pipeline/pipeline_testing.h"

namespace braid::query::pipeline {
namespace {

class PipelineTest : public ::testing::Test {
 protected:
  PipelineTest() {
    fixture_.AddIndex("{'key': {'a': 1, 'b': 1}, 'name': 'a_1_b_1'}");
    for (int i = 0; i < 20; ++i) fixture_.Insert(bson::Make("_id", i, "a", i % 4, "b", i % 10, "c", i));
  }

  std::unique_ptr<Pipeline> Parse(std::string_view stages, bool explain = false) {
    PipelineOptions options;
    options.ns = ns_;
    options.collection = ns_.collection == "c" ? fixture_.collection() : nullptr;
    options.host = host_;
    options.explain = explain;
    auto pipeline = Pipeline::Parse(Array(stages).view(), std::move(options));
    EXPECT_OK(pipeline);
    return pipeline.ok() ? *std::move(pipeline) : nullptr;
  }

  std::string Run(std::string_view stages) {
    plan::PlanFixture::Session session(fixture_);
    return Show(ReadAll(session.context(), *Parse(stages)));
  }

  bson::Document Explain(std::string_view stages, bool executed = true) {
    plan::PlanFixture::Session session(fixture_);
    const auto pipeline = Parse(stages, true);
    if (executed) {
      EXPECT_OK(ReadAll(session.context(), *pipeline));
    } else {
      EXPECT_OK(pipeline->Prepare(session.context()));
    }
    return pipeline->Explain(executed);
  }

  /// The winning plan of the front, as JSON.
  std::string WinningPlan(std::string_view stages) {
    const bson::Document explained = Explain(stages, false);
    bson::View holder = explained;
    if (holder.Has("stages")) holder = holder.Find("stages").AsView().At(0).AsView().Find("$cursor").AsView();
    return bson::ToJson(holder.Find("queryPlanner").AsView().Find("winningPlan"));
  }

  plan::PlanFixture fixture_;
  catalog::Namespace ns_{"t", "c"};
  std::shared_ptr<RecordingHost> host_ = std::make_shared<RecordingHost>();
};

bool Contains(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

TEST_F(PipelineTest, EmptyPipelineReadsTheCollection) {
  plan::PlanFixture::Session session(fixture_);
  auto all = ReadAll(session.context(), *Parse("[]"));
  ASSERT_OK(all);
  EXPECT_EQ(all->size(), 20u);
}

TEST_F(PipelineTest, FrontBecomesOneQuery) {
  const bson::Document explained = Explain(
      "[{'$match': {'a': 1}}, {'$match': {'b': {'$gt': 2}}}, {'$sort': {'b': -1}}, {'$skip': 1}, {'$limit': 2}]");
  EXPECT_FALSE(explained.view().Has("stages"));
  const std::string text = bson::ToJson(explained.view());
  EXPECT_TRUE(Contains(text, "IXSCAN")) << text;
  EXPECT_FALSE(Contains(text, "\"SORT\"")) << text;
  EXPECT_EQ(explained.Find("executionStats").AsView().Find("nReturned").AsInt32(), 2);
}

TEST_F(PipelineTest, FrontGivesWhatItsStagesGiveOneByOne) {
  constexpr std::string_view kPipelines[] = {
      "[{'$match': {'a': 1}}, {'$sort': {'c': -1}}, {'$skip': 1}, {'$limit': 2}]",
      "[{'$limit': 5}, {'$match': {'a': 1}}]",
      "[{'$limit': 5}, {'$skip': 2}]",
      "[{'$limit': 2}, {'$skip': 2}]",
      "[{'$skip': 2}, {'$skip': 3}, {'$limit': 9}, {'$limit': 4}, {'$limit': 6}]",
      "[{'$limit': 7}, {'$sort': {'c': -1}}]",
      "[{'$sort': {'c': -1}}, {'$match': {'b': 3}}]",
      "[{'$project': {'c': 1}}, {'$match': {'b': null}}, {'$limit': 1}]",
      "[{'$project': {'d': '$c', '_id': 0}}, {'$sort': {'d': -1}}, {'$limit': 3}]",
      "[{'$sort': {'c': -1}}, {'$project': {'c': 1}}, {'$skip': 2}, {'$limit': 1}, {'$project': {'_id': 0}}]",
      "[{'$match': {'a': 2}}, {'$group': {'_id': '$b', 's': {'$sum': '$a'}}}, {'$sort': {'_id': 1}}]",
      "[{'$match': {'a': 2}}, {'$count': 'n'}]",
      "[{'$match': {'a': 2}}, {'$skip': 1}, {'$limit': 3}, {'$group': {'_id': 1, 'n': {'$sum': 1}}}]",
      "[{'$match': {'a': 99}}, {'$group': {'_id': 1, 'n': {'$sum': 1}}}]",
      "[{'$group': {'_id': null, 'n': {'$sum': 1.0}, 'm': {'$count': {}}}}]",
      "[{'$group': {'_id': 'x', 'n': {'$sum': 2}}}]",
  };
  plan::PlanFixture::Session session(fixture_);
  auto all = ReadAll(session.context(), *Parse("[]"));
  ASSERT_OK(all);
  for (const std::string_view stages : kPipelines) {
    EXPECT_EQ(Run(stages), Show(RunStages(fixture_, Array(stages).view(), *all))) << stages;
  }
}

TEST_F(PipelineTest, GroupOverAnIndexIsCovered) {
  constexpr std::string_view kStages = "[{'$match': {'a': 2}}, {'$group': {'_id': '$b', 's': {'$sum': '$a'}}}]";
  EXPECT_TRUE(Contains(WinningPlan(kStages), "PROJECTION_COVERED")) << WinningPlan(kStages);
  // Not all of it in the index: whole documents, without a projection that nobody needs.
  constexpr std::string_view kOther = "[{'$match': {'a': 2}}, {'$group': {'_id': '$c'}}]";
  EXPECT_FALSE(Contains(WinningPlan(kOther), "PROJECTION")) << WinningPlan(kOther);
  EXPECT_FALSE(Contains(WinningPlan("[{'$match': {'_id': 2}}, {'$group': {'_id': '$c'}}]"), "PROJECTION"));
}

TEST_F(PipelineTest, CountingReadsNoDocuments) {
  constexpr std::string_view kCount = "[{'$match': {'a': 2}}, {'$group': {'_id': 1, 'n': {'$sum': 1}}}]";
  EXPECT_EQ(Run(kCount), "{ _id: 1, n: 5 }");
  EXPECT_EQ(Run("[{'$match': {}}, {'$group': {'_id': 1, 'n': {'$sum': 1}}}]"), "{ _id: 1, n: 20 }");
  const bson::Document explained = Explain(kCount);
  const bson::View stages = explained.Find("stages").AsView();
  const bson::View figures = stages.At(0).AsView().Find("$cursor").AsView().Find("executionStats").AsView();
  EXPECT_EQ(figures.Find("totalDocsExamined").AsInt32(), 0) << bson::ToJson(explained.view());
  EXPECT_TRUE(Contains(bson::ToJson(figures), "COUNT_SCAN"));
  const bson::View planner = stages.At(0).AsView().Find("$cursor").AsView().Find("queryPlanner").AsView();
  EXPECT_FALSE(Contains(bson::ToJson(planner), "nCounted")) << "the plan, without what it did";
  EXPECT_TRUE(stages.At(1).AsView().Has("$group"));
  EXPECT_EQ(stages.At(1).AsView().Find("nReturned").AsInt32(), 1);
  EXPECT_TRUE(Contains(WinningPlan(kCount), "COUNT_SCAN"));
}

TEST_F(PipelineTest, ExplainShowsTheStagesBehindTheCursor) {
  const bson::Document explained = Explain("[{'$match': {'c': {'$lt': 9}}}, {'$unwind': '$b'}, {'$limit': 3}]");
  const bson::View stages = explained.Find("stages").AsView();
  ASSERT_EQ(stages.Count(), 3u);
  const bson::View planner = stages.At(0).AsView().Find("$cursor").AsView().Find("queryPlanner").AsView();
  EXPECT_EQ(planner.Find("namespace").AsString(), "t.c");
  EXPECT_EQ(bson::ToShell(stages.At(1)), "{ $unwind: \"$b\", nReturned: 3 }");
  EXPECT_EQ(bson::ToShell(stages.At(2)), "{ $limit: 3, nReturned: 3 }");
  const bson::Document planned = Explain("[{'$unwind': '$b'}]", false);
  EXPECT_EQ(bson::ToShell(planned.Find("stages").AsView().At(1)), "{ $unwind: \"$b\" }");
}

TEST_F(PipelineTest, GoesOnInAnotherContext) {
  const auto pipeline = Parse("[{'$unwind': '$a'}, {'$project': {'_id': 1}}]");
  storage::Snapshot snapshot;
  for (int i = 0;; ++i) {
    plan::PlanFixture::Session session(fixture_);
    session.context().UseSnapshot(std::move(snapshot));
    bson::View document;
    auto more = pipeline->Next(session.context(), &document);
    ASSERT_OK(more);
    snapshot = session.context().TakeSnapshot();
    if (!*more) {
      EXPECT_EQ(i, 20);
      break;
    }
    EXPECT_EQ(document.Find("_id").AsInt32(), i);
  }
}

TEST_F(PipelineTest, OutWritesAllAtTheFirstPull) {
  const auto pipeline = Parse("[{'$match': {'c': {'$lt': 2}}}, {'$project': {'c': 1}}, {'$out': 'o'}]");
  EXPECT_TRUE(pipeline->writes());
  plan::PlanFixture::Session session(fixture_);
  EXPECT_EQ(Show(ReadAll(session.context(), *pipeline)), "");
  EXPECT_EQ(host_->log, "begin t.o\nadd { _id: 0, c: 0 }\nadd { _id: 1, c: 1 }\nfinish\n");
  EXPECT_EQ(Show(ReadAll(session.context(), *pipeline)), "");
  EXPECT_FALSE(Parse("[]")->writes());
}

TEST_F(PipelineTest, OutOfNothingMakesAnEmptyCollection) {
  ns_.collection = "none";
  EXPECT_EQ(Run("[{'$match': {'a': 1}}, {'$out': {'db': 'd', 'coll': 'o'}}]"), "");
  EXPECT_EQ(host_->log, "begin d.o\nfinish\n");
}

TEST_F(PipelineTest, MergeWritesPastTheSnapshot) {
  EXPECT_EQ(Run("[{'$match': {'c': {'$gte': 18}}}, {'$project': {'c': 1}}, {'$merge': 'o'}]"), "");
  EXPECT_EQ(host_->log, "merge { _id: 18, c: 18 } { into: \"o\" }\nmerge { _id: 19, c: 19 } { into: \"o\" }\n");
  for (const std::string_view accepted : {
           "[{'$merge': {'into': {'coll': 'o'}, 'on': ['_id', 'a'], 'whenMatched': 'fail', 'whenNotMatched': "
           "'insert'}}]",
           "[{'$merge': {'into': {'db': 'd', 'coll': 'o'}, 'on': 'a', 'whenMatched': 'replace', 'whenNotMatched': "
           "'fail'}}]",
           "[{'$merge': {'into': 'o', 'let': {'x': '$a', 'new': '$$ROOT'}, 'whenMatched': [{'$set': {'a': '$$x', "
           "'b': '$$new.b'}}], 'whenNotMatched': 'discard'}}]",
       }) {
    EXPECT_TRUE(Parse(accepted)->writes()) << accepted;
  }
}

TEST_F(PipelineTest, ReportsComeFromTheHost) {
  EXPECT_EQ(Run("[{'$collStats': {'count': {}}}, {'$sort': {'_id': 1}}]"), "{ _id: 1 } { _id: 2 }");
  EXPECT_EQ(Run("[{'$indexStats': {}}, {'$count': 'n'}]"), "{ n: 2 }");
  EXPECT_EQ(host_->log, "report $collStats { count: {} }\nreport $indexStats {}\n");
  const auto pipeline = Parse("[{'$indexStats': {}}]");
  EXPECT_EQ(pipeline->plan(), nullptr);
  EXPECT_EQ(bson::ToShell(pipeline->Explain(false).view()), "{ stages: [ { $indexStats: {} } ] }");
  ns_ = {"admin", ""};
  EXPECT_EQ(Run("[{'$currentOp': {'allUsers': true}}, {'$limit': 1}]"), "{ _id: 2 }");
  EXPECT_EQ(Run("[{'$listLocalSessions': {}}, {'$skip': 1}]"), "{ _id: 1 }");
  ns_ = {"config", "system.sessions"};
  EXPECT_EQ(Run("[{'$listSessions': {}}]"), "{ _id: 2 } { _id: 1 }");
}

TEST_F(PipelineTest, HintsReachThePlanner) {
  PipelineOptions options;
  options.ns = ns_;
  options.collection = fixture_.collection();
  options.hint_name = "nope";
  EXPECT_EQ(Pipeline::Parse(Array("[{'$match': {'a': 1}}]").view(), options).status().code(), Code::kBadValue);
}

}  // namespace
}  // namespace braid::query::pipeline
