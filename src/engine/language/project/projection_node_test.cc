// The paths of projections, and the index over the names of a node's children.
#include "engine/language/project/projection_node.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/language/project/field_index.h"

namespace braid::query {
namespace {

int CodeOfPath(std::string_view path) { return static_cast<int>(CheckProjectionPath(path).code()); }

TEST(ProjectionPathTest, Codes) {
  for (const char* good : {"a", "a.b", "a.0.b", "_id", "a b", "a$", "a.b$", "$id", "ref.$id", "ref.$ref", "ref.$db"}) {
    EXPECT_EQ(CodeOfPath(good), 0) << good;
  }
  EXPECT_EQ(CodeOfPath(""), 40352);
  EXPECT_EQ(CodeOfPath("a."), 40353);
  EXPECT_EQ(CodeOfPath("."), 40353);
  EXPECT_EQ(CodeOfPath(".a"), 15998);
  EXPECT_EQ(CodeOfPath("a..b"), 15998);
  EXPECT_EQ(CodeOfPath("$a"), 16410);
  EXPECT_EQ(CodeOfPath("a.$b"), 16410);
  EXPECT_EQ(CodeOfPath(std::string("a\0b", 3)), 16411);
}

TEST(ProjectionPathTest, AtMost200Components) {
  std::string path = "a";
  for (int i = 1; i < 200; ++i) path += ".a";
  EXPECT_EQ(CodeOfPath(path), 0);
  EXPECT_EQ(CodeOfPath(path + ".a"), static_cast<int>(Code::kOverflow));
}

TEST(ProjectionPathTest, TakeComponent) {
  std::string_view path = "a.bc";
  EXPECT_EQ(TakeComponent(&path), "a");
  EXPECT_EQ(TakeComponent(&path), "bc");
  EXPECT_TRUE(path.empty());
}

TEST(FieldIndexTest, EmptyFindsNothing) {
  EXPECT_EQ(FieldIndex().Find("a"), -1);
  EXPECT_EQ(FieldIndex(std::vector<std::string_view>{}).Find(""), -1);
}

TEST(FieldIndexTest, FindsEachNameAtItsPosition) {
  for (size_t count : {1, 2, 7, 64, 500}) {
    std::vector<std::string> names;
    for (size_t i = 0; i < count; ++i) names.push_back("f" + std::to_string(i) + "x");  // same ends: they collide often
    const FieldIndex index({names.begin(), names.end()});
    ASSERT_EQ(index.size(), count);
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(index.Find(names[i]), static_cast<int32_t>(i));
    EXPECT_EQ(index.Find("f" + std::to_string(count) + "x"), -1);
    EXPECT_EQ(index.Find(""), -1);
  }
}

}  // namespace
}  // namespace braid::query
