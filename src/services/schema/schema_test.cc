// Apply and Compare on every kind of store: what is missing is created once, what differs is named and left alone.
#include "services/schema/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>
#include <thread>

#include "services/schema/testing.h"

namespace braid::schema {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::vector<CollectionSpec>& TestSpecs() {
  static const std::vector<CollectionSpec> specs = {
      {.name = "things",
       .validator =
           R"({"$jsonSchema": {"required": ["owner", "n"], "properties": {"n": {"bsonType": "int", "minimum": 0}}}})",
       .indexes = {{.keys = R"({"owner": "hashed"})"},
                   {.keys = R"({"owner": 1, "n": -1})", .unique = true},
                   {.keys = R"({"n": 1})", .sparse = true, .name = "by_n"},
                   {.keys = R"({"code": 1})", .unique = true, .partial_filter = R"({"n": {"$gt": 5}})"},
                   {.keys = R"({"until": 1})", .expire_after_seconds = 60}},
       .shard_key = R"({"owner": "hashed"})"},
      {.name = "plain"}};
  return specs;
}

class SchemaTest : public test::StoreTest {
 protected:
  Report Applied() {
    auto report = Apply(store_.clients(), store_.database(), TestSpecs());
    EXPECT_OK(report);
    return report.ok() ? *std::move(report) : Report();
  }
  Report Compared() {
    auto report = Compare(store_.clients(), store_.database(), TestSpecs());
    EXPECT_OK(report);
    return report.ok() ? *std::move(report) : Report();
  }
  void Run(const std::string& command) { ASSERT_OK(RunJson(store_, command)); }
  void Shard(const std::string& key) {
    ASSERT_OK(RunJson(store_, StrCat(R"({"shardCollection": ")", store_.database(), R"(.things", "key": )", key, "}"),
                      "admin"));
  }
};

TEST_P(SchemaTest, CreatesWhatIsMissingOnce) {
  const std::vector<std::string> all = {
      "things collection",           "things validator",    "things indexes.owner_hashed",
      "things indexes.owner_1_n_-1", "things indexes.by_n", "things indexes.code_1",
      "things indexes.until_1",      "things shard_key",    "plain collection"};
  EXPECT_EQ(Things(Compared(), State::kMissing), all);
  EXPECT_EQ(Things(Compared(), State::kMissing), all) << "the comparison created something";
  const Report first = Applied();
  EXPECT_EQ(Things(first, State::kCreated), all);
  EXPECT_TRUE(first.ok());
  for (const Report& again : {Applied(), Compared()}) {
    EXPECT_EQ(Things(again, State::kAsSpecified), all);
    EXPECT_EQ(again.findings.size(), all.size());
    EXPECT_TRUE(again.ok());
  }
  EXPECT_EQ(InsertJson(store_, "things", R"({"owner": "a", "n": -1})").code(), Code::kDocumentValidationFailure);
  EXPECT_OK(InsertJson(store_, "things", R"({"owner": "a", "n": 1})"));
  EXPECT_EQ(InsertJson(store_, "things", R"({"owner": "a", "n": 1})").code(), Code::kDuplicateKey);
}

TEST_P(SchemaTest, WhatIsHalfDoneIsCompleted) {
  Run(R"({"create": "things"})");
  Run(R"({"createIndexes": "things", "indexes": [{"key": {"owner": 1, "n": -1}, "name": "mine", "unique": true}]})");
  ASSERT_OK(InsertJson(store_, "things", R"({"owner": "a", "n": 1})"));
  const Report report = Applied();
  EXPECT_TRUE(report.ok()) << ::testing::PrintToString(Differing(report));
  EXPECT_THAT(Things(report, State::kAsSpecified), ElementsAre("things collection", "things indexes.owner_1_n_-1"));
  EXPECT_EQ(report.Count(State::kCreated), 7u);
  EXPECT_EQ(InsertJson(store_, "things", R"({"owner": "b"})").code(), Code::kDocumentValidationFailure);
}

TEST_P(SchemaTest, ProcessesThatCreateAtTheSameTimeAgree) {
  constexpr int kCreators = 6;
  for (int round = 0; round < 5; ++round) {
    std::latch start(kCreators);
    std::vector<std::thread> threads;
    for (int i = 0; i < kCreators; ++i) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        const Report report = Applied();
        EXPECT_TRUE(report.ok()) << ::testing::PrintToString(Differing(report));
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(Compared().ok());
    Run(R"({"drop": "things"})");
  }
}

TEST_P(SchemaTest, ValidatorThatDocumentsBreakIsNotAdded) {
  Run(R"({"create": "things"})");
  ASSERT_OK(InsertJson(store_, "things", R"({"owner": "a", "n": -1})"));
  const Report report = Applied();
  ASSERT_THAT(Things(report, State::kDifferent), ElementsAre("things validator"));
  for (const Finding& finding : report.findings) {
    if (finding.state != State::kDifferent) continue;
    EXPECT_THAT(finding.note, HasSubstr("break it"));
  }
  EXPECT_OK(InsertJson(store_, "things", R"({"owner": "b", "n": -2})"));
}

TEST_P(SchemaTest, IndexThatDocumentsRefuseIsReported) {
  Run(R"({"create": "things"})");
  ASSERT_OK(InsertJson(store_, "things", R"({"_id": 1, "owner": "a", "n": 1})"));
  ASSERT_OK(InsertJson(store_, "things", R"({"_id": 2, "owner": "a", "n": 1})"));
  const Report report = Applied();
  EXPECT_THAT(Things(report, State::kDifferent), ElementsAre("things indexes.owner_1_n_-1"));
  EXPECT_EQ(Things(report, State::kMissing).size(), 0u);
}

TEST_P(SchemaTest, DifferentValidatorIsNamedFieldByField) {
  Run(R"({"create": "things", "validationAction": "warn", "validator": {"$jsonSchema": {
        "properties": {"n": {"minimum": 3, "bsonType": "int"}, "m": {"bsonType": "string"}}, "required": ["n", "owner"]}}})");
  Run(R"({"create": "plain", "validator": {"a": 1}})");
  for (const Report& report : {Applied(), Compared()}) {
    EXPECT_THAT(Differing(report),
                ElementsAre("things validator.$jsonSchema.properties.n.minimum: 0 | 3",
                            R"(things validator.$jsonSchema.properties.m:  | { "bsonType" : "string" })",
                            R"(things validationAction: "error" | "warn")", R"(plain validator:  | { "a" : 1 })"));
  }
}

TEST_P(SchemaTest, DifferentIndexOptionsAreNamedFieldByField) {
  Run(R"({"createIndexes": "things", "indexes": [
        {"key": {"owner": 1, "n": -1}, "name": "owner_1_n_-1", "sparse": true},
        {"key": {"n": 1}, "name": "other_name", "sparse": true, "hidden": true},
        {"key": {"zone": 1}, "name": "code_1"},
        {"key": {"until": 1}, "name": "until_1", "expireAfterSeconds": 30},
        {"key": {"harmless": 1}, "name": "harmless_1"},
        {"key": {"x": 1}, "name": "x_1", "unique": true},
        {"key": {"y": 1}, "name": "y_1", "expireAfterSeconds": 5}]})");
  const std::vector<std::string> expected = {
      "things indexes.owner_1_n_-1.unique: true | ",
      "things indexes.owner_1_n_-1.sparse:  | true",
      R"(things indexes.by_n.name: "by_n" | "other_name")",
      "things indexes.by_n.hidden:  | true",
      R"(things indexes.code_1.key: { "code" : 1 } | { "zone" : 1 })",
      "things indexes.until_1.expireAfterSeconds: 60 | 30",
      R"(things indexes.x_1:  | { "key" : { "x" : 1 }, "name" : "x_1", "unique" : true })",
      R"(things indexes.y_1:  | { "key" : { "y" : 1 }, "name" : "y_1", "expireAfterSeconds" : 5 })"};
  EXPECT_EQ(Differing(Applied()), expected);
  EXPECT_EQ(Differing(Compared()), expected);
}

TEST_P(SchemaTest, DifferentPartialFilterAndCollationAreNamed) {
  Run(R"({"createIndexes": "things", "indexes": [
        {"key": {"code": 1}, "name": "code_1", "unique": true, "partialFilterExpression": {"n": {"$gt": 7}}}]})");
  Run(R"({"create": "plain", "collation": {"locale": "en"}})");
  const std::vector<std::string> differing = Differing(Applied());
  ASSERT_EQ(differing.size(), 2u);
  EXPECT_EQ(differing[0], "things indexes.code_1.partialFilterExpression.n.$gt: 5 | 7");
  EXPECT_THAT(differing[1], HasSubstr("plain collation:  | { \"locale\" : \"en\""));
}

TEST_P(SchemaTest, DifferentShardKeyIsReportedAndLeftAlone) {
  Shard(R"({"zone": 1})");
  for (const Report& report : {Applied(), Compared()}) {
    EXPECT_THAT(Differing(report), ElementsAre(R"(things shard_key: { "owner" : "hashed" } | { "zone" : 1 })"));
  }
  EXPECT_THAT(Things(Compared(), State::kMissing), IsEmpty());
}

TEST_P(SchemaTest, ShardKeyWhereNoneIsAskedForIsTheOperatorsChoice) {
  ASSERT_OK(RunJson(
      store_, StrCat(R"({"shardCollection": ")", store_.database(), R"(.plain", "key": {"_id": "hashed"}})"), "admin"));
  EXPECT_TRUE(Applied().ok());
}

TEST_P(SchemaTest, SpecThatIsNotJsonIsAnError) {
  const CollectionSpec bad = {.name = "bad", .indexes = {{.keys = "{a: }"}}};
  const auto report = Apply(store_.clients(), store_.database(), {&bad, 1});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code(), Code::kFailedToParse);
  EXPECT_THAT(std::string(report.error().message()), HasSubstr("the spec of bad: keys: "));
}

INSTANTIATE_ON_STORES(SchemaTest);

}  // namespace
}  // namespace braid::schema
