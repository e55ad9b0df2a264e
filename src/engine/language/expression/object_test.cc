// $getField, $setField, $unsetField, $mergeObjects and $rand.
#include "base/testing/testing.h"
#include "engine/language/expression/cases.h"

namespace braid::query::test {

Cases ObjectCases() {
  static constexpr Case kCases[] = {
      {"{'$getField': 'a.b'}", "{'a.b': 1}", "1"},
      {"{'$getField': {'field': {'$literal': '$x'}, 'input': '$o'}}", "{'o': {'$x': 2}}", "2"},
      {"{'$getField': {'field': 'x', 'input': '$o'}}", "{'o': 5}", "missing"},
      {"{'$getField': {'field': 'x', 'input': '$o'}}", "{'o': null}", "null"},
      {"{'$getField': {'field': 'x'}}", "{}", "error 3041703"},
      {"{'$getField': {'input': '$o'}}", "{}", "error 3041702"},
      {"{'$getField': {'field': 'x', 'nope': 1}}", "{}", "error 3041701"},
      {"{'$getField': '$a'}", "{}", "error 5654601"},
      {"{'$getField': 5}", "{}", "error 5654602"},
      {"{'$setField': {'field': 'a.b', 'input': '$$ROOT', 'value': '$x'}}", "{'x': 1}", "{'x': 1, 'a.b': 1}"},
      {"{'$setField': {'field': 'x', 'input': '$$ROOT', 'value': '$$REMOVE'}}", "{'x': 1, 'y': 2}", "{'y': 2}"},
      {"{'$setField': {'field': 'x', 'input': '$o', 'value': 1}}", "{'o': 1}", "error 4161105"},
      {"{'$setField': {'field': 'x', 'input': '$o', 'value': 1}}", "{}", "null"},
      {"{'$setField': {'field': '$x', 'input': '$o', 'value': 1}}", "{}", "error 4161106"},
      {"{'$setField': {'field': 1, 'input': '$o', 'value': 1}}", "{}", "error 4161107"},
      {"{'$setField': {'field': 'x', 'input': '$o'}}", "{}", "error 4161103"},
      {"{'$setField': 1}", "{}", "error 4161100"},
      {"{'$unsetField': {'field': 'x', 'input': '$$ROOT'}}", "{'x': 1, 'y': 2}", "{'y': 2}"},
      {"{'$unsetField': {'field': 'x', 'input': '$$ROOT', 'value': 1}}", "{}", "error 4161101"},
      {"{'$mergeObjects': ['$a', {'y': 3, 'z': 4}]}", "{'a': {'x': 1, 'y': 2}}", "{'x': 1, 'y': 3, 'z': 4}"},
      {"{'$mergeObjects': '$a'}", "{'a': [{'x': 1}, null, {'y': 2}]}", "{'x': 1, 'y': 2}"},
      {"{'$mergeObjects': '$a'}", "{}", "{}"},
      {"{'$mergeObjects': ['$a', 1]}", "{}", "error 40400"},
      {"{'$rand': 1}", "{}", "error 3040501"},
      {"{'$lt': [{'$rand': {}}, 1]}", "{}", "true"},
  };
  return kCases;
}

TEST(ObjectTest, Table) { Check(ObjectCases()); }

}  // namespace braid::query::test
