// Regular expressions.
#include "base/testing/testing.h"
#include "engine/query/expression/cases.h"

namespace braid::query::test {

Cases RegexCases() {
  static constexpr Case kCases[] = {
      {"{'$regexMatch': {'input': '$a', 'regex': 'L+O', 'options': 'i'}}", "{'a': 'hello'}", "true"},
      {"{'$regexMatch': {'input': '$a', 'regex': '^x'}}", "{'a': 'hello'}", "false"},
      {"{'$regexMatch': {'input': '$a', 'regex': '$r'}}",
       "{'a': 'hello', 'r': {'$regularExpression': {'pattern': 'H', 'options': 'i'}}}", "true"},
      {"{'$regexMatch': {'input': '$b', 'regex': 'x'}}", "{}", "false"},
      {"{'$regexFind': {'input': '$a', 'regex': '(l+)(x)?'}}", "{'a': 'éello'}",
       "{'match': 'll', 'idx': 2, 'captures': ['ll', null]}"},
      {"{'$regexFind': {'input': '$a', 'regex': 'x'}}", "{'a': 'hello'}", "null"},
      {"{'$regexFindAll': {'input': '$a', 'regex': 'é|l'}}", "{'a': 'él'}",
       "[{'match': 'é', 'idx': 0, 'captures': []}, {'match': 'l', 'idx': 1, 'captures': []}]"},
      {"{'$regexFindAll': {'input': '$a', 'regex': 'x*'}}", "{'a': 'é'}",
       "[{'match': '', 'idx': 0, 'captures': []}, {'match': '', 'idx': 1, 'captures': []}]"},
      {"{'$regexFindAll': {'input': '$b', 'regex': 'x'}}", "{}", "[]"},
      {"{'$regexMatch': {'input': '$a', 'regex': '('}}", "{'a': 'x'}", "error 51111"},
      {"{'$regexMatch': {'input': '$a', 'regex': 'x', 'options': 'q'}}", "{'a': 'x'}", "error 51108"},
      {"{'$regexMatch': {'input': '$a', 'regex': {'$regularExpression': {'pattern': 'x', 'options': 'i'}}, 'options': "
       "'i'}}",
       "{}", "error 51107"},
      {"{'$regexMatch': {'input': '$a', 'regex': 'x', 'options': 1}}", "{'a': 'x'}", "error 51106"},
      {"{'$regexMatch': {'input': '$a', 'regex': 1}}", "{'a': 'x'}", "error 51105"},
      {"{'$regexMatch': {'input': '$a', 'regex': 'x'}}", "{'a': 1}", "error 51104"},
      {"{'$regexMatch': {'input': '$a', 'nope': 'x'}}", "{}", "error 31024"},
      {"{'$regexMatch': {'input': '$a'}}", "{}", "error 31023"},
      {"{'$regexMatch': {'regex': 'x'}}", "{}", "error 31022"},
      {"{'$regexMatch': 1}", "{}", "error 51103"},
  };
  return kCases;
}

TEST(RegexTest, Table) { Check(RegexCases()); }

}  // namespace braid::query::test
