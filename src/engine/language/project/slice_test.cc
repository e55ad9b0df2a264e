#include "engine/language/project/projection_node.h"

#include <gtest/gtest.h>

#include "base/testing/testing.h"
#include "engine/bson/json.h"

namespace braid::query {
namespace {

struct SliceCase {
  const char* argument;
  const char* expected;  // of [1, 2, 3, 4]
};

TEST(SliceTest, Ranges) {
  const SliceCase cases[] = {
      {"0", "[]"},
      {"2", "[1, 2]"},
      {"9", "[1, 2, 3, 4]"},
      {"-1", "[4]"},
      {"-9", "[1, 2, 3, 4]"},
      {"2.9", "[1, 2]"},
      {"-1.9", "[4]"},
      {"{'$numberDouble': 'NaN'}", "[]"},
      {"{'$numberLong': '9223372036854775807'}", "[1, 2, 3, 4]"},
      {"{'$numberLong': '-9223372036854775808'}", "[1, 2, 3, 4]"},
      {"{'$numberDecimal': '3'}", "[1, 2, 3]"},
      {"[1, 2]", "[2, 3]"},
      {"[4, 1]", "[]"},
      {"[9, 1]", "[]"},
      {"[-2, 1]", "[3]"},
      {"[-2, 9]", "[3, 4]"},
      {"[-9, 2]", "[1, 2]"},
      {"[2147483647, 2147483647]", "[]"},
      {"[0, 2147483647]", "[1, 2, 3, 4]"},
  };
  const bson::Document array = bson::J("{'a': [1, 2, 3, 4]}");
  for (const SliceCase& c : cases) {
    const bson::Document argument = bson::J(std::string("{'n': ") + c.argument + "}");
    const auto range = ParseSlice(argument.Find("n"));
    ASSERT_TRUE(range.ok()) << c.argument;
    bson::Builder out;
    AppendSlice("s", array.Find("a").AsView(), *range, &out);
    EXPECT_EQ(bson::ToJson(out.Finish()), bson::ToJson(bson::J(std::string("{'s': ") + c.expected + "}")))
        << c.argument;
  }
}

TEST(SliceTest, Faults) {
  const std::pair<const char*, int> cases[] = {
      {"'x'", 31273},    {"null", 31273},      {"{'a': 1}", 31273}, {"[]", 31272},
      {"[1]", 31272},    {"[1, 2, 3]", 31272}, {"['x', 2]", 31257}, {"[1, 'x']", 31258},
      {"[1, 0]", 31259}, {"[1, -1]", 31259},   {"[1, 0.5]", 31259},
  };
  for (const auto& [argument, code] : cases) {
    const bson::Document document = bson::J(std::string("{'n': ") + argument + "}");
    EXPECT_EQ(static_cast<int>(ParseSlice(document.Find("n")).status().code()), code) << argument;
  }
}

}  // namespace
}  // namespace braid::query
