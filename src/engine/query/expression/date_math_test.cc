// Dates plus amounts, differences and truncation.
#include "base/testing/testing.h"
#include "engine/query/expression/cases.h"

namespace braid::query::test {

Cases DateMathCases() {
  static constexpr Case kCases[] = {
      {"{'$dateAdd': {'startDate': '$d', 'unit': 'month', 'amount': 1}}", "{'d': {'$date': '2021-01-31T12:00:00Z'}}",
       "{'$date': '2021-02-28T12:00:00Z'}"},
      {"{'$dateAdd': {'startDate': '$d', 'unit': 'day', 'amount': 1, 'timezone': 'Europe/Berlin'}}",
       "{'d': {'$date': '2021-03-27T12:00:00Z'}}", "{'$date': '2021-03-28T11:00:00Z'}"},
      {"{'$dateAdd': {'startDate': '$d', 'unit': 'hour', 'amount': 24, 'timezone': 'Europe/Berlin'}}",
       "{'d': {'$date': '2021-03-27T12:00:00Z'}}", "{'$date': '2021-03-28T12:00:00Z'}"},
      {"{'$dateSubtract': {'startDate': '$d', 'unit': 'quarter', 'amount': 1}}",
       "{'d': {'$date': '2021-02-03T00:00:00Z'}}", "{'$date': '2020-11-03T00:00:00Z'}"},
      {"{'$dateAdd': {'startDate': '$d', 'unit': 'month', 'amount': '$n'}}", "{'d': {'$date': 0}}", "null"},
      {"{'$dateAdd': {'startDate': '$d', 'unit': 'month', 'amount': 1.5}}", "{'d': {'$date': 0}}", "error 5166405"},
      {"{'$dateAdd': {'startDate': '$d', 'unit': 1, 'amount': 1}}", "{'d': {'$date': 0}}", "error 5166404"},
      {"{'$dateAdd': {'startDate': '$d', 'unit': 'eon', 'amount': 1}}", "{'d': {'$date': 0}}", "error 9"},
      {"{'$dateAdd': {'startDate': 1, 'unit': '$u', 'amount': 1}}", "{'u': 'day'}", "error 5166403"},
      {"{'$dateAdd': {'startDate': '$d', 'unit': 'year', 'amount': {'$literal': {'$numberLong': "
       "'9223372036854775807'}}}}",
       "{'d': {'$date': 0}}", "error 5166406"},
      {"{'$dateAdd': {'unit': 'day', 'amount': 1}}", "{}", "error 5166402"},
      {"{'$dateDiff': {'startDate': '$d', 'endDate': {'$date': '2021-01-01T00:00:00Z'}, 'unit': 'year'}}",
       "{'d': {'$date': '2020-12-31T23:59:59Z'}}", "{'$numberLong': '1'}"},
      {"{'$dateDiff': {'startDate': '$d', 'endDate': {'$date': '2021-02-08T00:00:00Z'}, 'unit': 'week'}}",
       "{'d': {'$date': '2021-02-06T00:00:00Z'}}", "{'$numberLong': '1'}"},
      {"{'$dateDiff': {'startDate': '$d', 'endDate': {'$date': '2021-02-08T00:00:00Z'}, 'unit': 'week', 'startOfWeek': "
       "'Tue'}}",
       "{'d': {'$date': '2021-02-06T00:00:00Z'}}", "{'$numberLong': '0'}"},
      {"{'$dateDiff': {'startDate': '$d', 'endDate': {'$date': 0}, 'unit': 'hour', 'timezone': '+00:30'}}",
       "{'d': {'$date': -1800001}}", "{'$numberLong': '1'}"},
      {"{'$dateDiff': {'startDate': '$d', 'endDate': {'$date': 0}, 'unit': 'second'}}", "{'d': {'$date': -1500}}",
       "{'$numberLong': '2'}"},
      {"{'$dateDiff': {'startDate': '$d', 'endDate': 1, 'unit': 'day'}}", "{'d': {'$date': 0}}", "error 5166307"},
      {"{'$dateDiff': {'startDate': '$d', 'endDate': '$d', 'unit': 'x'}}", "{'d': {'$date': 0}}", "error 9"},
      {"{'$dateDiff': {'startDate': '$d', 'endDate': '$d', 'unit': 'week', 'startOfWeek': 'x'}}", "{'d': {'$date': 0}}",
       "error 9"},
      {"{'$dateDiff': {'startDate': '$d', 'endDate': '$d'}}", "{}", "error 5166305"},
      {"{'$dateTrunc': {'date': '$d', 'unit': 'month'}}", "{'d': {'$date': '2021-02-03T04:05:06Z'}}",
       "{'$date': '2021-02-01T00:00:00Z'}"},
      {"{'$dateTrunc': {'date': '$d', 'unit': 'hour', 'binSize': 2}}", "{'d': {'$date': '2021-02-03T05:05:06Z'}}",
       "{'$date': '2021-02-03T04:00:00Z'}"},
      {"{'$dateTrunc': {'date': '$d', 'unit': 'week', 'startOfWeek': 'monday'}}",
       "{'d': {'$date': '2021-02-03T05:05:06Z'}}", "{'$date': '2021-02-01T00:00:00Z'}"},
      {"{'$dateTrunc': {'date': '$d', 'unit': 'day', 'timezone': 'America/New_York'}}",
       "{'d': {'$date': '2021-02-03T04:05:06Z'}}", "{'$date': '2021-02-02T05:00:00Z'}"},
      {"{'$dateTrunc': {'date': '$d', 'unit': 'day', 'binSize': 0}}", "{'d': {'$date': 0}}", "error 5439018"},
      {"{'$dateTrunc': {'date': '$d', 'unit': 'day', 'binSize': 1.5}}", "{'d': {'$date': 0}}", "error 5439017"},
      {"{'$dateTrunc': {'date': '$d', 'unit': 1}}", "{'d': {'$date': 0}}", "error 5439013"},
      {"{'$dateTrunc': {'date': 1, 'unit': '$u'}}", "{'u': 'day'}", "error 5439012"},
      {"{'$dateTrunc': {'date': '$d'}}", "{}", "error 5439010"},
  };
  return kCases;
}

TEST(DateMathTest, Table) { Check(DateMathCases()); }

}  // namespace braid::query::test
