// Replacements, pipelines, and what is common to all kinds.
#include <algorithm>

#include "base/testing/testing.h"
#include "engine/bson/builder.h"
#include "engine/bson/validate.h"
#include "engine/language/update/testing.h"

namespace braid::update::test {
namespace {

TEST(UpdateReplacement, KeepsTheId) {
  Check({
      {"{'_id': 1, 'a': 1}", "{'b': 2}", "{'_id': 1, 'b': 2}"},
      {"{'_id': 1, 'a': 1}", "{}", "{'_id': 1}"},
      {"{'_id': 1, 'a': 1}", "{'b': 2, '_id': 1}", "{'_id': 1, 'b': 2}"},
      {"{'_id': 1, 'a': 1}", "{'a': 1}", "="},
      {"{'_id': 1, 'a': 1}", "{'_id': 2}", "!66"},
      {"{'_id': 1}", "{'a.b': 1, 'c': {'$d': 1, 'e.f': 2}}", "{'_id': 1, 'a.b': 1, 'c': {'$d': 1, 'e.f': 2}}"},
      {"{'_id': 1}", "{'a': 1, '$b': 1}", "!52"},
      {"{'_id': 1}", "{'t': {'$timestamp': {'t': 0, 'i': 0}}}",
       "{'_id': 1, 't': {'$timestamp': {'t': 1700000000, 'i': 5}}}"},
  });
  EXPECT_EQ(ParseCase({"{}", "{'a': 1}", ""}, /*multi=*/true).status().code(), Code::kFailedToParse);
  const auto update = ParseCase({"{}", "{'a': 1}", ""});
  ASSERT_OK(update);
  EXPECT_TRUE((*update)->is_replacement());
  EXPECT_FALSE((*update)->is_pipeline());
}

TEST(UpdatePipeline, AppliesStagesInOrder) {
  Check({
      {"{'_id': 1, 'a': 2}", "[{'$set': {'b': '$a'}}, {'$unset': 'a'}]", "{'_id': 1, 'b': 2}"},
      {"{'_id': 1, 'a': 2, 'b': 3}", "[{'$project': {'a': 1}}]", "{'_id': 1, 'a': 2}"},
      {"{'_id': 1, 'a': {'x': 1}}", "[{'$replaceWith': '$a'}]", "{'_id': 1, 'x': 1}"},
      {"{'_id': 1, 'a': {'x': 1}}", "[{'$replaceRoot': {'newRoot': '$a'}}, {'$addFields': {'y': 2}}]",
       "{'_id': 1, 'x': 1, 'y': 2}"},
      {"{'_id': 1, 'a': 1}", "[]", "="},
      {"{'_id': 1, 'a': 1}", "[{'$set': {'a': 1}}]", "="},
      {"{'_id': 1, 'a': 1}", "[{'$set': {'_id': 2}}]", "!66"},
      {"{'_id': 1, 'a': 1}", "[{'$replaceWith': '$a'}]", "!40228"},
  });
}

TEST(UpdatePipeline, RefusesOtherStages) {
  Check({
      {"{'_id': 1}", "[{'$match': {}}]", "!72"},
      {"{'_id': 1}", "[{'$group': {'_id': 1}}]", "!72"},
      {"{'_id': 1}", "[{'$foo': {}}]", "!40324"},
      {"{'_id': 1}", "[{'$set': {'a': 1}, '$unset': 'b'}]", "!40323"},
      {"{'_id': 1}", "[{}]", "!40323"},
      {"{'_id': 1}", "[1]", "!14"},
      {"{'_id': 1}", "[{'$set': 1}]", "!40272"},
      {"{'_id': 1}", "[{'$project': 1}]", "!15969"},
      {"{'_id': 1}", "[{'$replaceRoot': 1}]", "!40229"},
      {"{'_id': 1}", "[{'$replaceRoot': {}}]", "!40414"},
      {"{'_id': 1}", "[{'$replaceRoot': {'newRoot': {}, 'x': 1}}]", "!40415"},
  });
}

TEST(UpdateOperatorsTable, IsSorted) {
  const query::OperatorNames names = UpdateOperators();
  EXPECT_TRUE(std::ranges::is_sorted(names.supported));
  EXPECT_EQ(names.supported.size(), 15u);
}

/// {a: {a: … {}}}, so many levels deep.
bson::Document Nested(int levels) {
  bson::Document document;
  for (int i = 1; i < levels; ++i) document = bson::Make("a", document);
  return document;
}

Code CodeAfter(const bson::Document& update, const bson::Document& before) {
  const auto parsed = Update::Parse(bson::Value(update.view()), {}, TestEnvironment());
  return parsed.ok() ? (*parsed)->Apply(before, {}).status().code() : parsed.error().code();
}

TEST(UpdateLimits, Size) {
  const std::string big(9 * 1024 * 1024, 'x');
  const bson::Document half = bson::Make("_id", 1, "a", big);
  const auto update =
      Update::Parse(bson::Value(bson::Make("$set", bson::Make("b", big)).view()), {}, TestEnvironment());
  ASSERT_OK(update);
  EXPECT_EQ((*update)->Apply(half, {}).status().code(), Location(17419));
  const auto filter = query::Filter::Parse(bson::Make("a", big), TestEnvironment());
  ASSERT_OK(filter);
  EXPECT_EQ((*update)->Upsert(*filter).status().code(), Location(17420));
}

TEST(UpdateLimits, Depth) {
  const bson::Document before = bson::Make("_id", 1);
  EXPECT_EQ(CodeAfter(bson::Make("$set", bson::Make("x", Nested(bson::kDepthMax - 1))), before), Code::kOk);
  EXPECT_EQ(CodeAfter(bson::Make("$set", bson::Make("x", Nested(bson::kDepthMax))), before), Code::kOverflow);
  EXPECT_EQ(CodeAfter(bson::Make("$set", bson::Make("x.y", Nested(bson::kDepthMax - 1))), before), Code::kOverflow);
  EXPECT_EQ(CodeAfter(bson::Make("$push", bson::Make("x", Nested(bson::kDepthMax - 1))), before), Code::kOverflow);
  const bson::Document deep = bson::Make("_id", 1, "a", Nested(bson::kDepthMax - 1));
  EXPECT_EQ(CodeAfter(bson::Make("$rename", bson::Make("a", "b.c")), deep), Code::kOverflow);
  EXPECT_EQ(CodeAfter(bson::Make("$rename", bson::Make("a", "b")), deep), Code::kOk);
  EXPECT_EQ(CodeAfter(bson::Make("x", Nested(bson::kDepthMax)), before), Code::kOverflow);
}

std::string Prepared(const char* document) {
  const auto prepared = PrepareForInsert(bson::J(document), (uint64_t{7} << 32) | 1);
  return prepared.ok() ? bson::ToJson(prepared->view()) : Outcome(prepared.error());
}

std::string Json(const char* document) { return bson::ToJson(bson::J(document).view()); }

TEST(PrepareForInsert, PutsTheIdFirst) {
  EXPECT_EQ(Prepared("{'_id': 1, 'a': 2}"), Json("{'_id': 1, 'a': 2}"));
  EXPECT_EQ(Prepared("{'a': 2, '_id': 1, 'b': 3}"), Json("{'_id': 1, 'a': 2, 'b': 3}"));
  EXPECT_EQ(Prepared("{'_id': 1, '$a': 1, 'b.c': 1, 'd': {'$e': 1}}"),
            Json("{'_id': 1, '$a': 1, 'b.c': 1, 'd': {'$e': 1}}"));
  const auto made = PrepareForInsert(bson::J("{'a': 1}"), 0);
  ASSERT_OK(made);
  EXPECT_EQ(made->view().begin()->name, "_id");
  EXPECT_TRUE(made->Find("_id").Is(bson::Type::kObjectId));
}

TEST(PrepareForInsert, RefusesWhatCannotBeStored) {
  EXPECT_EQ(Prepared("{'_id': [1]}"), "!53");
  EXPECT_EQ(Prepared("{'_id': {'$regularExpression': {'pattern': 'a', 'options': ''}}}"), "!53");
  EXPECT_EQ(Prepared("{'_id': {'$undefined': true}}"), "!53");
  EXPECT_EQ(Prepared("{'_id': {'a': {'$b': 1}}}"), "!52");
  EXPECT_EQ(PrepareForInsert(bson::Make("_id", 1, "_id", 2), 0).status().code(), Code::kBadValue);
  EXPECT_EQ(PrepareForInsert(bson::Make("a", std::string(17 * 1024 * 1024, 'x')), 0).status().code(), Code::kBadValue);
  EXPECT_EQ(PrepareForInsert(Nested(bson::kDepthMax + 1), 0).status().code(), Code::kOverflow);
  EXPECT_OK(PrepareForInsert(Nested(bson::kDepthMax), 0));
}

TEST(PrepareForInsert, FillsZeroTimestampsAtTheTop) {
  EXPECT_EQ(Prepared("{'_id': 1, 'a': {'$timestamp': {'t': 0, 'i': 0}}, 'b': {'c': {'$timestamp': {'t': 0, 'i': 0}}}}"),
            Json("{'_id': 1, 'a': {'$timestamp': {'t': 7, 'i': 1}}, 'b': {'c': {'$timestamp': {'t': 0, 'i': 0}}}}"));
}

}  // namespace
}  // namespace braid::update::test
