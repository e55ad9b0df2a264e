#include "engine/language/match/path.h"

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/json.h"

namespace braid::query {

namespace {

struct WalkCase {
  const char* path;
  const char* document;
  const char* visits;  // value@index, in order
  const char* whole_visits;
};
constexpr WalkCase kWalks[] = {
    {"a", "{'a': 1}", "1@-1 ", "1@-1 "},
    {"a", "{}", "missing@-1 ", "missing@-1 "},
    {"a", "{'a': [1, [2]]}", "1@0 [ 2 ]@1 [ 1, [ 2 ] ]@-1 ", "[ 1, [ 2 ] ]@-1 "},
    {"a", "{'a': []}", "[]@-1 ", "[]@-1 "},
    {"a.b", "{'a': 1}", "missing@-1 ", "missing@-1 "},
    {"a.b", "{'a': [1, 2]}", "", ""},
    {"a.b", "{'a': [{'b': 1}, {}, {'b': [2]}]}", "1@0 missing@1 2@2 [ 2 ]@2 ", "1@0 missing@1 [ 2 ]@2 "},
    {"a.0", "{'a': [7, 8]}", "7@0 ", "7@0 "},
    {"a.0", "{'a': [[7, 8]]}", "[ 7, 8 ]@0 ", "[ 7, 8 ]@0 "},
    {"a.0.1", "{'a': [[7, 8]]}", "8@0 ", "8@0 "},
    {"a.1", "{'a': [{'1': 5}, 6]}", "5@0 6@1 ", "5@0 6@1 "},
};

std::string ShowLeaf(const bson::Value& value) {
  if (value.missing()) return "missing";
  std::string text = bson::ToJson(value);
  return text == "[  ]" || text == "[ ]" ? "[]" : text;
}

std::string Visits(const WalkCase& c, Leaf leaf) {
  std::string visits;
  const bson::Document document = bson::J(c.document);
  WalkPath(FieldPath(c.path), document, leaf, [&](const bson::Value& value, int index) {
    visits += StrCat(ShowLeaf(value), "@", index, " ");
    return false;
  });
  return visits;
}

}  // namespace

TEST(PathTest, Walks) {
  for (const WalkCase& c : kWalks) {
    EXPECT_EQ(Visits(c, Leaf::kElements), c.visits) << c.path << " in " << c.document;
    EXPECT_EQ(Visits(c, Leaf::kWhole), c.whole_visits) << c.path << " in " << c.document;
  }
}

TEST(PathTest, WalkStopsWhenTold) {
  int visits = 0;
  const bson::Document document = bson::J("{'a': [1, 2, 3]}");
  EXPECT_TRUE(
      WalkPath(FieldPath("a"), document, Leaf::kElements, [&](const bson::Value&, int) { return ++visits == 2; }));
  EXPECT_EQ(visits, 2);
}

TEST(PathTest, Lookup) {
  const bson::Document document = bson::J("{'a': {'b': [5, {'c': 6}]}, '': {'': 7}}");
  EXPECT_EQ(Lookup(document, "a.b.0").AsInt32(), 5);
  EXPECT_EQ(Lookup(document, "a.b.1.c").AsInt32(), 6);
  EXPECT_EQ(Lookup(document, ".").AsInt32(), 7);
  EXPECT_TRUE(Lookup(document, "a.b.c").missing());
  EXPECT_TRUE(Lookup(document, "a.b.0.c").missing());
}

TEST(PathTest, Components) {
  EXPECT_TRUE(IsArrayIndex("0"));
  EXPECT_TRUE(IsArrayIndex("10"));
  for (const char* no : {"", "01", "-1", "1a", "a"}) EXPECT_FALSE(IsArrayIndex(no)) << no;
  const FieldPath path("a.10.x");
  ASSERT_EQ(path.size(), 3u);
  EXPECT_EQ(path[1], "10");
  EXPECT_EQ(path.index(1), 10);
  EXPECT_EQ(path.index(2), FieldPath::kNoIndex);
  EXPECT_EQ(FieldPath("").size(), 1u);
}

}  // namespace braid::query
