// Strings: bytes and code points, search, replacement, trimming, and regular expressions.
#include "base/testing/testing.h"
#include "engine/language/expression/cases.h"

namespace braid::query::test {

Cases StringCases() {
  static constexpr Case kCases[] = {
      {"{'$concat': ['$a', '-', 'y']}", "{'a': 'x'}", "'x-y'"},
      {"{'$concat': ['$a', null]}", "{'a': 'x'}", "null"},
      {"{'$concat': ['$a', 1]}", "{'a': 'x'}", "error 16702"},
      {"{'$toUpper': '$a'}", "{'a': 'aé'}", "'Aé'"},
      {"{'$toLower': '$a'}", "{'a': 'AbC'}", "'abc'"},
      {"{'$toLower': '$a'}", "{}", "''"},
      {"{'$toLower': '$a'}", "{'a': true}", "error 16007"},
      {"{'$toLower': '$a'}", "{'a': {'$date': 0}}", "'1970-01-01t00:00:00.000z'"},
      {"{'$strcasecmp': ['$a', 'ABD']}", "{'a': 'abc'}", "-1"},
      {"{'$strcasecmp': ['$a', 12]}", "{'a': '12'}", "0"},
      {"{'$strLenBytes': '$a'}", "{'a': 'é'}", "2"},
      {"{'$strLenBytes': '$a'}", "{}", "error 34473"},
      {"{'$strLenCP': '$a'}", "{'a': 'éa'}", "2"},
      {"{'$strLenCP': '$a'}", "{'a': 1}", "error 34471"},
      {"{'$substr': ['$a', 1, -1]}", "{'a': 'abc'}", "'bc'"},
      {"{'$substrBytes': ['$a', 0, 2]}", "{'a': 'éa'}", "'é'"},
      {"{'$substrBytes': ['$a', 0, 1]}", "{'a': 'éa'}", "error 28657"},
      {"{'$substrBytes': ['$a', 1, 1]}", "{'a': 'éa'}", "error 28656"},
      {"{'$substrBytes': ['$a', -1, 1]}", "{'a': 'éa'}", "error 50752"},
      {"{'$substrBytes': ['$a', 'x', 1]}", "{'a': 'éa'}", "error 16034"},
      {"{'$substrBytes': ['$a', 0, 'x']}", "{'a': 'éa'}", "error 16035"},
      {"{'$substrBytes': ['$a', 9, 1]}", "{'a': 'abc'}", "''"},
      {"{'$substrCP': ['$a', 1, 1]}", "{'a': 'éöa'}", "'ö'"},
      {"{'$substrCP': ['$a', 'x', 1]}", "{'a': 'a'}", "error 34450"},
      {"{'$substrCP': ['$a', 0.5, 1]}", "{'a': 'a'}", "error 34451"},
      {"{'$substrCP': ['$a', -1, 1]}", "{'a': 'a'}", "error 34455"},
      {"{'$substrCP': ['$a', 0, 'x']}", "{'a': 'a'}", "error 34452"},
      {"{'$substrCP': ['$a', 0, 0.5]}", "{'a': 'a'}", "error 34453"},
      {"{'$substrCP': ['$a', 0, -1]}", "{'a': 'a'}", "error 34454"},
      {"{'$split': ['$a', ', ']}", "{'a': 'x, y, '}", "['x', 'y', '']"},
      {"{'$split': ['$a', '']}", "{'a': 'x'}", "error 40087"},
      {"{'$split': ['$a', 1]}", "{'a': 'x'}", "error 40086"},
      {"{'$split': [1, '$a']}", "{'a': 'x'}", "error 40085"},
      {"{'$indexOfBytes': ['$a', 'a']}", "{'a': 'éa'}", "2"},
      {"{'$indexOfBytes': ['$a', 'a', 0, 2]}", "{'a': 'éa'}", "-1"},
      {"{'$indexOfBytes': ['$a', 1]}", "{'a': 'x'}", "error 40092"},
      {"{'$indexOfBytes': [1, '$a']}", "{'a': 'x'}", "error 40091"},
      {"{'$indexOfCP': ['$a', 'a', 1]}", "{'a': 'éa'}", "1"},
      {"{'$indexOfCP': ['$a', 'a', 3]}", "{'a': 'éa'}", "-1"},
      {"{'$indexOfCP': ['$a', 1]}", "{'a': 'x'}", "error 40094"},
      {"{'$indexOfCP': [1, '$a']}", "{'a': 'x'}", "error 40093"},
      {"{'$replaceOne': {'input': '$a', 'find': 'l', 'replacement': 'LL'}}", "{'a': 'hello'}", "'heLLlo'"},
      {"{'$replaceAll': {'input': '$a', 'find': 'l', 'replacement': 'LL'}}", "{'a': 'hello'}", "'heLLLLo'"},
      {"{'$replaceAll': {'input': '$a', 'find': '', 'replacement': '-'}}", "{'a': 'éa'}", "'-é-a-'"},
      {"{'$replaceAll': {'input': '$a', 'find': null, 'replacement': '-'}}", "{'a': 'x'}", "null"},
      {"{'$replaceAll': {'input': 1, 'find': '$a', 'replacement': '-'}}", "{}", "error 51746"},
      {"{'$replaceAll': {'input': '$a', 'find': 1, 'replacement': '-'}}", "{'a': 'x'}", "error 51745"},
      {"{'$replaceAll': {'input': '$a', 'find': 'x', 'replacement': 1}}", "{'a': 'x'}", "error 51744"},
      {"{'$replaceOne': {'input': 'x', 'find': 'x'}}", "{}", "error 51747"},
      {"{'$replaceOne': {'input': 'x', 'nope': 'x'}}", "{}", "error 51750"},
      {"{'$replaceOne': 1}", "{}", "error 51751"},
      {"{'$trim': {'input': '$a'}}", "{'a': ' \\t x y\\n '}", "'x y'"},
      {"{'$trim': {'input': '$a', 'chars': 'xé'}}", "{'a': 'éxaxé'}", "'a'"},
      {"{'$ltrim': {'input': '$a'}}", "{'a': ' x '}", "'x '"},
      {"{'$rtrim': {'input': '$a'}}", "{'a': ' x '}", "' x'"},
      {"{'$trim': {'input': '$a', 'chars': 1}}", "{'a': 'x'}", "error 50700"},
      {"{'$trim': {'input': '$a'}}", "{'a': 1}", "error 50699"},
      {"{'$trim': {}}", "{}", "error 50695"},
      {"{'$trim': {'nope': 1}}", "{}", "error 50694"},
      {"{'$trim': 1}", "{}", "error 50696"},
  };
  return kCases;
}

TEST(StringTest, Table) { Check(StringCases()); }

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
