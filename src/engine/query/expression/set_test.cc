// Arrays as sets.
#include "base/testing/testing.h"
#include "engine/query/expression/cases.h"

namespace braid::query::test {

Cases SetCases() {
  static constexpr Case kCases[] = {
      {"{'$setUnion': ['$a', [2, 3.0]]}", "{'a': [3, 1, 1]}", "[1, 2, 3]"},
      {"{'$setUnion': ['$a', null]}", "{'a': [1]}", "null"},
      {"{'$setUnion': ['$a', 1]}", "{'a': [1]}", "error 17043"},
      {"{'$setIntersection': ['$a', [2, 1, 5], [1, 2]]}", "{'a': [2, 1, 1, 3]}", "[1, 2]"},
      {"{'$setIntersection': ['$a', 1]}", "{'a': [1]}", "error 17047"},
      {"{'$setDifference': ['$a', [1]]}", "{'a': [3, 1, 2, 3]}", "[3, 2]"},
      {"{'$setDifference': [1, '$a']}", "{'a': [1]}", "error 17048"},
      {"{'$setDifference': ['$a', 1]}", "{'a': [1]}", "error 17049"},
      {"{'$setEquals': ['$a', [2, 1], [1, 1, 2]]}", "{'a': [1, 2, 2]}", "true"},
      {"{'$setEquals': ['$a', [2]]}", "{'a': [1]}", "false"},
      {"{'$setEquals': ['$a', null]}", "{'a': [1]}", "error 17044"},
      {"{'$setEquals': ['$a']}", "{}", "error 17045"},
      {"{'$setIsSubset': ['$a', [1, 2]]}", "{'a': [2, 2]}", "true"},
      {"{'$setIsSubset': ['$a', [1]]}", "{'a': [2]}", "false"},
      {"{'$setIsSubset': ['$a', [1]]}", "{}", "error 17046"},
      {"{'$setIsSubset': [[1], '$a']}", "{}", "error 17042"},
      {"{'$allElementsTrue': ['$a']}", "{'a': [1, 'x']}", "true"},
      {"{'$allElementsTrue': '$a'}", "{'a': [1, 0]}", "false"},
      {"{'$allElementsTrue': '$a'}", "{}", "error 17040"},
      {"{'$anyElementTrue': '$a'}", "{'a': [0, null, 1]}", "true"},
      {"{'$anyElementTrue': '$a'}", "{'a': 1}", "error 17041"},
  };
  return kCases;
}

TEST(SetTest, Table) { Check(SetCases()); }

}  // namespace braid::query::test
