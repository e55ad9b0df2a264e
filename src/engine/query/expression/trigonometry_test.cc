// The trigonometric functions, their domains and their decimal forms.
#include "base/testing/testing.h"
#include "engine/query/expression/cases.h"

namespace braid::query::test {

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

}  // namespace braid::query::test
