// Two documents are compared by meaning, and what differs is named by its path.
#include "services/schema/differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "client/handles.h"

namespace braid::schema {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "path: expected | found" for each difference.
std::vector<std::string> Differ(std::string_view expected, std::string_view found) {
  const auto left = client::ParseJson(expected);
  const auto right = client::ParseJson(found);
  std::vector<std::string> lines;
  if (!left.ok() || !right.ok()) return {"not JSON"};
  for (const FieldDifference& each : FindDifferences(**left, **right, "")) {
    lines.push_back(StrCat(each.path, ": ", each.expected, " | ", each.found));
  }
  return lines;
}

TEST(DifferencesTest, OrderOfFieldsAndWidthOfNumbersDoNotCount) {
  EXPECT_THAT(
      Differ(R"({"a": 1, "b": {"c": 2, "d": [1, {"x": 1, "y": 2}]}})",
             R"({"b": {"d": [1.0, {"y": {"$numberLong": "2"}, "x": 1}], "c": 2.0}, "a": {"$numberLong": "1"}})"),
      IsEmpty());
}

TEST(DifferencesTest, ListsThatAreSetsHaveNoOrderAndOthersHave) {
  EXPECT_THAT(Differ(R"({"required": ["a", "b"], "enum": [1, 2], "bsonType": ["int", "long"]})",
                     R"({"bsonType": ["long", "int"], "enum": [2, 1], "required": ["b", "a"]})"),
              IsEmpty());
  EXPECT_THAT(Differ(R"({"required": ["a", "b"]})", R"({"required": ["a", "a"]})"),
              ElementsAre(R"(required: [ "a", "b" ] | [ "a", "a" ])"));
  EXPECT_THAT(Differ(R"({"allOf": [1, 2]})", R"({"allOf": [2, 1]})"), ElementsAre("allOf.0: 1 | 2", "allOf.1: 2 | 1"));
  // A property may be called as a keyword is.
  EXPECT_THAT(
      Differ(R"({"properties": {"enum": {"enum": ["x", "y"]}}})", R"({"properties": {"enum": {"enum": ["y"]}}})"),
      ElementsAre(R"(properties.enum.enum: [ "x", "y" ] | [ "y" ])"));
}

TEST(DifferencesTest, NamesThePathOfEveryFieldThatDiffers) {
  EXPECT_THAT(
      Differ(R"({"p": {"qty": {"minimum": 0, "bsonType": "int"}, "name": {"minLength": 1}}})",
             R"({"p": {"qty": {"minimum": 1, "bsonType": "int"}, "note": {}}, "q": true})"),
      ElementsAre("p.qty.minimum: 0 | 1", R"(p.name: { "minLength" : 1 } | )", "p.note:  | {  }", "q:  | true"));
}

TEST(DifferencesTest, TypesThatAreNotTheSameNumberDiffer) {
  EXPECT_THAT(Differ(R"({"a": 1})", R"({"a": "1"})"), ElementsAre(R"(a: 1 | "1")"));
  EXPECT_THAT(Differ(R"({"a": {"b": 1}})", R"({"a": [1]})"), ElementsAre(R"(a: { "b" : 1 } | [ 1 ])"));
  EXPECT_THAT(Differ(R"({"a": 9007199254740993})", R"({"a": 9007199254740992})"),
              ElementsAre("a: 9007199254740993 | 9007199254740992"));
  EXPECT_THAT(Differ(R"({"a.b": 1})", R"({"a": {"b": 1}})"), ElementsAre("a.b: 1 | ", R"(a:  | { "b" : 1 })"));
}

TEST(DifferencesTest, KeysHaveAnOrder) {
  const auto same = [](std::string_view a, std::string_view b) {
    return SameKeys(**client::ParseJson(a), **client::ParseJson(b));
  };
  EXPECT_TRUE(same(R"({"a": 1, "b": -1})", R"({"a": 1.0, "b": {"$numberLong": "-1"}})"));
  EXPECT_FALSE(same(R"({"a": 1, "b": 1})", R"({"b": 1, "a": 1})"));
  EXPECT_FALSE(same(R"({"a": 1})", R"({"a": "hashed"})"));
  EXPECT_FALSE(same(R"({"a": 1})", R"({"a": 1, "b": 1})"));
}

}  // namespace
}  // namespace braid::schema
