// Accumulators as expressions.
#include "base/testing/testing.h"
#include "engine/query/expression/cases.h"

namespace braid::query::test {

Cases StatisticsCases() {
  static constexpr Case kCases[] = {
      {"{'$sum': '$a'}", "{'a': [1, 'x', 2]}", "3"},
      {"{'$sum': ['$a', 4]}", "{'a': [1, 2]}", "4"},
      {"{'$sum': '$a'}", "{'a': [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]}", "1.0"},
      {"{'$sum': '$a'}", "{'a': [1e100, 1.0, -1e100]}", "1.0"},
      {"{'$avg': '$a'}", "{'a': [1, 2]}", "1.5"},
      {"{'$avg': '$a'}", "{'a': []}", "null"},
      {"{'$avg': '$a'}", "{'a': [{'$numberDecimal': '1'}, 2]}", "{'$numberDecimal': '1.5'}"},
      {"{'$min': '$a'}", "{'a': [3, null, 1.5]}", "1.5"},
      {"{'$max': ['$a', '$b']}", "{'a': 3}", "3"},
      {"{'$max': '$a'}", "{}", "null"},
      {"{'$stdDevPop': '$a'}", "{'a': [2, 4, 4, 4, 5, 5, 7, 9]}", "2.0"},
      {"{'$stdDevSamp': '$a'}", "{'a': [1, 3, 5]}", "2.0"},
      {"{'$stdDevSamp': '$a'}", "{'a': [1]}", "null"},
      {"{'$median': {'input': '$a', 'method': 'approximate'}}", "{'a': [3, 1, 2, 9]}", "2.0"},
      {"{'$median': {'input': '$a', 'method': 'exact'}}", "{'a': [1]}", "error 2"},
      {"{'$percentile': {'input': '$a', 'p': [0, 0.5, 1], 'method': 'approximate'}}", "{'a': [3, 1, 2]}",
       "[1.0, 2.0, 3.0]"},
      {"{'$percentile': {'input': '$a', 'p': [2], 'method': 'approximate'}}", "{'a': [3]}", "error 7750303"},
      {"{'$percentile': {'input': '$a', 'p': ['x'], 'method': 'approximate'}}", "{'a': [3]}", "error 7750302"},
      {"{'$percentile': {'input': '$a', 'p': 1, 'method': 'approximate'}}", "{'a': [3]}", "error 7750301"},
      {"{'$percentile': {'input': '$a', 'p': [1]}}", "{'a': [3]}", "error 40414"},
  };
  return kCases;
}

TEST(StatisticsTest, Table) { Check(StatisticsCases()); }

}  // namespace braid::query::test
