// What the log shows of a command.
#include "engine/commands/operation_record.h"

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/json.h"

namespace braid::commands {
namespace {

std::string ShapeOf(std::string_view json, size_t bytes_max = 1000) {
  const bson::Document body = bson::J(json);
  return CommandShape({.body = body.view(), .sequences = {}, .name = body.view().begin()->name, .database = "db"},
                      bytes_max);
}

TEST(CommandShapeTest, ShowsWhatIsAskedAndNotWithWhat) {
  EXPECT_EQ(ShapeOf("{'find': 'c', 'filter': {'a': 1, 'b': {'$gt': 'x'}}, 'limit': 5, 'singleBatch': true}"),
            "{ find: \"c\", filter: { a: ?, b: { $gt: ? } }, limit: 5, singleBatch: true }");
  EXPECT_EQ(ShapeOf("{'find': 'c', 'sort': {'a': -1}, 'projection': {'b': 1, 'c': {'$literal': 'x'}}, 'hint': 'a_1'}"),
            "{ find: \"c\", sort: { a: -1 }, projection: { b: 1, c: { $literal: ? } }, hint: \"a_1\" }");
  EXPECT_EQ(ShapeOf("{'getMore': 5, 'collection': 'c'}"), "{ getMore: 5, collection: \"c\" }");
  EXPECT_EQ(ShapeOf("{'createUser': 'ann', 'pwd': 'secret'}"), "{ createUser: \"ann\", pwd: ? }");
}

TEST(CommandShapeTest, LeavesOutWhatAnyCommandMayCarry) {
  EXPECT_EQ(ShapeOf("{'ping': 1, 'lsid': {'id': 1}, '$db': 'x', 'comment': 'secret', 'maxTimeMS': 5}"), "{ ping: 1 }");
}

TEST(CommandShapeTest, IsBounded) {
  EXPECT_EQ(ShapeOf("{'find': 'c', 'filter': {'a': {'$in': [1, 2, 3, 4]}}}"),
            "{ find: \"c\", filter: { a: { $in: [?, ?, ?, …] } } }");
  std::string fields;
  for (int i = 0; i < 1000; ++i) fields += StrCat(i > 0 ? "," : "", "'f", i, "': ", i);
  const std::string shape = ShapeOf(StrCat("{'find': 'c', 'filter': {", fields, "}}"), 200);
  EXPECT_LT(shape.size(), 400u);
  EXPECT_TRUE(shape.ends_with("… }"));
}

}  // namespace
}  // namespace braid::commands
