#include "engine/language/project/field_index.h"

#include <gtest/gtest.h>

#include <string>

namespace braid::query {
namespace {

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
