// $add … $trunc, bits and powers; the trigonometric functions, their domains and their decimal forms; accumulators as
// expressions.
#include "base/testing/testing.h"
#include "engine/language/expression/cases.h"

namespace braid::query::test {

Cases ArithmeticCases() {
  static constexpr Case kCases[] = {
      {"{'$abs': '$a'}", "{'a': -3}", "3"},
      {"{'$abs': '$a'}", "{'a': {'$numberInt': '-2147483648'}}", "{'$numberLong': '2147483648'}"},
      {"{'$abs': '$a'}", "{'a': {'$numberLong': '-9223372036854775808'}}", "error 28680"},
      {"{'$abs': '$a'}", "{'a': 'x'}", "error 28765"},
      {"{'$abs': '$a'}", "{}", "null"},
      {"{'$add': ['$a', 1]}", "{'a': 2}", "3"},
      {"{'$add': ['$a', 1]}", "{'a': 2147483647}", "{'$numberLong': '2147483648'}"},
      {"{'$add': ['$a', 1]}", "{'a': {'$numberLong': '9223372036854775807'}}", "9223372036854775808.0"},
      {"{'$add': ['$a', 0.1, 0.2, -0.3]}", "{'a': 0}", "2.7755575615628914e-17"},
      {"{'$add': ['$a', 1.5]}", "{'a': {'$date': 1000}}", "{'$date': 1002}"},
      {"{'$add': ['$a', '$a']}", "{'a': {'$date': 1000}}", "error 16612"},
      {"{'$add': ['$a', 'x']}", "{'a': 1}", "error 16554"},
      {"{'$add': ['$a', null]}", "{'a': 1}", "null"},
      {"{'$add': []}", "{}", "0"},
      {"{'$add': [{'$numberDecimal': '1.10'}, '$a']}", "{'a': 2}", "{'$numberDecimal': '3.10'}"},
      {"{'$subtract': ['$a', 1]}", "{'a': {'$numberInt': '-2147483648'}}", "{'$numberLong': '-2147483649'}"},
      {"{'$subtract': ['$a', '$b']}", "{'a': {'$date': 1000}, 'b': {'$date': 400}}", "{'$numberLong': '600'}"},
      {"{'$subtract': ['$a', 400]}", "{'a': {'$date': 1000}}", "{'$date': 600}"},
      {"{'$subtract': ['$a', 'x']}", "{'a': {'$date': 1000}}", "error 16613"},
      {"{'$subtract': ['$a', 'x']}", "{'a': 1}", "error 16556"},
      {"{'$subtract': [1]}", "{}", "error 16020"},
      {"{'$multiply': ['$a', 2, 1.5]}", "{'a': 3}", "9.0"},
      {"{'$multiply': ['$a', true]}", "{'a': 3}", "error 16555"},
      {"{'$divide': ['$a', 2]}", "{'a': 3}", "1.5"},
      {"{'$divide': ['$a', 0]}", "{'a': 3}", "error 16608"},
      {"{'$divide': [1, 0]}", "{}", "error 16608"},
      {"{'$divide': ['$a', 'x']}", "{'a': 3}", "error 16609"},
      {"{'$mod': ['$a', 3]}", "{'a': -7}", "-1"},
      {"{'$mod': ['$a', 3.0]}", "{'a': 7.5}", "1.5"},
      {"{'$mod': ['$a', -1]}", "{'a': {'$numberLong': '-9223372036854775808'}}", "{'$numberLong': '0'}"},
      {"{'$mod': ['$a', 0]}", "{'a': 1}", "error 16610"},
      {"{'$mod': ['$a', 'x']}", "{'a': 1}", "error 16611"},
      {"{'$ceil': '$a'}", "{'a': 1.2}", "2.0"},
      {"{'$floor': '$a'}", "{'a': {'$numberDecimal': '-1.2'}}", "{'$numberDecimal': '-2'}"},
      {"{'$round': ['$a', 1]}", "{'a': 1.25}", "1.2"},
      {"{'$round': ['$a', -1]}", "{'a': 25}", "20"},
      {"{'$round': '$a'}", "{'a': 2.5}", "2.0"},
      {"{'$round': ['$a', 'x']}", "{'a': 2.5}", "error 16004"},
      {"{'$round': ['$a', 1e300]}", "{'a': 2.5}", "error 31109"},
      {"{'$round': ['x', '$a']}", "{}", "error 51081"},
      {"{'$round': [1, '$a']}", "{}", "null"},
      {"{'$round': ['$a', 0.5]}", "{'a': 2.5}", "error 51082"},
      {"{'$round': ['$a', 101]}", "{'a': 2.5}", "error 51083"},
      {"{'$round': 'x'}", "{}", "error 51081"},
      {"{'$round': [1, 2, 3]}", "{}", "error 28667"},
      {"{'$trunc': ['$a', 1]}", "{'a': {'$numberDecimal': '-1.29'}}", "{'$numberDecimal': '-1.2'}"},
      {"{'$exp': '$a'}", "{'a': 0}", "1.0"},
      {"{'$ln': '$a'}", "{'a': 1}", "0.0"},
      {"{'$ln': '$a'}", "{'a': 0}", "error 28766"},
      {"{'$log10': '$a'}", "{'a': 100}", "2.0"},
      {"{'$log10': '$a'}", "{'a': -1}", "error 28761"},
      {"{'$log': ['$a', 2]}", "{'a': 8}", "3.0"},
      {"{'$log': ['$a', {'$numberDecimal': '10'}]}", "{'a': 100}", "{'$numberDecimal': '2'}"},
      {"{'$log': ['$a', {'$numberDecimal': '2'}]}", "{'a': 8}", "{'$numberDecimal': '3'}"},
      {"{'$log': ['$a', 1]}", "{'a': 8}", "error 28759"},
      {"{'$log': ['$a', 2]}", "{'a': 0}", "error 28758"},
      {"{'$log': ['$a', 'x']}", "{'a': 1}", "error 28757"},
      {"{'$log': ['x', '$a']}", "{'a': 1}", "error 28756"},
      {"{'$pow': ['$a', 10]}", "{'a': 2}", "1024"},
      {"{'$pow': ['$a', 40]}", "{'a': 2}", "{'$numberLong': '1099511627776'}"},
      {"{'$pow': ['$a', 64]}", "{'a': 2}", "18446744073709551616.0"},
      {"{'$pow': ['$a', -1]}", "{'a': 2}", "0.5"},
      {"{'$pow': ['$a', -1]}", "{'a': 0}", "error 28764"},
      {"{'$pow': ['$a', 'x']}", "{'a': 2}", "error 28763"},
      {"{'$pow': ['x', '$a']}", "{'a': 2}", "error 28762"},
      {"{'$sqrt': '$a'}", "{'a': 16}", "4.0"},
      {"{'$sqrt': '$a'}", "{'a': -1}", "error 28714"},
      {"{'$bitAnd': ['$a', 6]}", "{'a': 3}", "2"},
      {"{'$bitOr': ['$a', {'$literal': {'$numberLong': '6'}}]}", "{'a': 3}", "{'$numberLong': '7'}"},
      {"{'$bitXor': ['$a', 6]}", "{'a': 3}", "5"},
      {"{'$bitNot': '$a'}", "{'a': 3}", "-4"},
      {"{'$bitAnd': ['$a', 1.5]}", "{'a': 3}", "error 14"},
      {"{'$bitOr': ['$a', null]}", "{'a': 3}", "null"},
  };
  return kCases;
}

TEST(ArithmeticTest, Table) { Check(ArithmeticCases()); }

Cases TrigonometryCases() {
  static constexpr Case kCases[] = {
      {"{'$sin': '$a'}", "{'a': 0}", "0.0"},
      {"{'$cos': '$a'}", "{'a': 0}", "1.0"},
      {"{'$tan': '$a'}", "{'a': 0.0}", "0.0"},
      {"{'$sin': '$a'}", "{'a': {'$numberDouble': 'Infinity'}}", "error 50989"},
      {"{'$asin': '$a'}", "{'a': 1}", "1.5707963267948966"},
      {"{'$acos': '$a'}", "{'a': 1}", "0.0"},
      {"{'$acos': '$a'}", "{'a': 1.5}", "error 50989"},
      {"{'$atan': '$a'}", "{'a': 1}", "0.7853981633974483"},
      {"{'$atan2': ['$a', 1]}", "{'a': 1}", "0.7853981633974483"},
      {"{'$atan2': ['$a', 'x']}", "{'a': 1}", "error 51045"},
      {"{'$atan2': ['x', '$a']}", "{'a': 1}", "error 51044"},
      {"{'$sinh': '$a'}", "{'a': 0}", "0.0"},
      {"{'$cosh': '$a'}", "{'a': 0}", "1.0"},
      {"{'$tanh': '$a'}", "{'a': 0}", "0.0"},
      {"{'$asinh': '$a'}", "{'a': 0}", "0.0"},
      {"{'$acosh': '$a'}", "{'a': 1}", "0.0"},
      {"{'$acosh': '$a'}", "{'a': 0.5}", "error 50989"},
      {"{'$atanh': '$a'}", "{'a': 0}", "0.0"},
      {"{'$atanh': '$a'}", "{'a': 2}", "error 50989"},
      {"{'$degreesToRadians': '$a'}", "{'a': 180}", "3.141592653589793"},
      {"{'$radiansToDegrees': '$a'}", "{'a': 3.141592653589793}", "180.0"},
      {"{'$cos': '$a'}", "{'a': {'$numberDecimal': 'NaN'}}", "{'$numberDecimal': 'NaN'}"},
      {"{'$cos': '$a'}", "{'a': 'x'}", "error 28765"},
      {"{'$cos': '$a'}", "{'a': null}", "null"},
  };
  return kCases;
}

TEST(TrigonometryTest, Table) { Check(TrigonometryCases()); }

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
