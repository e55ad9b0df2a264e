// Which projections are refused, and with which code.
#include "engine/language/project/testing.h"

namespace braid::query {
namespace {

using test::CodeOf;
using Use = Projection::Use;

struct ParseCase {
  const char* specification;
  int code;  // 0: accepted
};

TEST(ParseProjectionTest, FindAndProjectAlike) {
  const ParseCase cases[] = {
      {"{'a': 1}", 0},
      {"{'a': 1, '_id': 0}", 0},
      {"{'a': 0, '_id': 1}", 0},
      {"{'_id': 0}", 0},
      {"{'_id': 1}", 0},
      {"{'a': {'b': 1}, 'a.c': 1}", 0},
      {"{'a': {'b.c': 1}}", 0},
      {"{'a': 'x', 'b': null, 'c': [1, '$d']}", 0},
      {"{'a': '$b', 'c': 1}", 0},
      {"{'a': '$$REMOVE'}", 0},
      {"{'_id': 0, 'a': {'$add': [1, 2]}}", 0},
      {"{'ref.$id': 1}", 0},
      // mixing
      {"{'a': 1, 'b': 0}", 31254},
      {"{'a': 0, 'b': 1}", 31253},
      {"{'a': 0, 'b': {'c': true}}", 31253},
      {"{'a': {'b': 1, 'c': 0}}", 31254},
      {"{'a': 1, '_id.x': 0}", 31254},
      {"{'a': {'_id': 0}, 'b': 1}", 31253},
      {"{'a': 0, 'b': 'x'}", 31310},
      {"{'a': 0, 'b': '$c'}", 31310},
      {"{'a': 0, 'b': {'$add': [1, 2]}}", 31252},
      {"{'b': {'$add': [1, 2]}, 'a': 0}", 31254},
      {"{'b': 'x', 'a': 0}", 31254},
      // collisions
      {"{'a': 1, 'a': 1}", 31250},
      {"{'a.b': 1, 'a': 1}", 31250},
      {"{'a': 1, 'a.b': 1}", 31249},
      {"{'a': 1, 'a.b.c': 1}", 31249},
      {"{'a': 0, 'a.b': 0}", 31249},
      {"{'a': {'b': 1}, 'a.b': 1}", 31250},
      {"{'a': {'b': 1}, 'a.b.c': 1}", 31249},
      {"{'a': 1, 'a': {'b': 1}}", 31250},
      {"{'a': 1, 'a': 0}", 31250},
      {"{'_id': 1, '_id': 0}", 31250},
      {"{'a.b': 1, 'a': {'$add': [1, 2]}}", 31250},
      {"{'a': 1, 'a.b': 'x'}", 31249},
      // paths
      {"{'': 1}", 40352},
      {"{'a.': 1}", 40353},
      {"{'.a': 1}", 15998},
      {"{'a..b': 0}", 15998},
      {"{'$a': 1}", 16410},
      {"{'a.$b': 1}", 16410},
      {"{'a': {'': 1}}", 40352},
      {"{'$a': {'b': 1}}", 16410},
      {"{'$a': 'x'}", 16410},
      // sub-objects and expressions
      {"{'a': {}}", 51270},
      {"{'a': {'b': {}}}", 51270},
      {"{'a': {'$nonsense': 1}}", 31325},
      {"{'a': {'$': 1}}", 31325},
      {"{'a': {'$add': [1], 'b': 1}}", 16410},
      {"{'a': {'b': 1, '$c': 1}}", 16410},
      {"{'a': '$$nobody'}", 17276},
      // in the middle of a path there never was a positional operator in aggregations, and no longer is one in find
      {"{'a.$.b': 1}", 31394},
  };
  for (const ParseCase& c : cases) {
    EXPECT_EQ(CodeOf(c.specification, Use::kFind), c.code) << c.specification;
    EXPECT_EQ(CodeOf(c.specification, Use::kProject), c.code) << c.specification;
  }
}

TEST(ParseProjectionTest, FindOnly) {
  const Filter everything;
  const ParseCase cases[] = {
      {"{}", 0},
      {"{'a': {'$slice': 1}}", 0},
      {"{'a': {'$slice': [1, 2]}, 'b': 0}", 0},
      {"{'a': {'b': {'$slice': 1}}, 'c': 1}", 0},
      {"{'a': {'$slice': ['$b', 1]}}", 0},  // the expression
      {"{'a': {'$slice': 'x'}}", 28667},
      {"{'a': {'$slice': [1]}}", 28667},
      {"{'a': {'$slice': [1, 2, 3, 4]}}", 28667},
      {"{'a': {'$slice': [1, 0]}}", 28724},
      {"{'a.b': 1, 'a': {'$slice': 1}}", 28667},  // collides as find's, is no expression either
      {"{'a.b': 1, 'a': {'$slice': [1, 2]}}", 31250},
      {"{'a.b': 0, 'a': {'$slice': 1}}", 31252},
      {"{'a': {'$slice': 1}, 'a.b': 1}", 31249},
      {"{'a': {'$elemMatch': {'b': 1}}}", 0},
      {"{'a': {'$elemMatch': {'b': 1}}, 'c': 0}", 0},
      {"{'a': {'$elemMatch': 1}}", 31274},
      {"{'a': {'$elemMatch': [1]}}", 31274},
      {"{'a.b': {'$elemMatch': {'c': 1}}}", 31275},
      {"{'a': {'b': {'$elemMatch': {'c': 1}}}}", 31275},
      {"{'a': {'$elemMatch': {'b': {'$nonsense': 1}}}}", 2},
      {"{'a.b': 1, 'a': {'$elemMatch': {'b': 1}}}", 31250},
      {"{'a.$': 1}", 0},
      {"{'a': {'b.$': 1}}", 0},
      {"{'a.$': 1, 'b': {'$slice': 1}}", 0},
      {"{'a.$': 1, 'b.$': 1}", 31276},
      {"{'a': {'$elemMatch': {'b': 1}}, 'c.$': 1}", 31256},
      {"{'c.$': 1, 'a': {'$elemMatch': {'b': 1}}}", 31255},
      {"{'.$': 1}", 5392900},
      {"{'a..$': 1}", 40353},
      {"{'a': 1, 'a.$': 1}", 31250},
      {"{'a.$': 1, 'a.b': 1}", 31249},
      {"{'a.$': 0}", 31395},
      {"{'a.$': 'x'}", 31308},
      {"{'a.$': {'$add': [1, 2]}}", 31271},
      {"{'a.$': {'b': 1}}", 31271},
      {"{'b': 0, 'a.$': 1}", 31253},
      {"{'a.$.$': 1}", 31394},
  };
  for (const ParseCase& c : cases)
    EXPECT_EQ(CodeOf(c.specification, Use::kFind, &everything), c.code) << c.specification;
  EXPECT_EQ(CodeOf("{'a.$': 1}", Use::kFind), 51050);  // no filter to refer to
}

TEST(ParseProjectionTest, ProjectHasNoFindOperators) {
  const ParseCase cases[] = {
      {"{}", 51272},
      {"{'a.$': 1}", 31324},
      {"{'a': {'$elemMatch': {'b': 1}}}", 168},
      {"{'a': {'$slice': 1}}", 28667},
      {"{'a': {'$slice': ['$a', 1]}}", 0},
  };
  for (const ParseCase& c : cases) EXPECT_EQ(CodeOf(c.specification, Use::kProject), c.code) << c.specification;
}

TEST(ParseProjectionTest, MetaIsRefusedByName) {
  for (Use use : {Use::kFind, Use::kProject}) {
    const auto projection = test::ParseText("{'score': {'$meta': 'textScore'}}", use);
    ASSERT_FALSE(projection.ok());
    EXPECT_NE(projection.error().message().find("$meta"), std::string_view::npos) << projection.error().ToString();
  }
}

TEST(ParseProjectionTest, NestedPathsAreAtMost200Deep) {
  std::string path = "a";
  for (int i = 1; i < 150; ++i) path += ".a";
  EXPECT_EQ(CodeOf("{'" + path + "': {'b': 1}}", Use::kFind), 0);
  EXPECT_EQ(CodeOf("{'" + path + "': {'" + path + "': 1}}", Use::kFind), static_cast<int>(Code::kOverflow));
}

}  // namespace
}  // namespace braid::query
