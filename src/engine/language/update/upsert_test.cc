#include "base/testing/testing.h"
#include "engine/language/update/testing.h"

namespace braid::update::test {
namespace {

struct UpsertCase {
  const char* filter;
  const char* update;
  const char* want;
};

void CheckUpserts(const std::vector<UpsertCase>& cases) {
  for (const UpsertCase& c : cases) {
    const std::string want = c.want[0] == '!' ? c.want : bson::ToJson(bson::J(c.want).view());
    EXPECT_EQ(RunUpsert(c.filter, c.update), want) << c.filter << " with " << c.update;
  }
}

TEST(Upsert, TakesEqualitiesFromTheFilter) {
  CheckUpserts({
      {"{'_id': 1, 'x': 2}", "{'$set': {'y': 3}}", "{'_id': 1, 'x': 2, 'y': 3}"},
      {"{'x': {'$eq': 2}, '_id': 1}", "{'$inc': {'x': 3}}", "{'_id': 1, 'x': 5}"},
      {"{'_id': 1, '$and': [{'a': 1}, {'b': 2}]}", "{'$set': {'c': 3}}", "{'_id': 1, 'a': 1, 'b': 2, 'c': 3}"},
      {"{'_id': 1, '$or': [{'a': 1}]}", "{'$set': {'c': 3}}", "{'_id': 1, 'a': 1, 'c': 3}"},
      {"{'_id': 1, '$or': [{'a': 1}, {'b': 2}]}", "{'$set': {'c': 3}}", "{'_id': 1, 'c': 3}"},
      {"{'_id': 1, 'a': {'$in': [5]}, 'b': {'$in': [1, 2]}}", "{'$set': {'c': 3}}", "{'_id': 1, 'a': 5, 'c': 3}"},
      {"{'_id': 1, 'a': {'$all': [5]}}", "{'$set': {'c': 3}}", "{'_id': 1, 'a': 5, 'c': 3}"},
      {"{'_id': 1, 'a': {'$gt': 5}, 'b': {'$ne': 1}, 'c': {'$exists': true}}", "{'$set': {'d': 3}}",
       "{'_id': 1, 'd': 3}"},
      {"{'_id': 1, 'a.b': 1, 'a.c': 2, 'a-': 3}", "{'$set': {'a.d': 3}}",
       "{'_id': 1, 'a-': 3, 'a': {'b': 1, 'c': 2, 'd': 3}}"},
      {"{'_id': 1, 'a.0': 1}", "{'$set': {'b': 3}}", "{'_id': 1, 'a': {'0': 1}, 'b': 3}"},
      {"{'_id.x': 1}", "{'$set': {'b': 3}}", "{'_id': {'x': 1}, 'b': 3}"},
      {"{'_id': 1, 'a': 1}", "{'$setOnInsert': {'b': 1, 'a': 7}}", "{'_id': 1, 'a': 7, 'b': 1}"},
      {"{'_id': 1, 'a': 1}", "{'$unset': {'a': 1}}", "{'_id': 1}"},
      {"{'_id': 1, 'a': 1}", "{'$set': {}}", "{'_id': 1, 'a': 1}"},
      {"{'a': 1}", "{'$setOnInsert': {'_id': 5}}", "{'_id': 5, 'a': 1}"},
      {"{'_id': 1, 'a': {'b': 1}}", "{'$rename': {'a.b': 'c'}}", "{'_id': 1, 'a': {}, 'c': 1}"},
  });
}

TEST(Upsert, RefusesContradictions) {
  CheckUpserts({
      {"{'_id': 1, '$and': [{'a': 1}, {'a': 2}]}", "{'$set': {'c': 3}}", "!54"},
      {"{'_id': 1, 'a': {'b': 1}, 'a.b': 1}", "{'$set': {'c': 3}}", "!54"},
      {"{'_id': 1, 'a': {'$all': [1, 2]}}", "{'$set': {'c': 3}}", "!54"},
      {"{'_id': 1}", "{'$set': {'_id': 2}}", "!66"},
      {"{'_id': 1}", "{'$setOnInsert': {'_id': 2}}", "!66"},
      {"{'_id': 1}", "{'_id': 2}", "!66"},
      {"{'_id': 1}", "[{'$set': {'_id': 2}}]", "!66"},
      {"{'_id': 1, 'a': 5}", "{'$set': {'a.b': 1}}", "!28"},
      {"{'_id': 1, 'a': 5}", "{'$set': {'a.$': 1}}", "!2"},
      {"{}", "{'$set': {'_id': [1]}}", "!53"},
      {"{}", "{'$set': {'_id': {'$x': 1}}}", "!52"},
  });
}

TEST(Upsert, ReplacementTakesOnlyTheId) {
  CheckUpserts({
      {"{'_id': 1, 'x': 2}", "{'y': 3}", "{'_id': 1, 'y': 3}"},
      {"{'x': 2}", "{'y': 3, '_id': 7}", "{'_id': 7, 'y': 3}"},
      {"{'_id': 1, '$and': [{'a': 1}, {'a': 2}]}", "{'y': 3}", "{'_id': 1, 'y': 3}"},
      {"{'_id.x': 1}", "{'y': 3}", "!111"},
      {"{'x': 2}", "{'_id': [1]}", "!53"},
  });
}

TEST(Upsert, PipelineStartsFromTheEqualities) {
  CheckUpserts({
      {"{'_id': 1, 'x': 2}", "[{'$set': {'y': '$x'}}]", "{'_id': 1, 'x': 2, 'y': 2}"},
      {"{'_id': 1, 'x': 2}", "[{'$replaceWith': {'z': '$x'}}]", "{'_id': 1, 'z': 2}"},
  });
}

TEST(Upsert, MakesAnIdAndPutsItFirst) {
  for (const char* update : {"{'$set': {'a': 1}}", "{'a': 1}", "[{'$set': {'a': 1}}]"}) {
    const auto parsed = ParseCase({"{}", update, ""});
    ASSERT_OK(parsed);
    const auto document = (*parsed)->Upsert(query::Filter());
    ASSERT_OK(document);
    EXPECT_EQ(document->view().begin()->name, "_id") << update;
    EXPECT_TRUE(document->Find("_id").Is(bson::Type::kObjectId)) << update;
  }
}

}  // namespace
}  // namespace braid::update::test
