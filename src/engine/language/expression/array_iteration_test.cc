// $map, $filter, $reduce and the scope of their variables.
#include "base/testing/testing.h"
#include "engine/language/expression/cases.h"

namespace braid::query::test {

Cases IterationCases() {
  static constexpr Case kCases[] = {
      {"{'$map': {'input': '$a', 'as': 'x', 'in': {'$add': ['$$x', '$b']}}}", "{'a': [1, 2], 'b': 10}", "[11, 12]"},
      {"{'$map': {'input': '$a', 'in': '$$this.b'}}", "{'a': [{'b': 1}, 2]}", "[1, null]"},
      {"{'$map': {'input': '$a', 'as': 'x', 'in': {'$map': {'input': '$$x', 'as': 'y', 'in': ['$$x', '$$y']}}}}",
       "{'a': [[1], [2]]}", "[[[[1], 1]], [[[2], 2]]]"},
      {"{'$map': {'input': '$a', 'in': 1}}", "{'a': null}", "null"},
      {"{'$map': {'input': '$a', 'in': 1}}", "{'a': 1}", "error 16883"},
      {"{'$map': {'input': '$a'}}", "{}", "error 16882"},
      {"{'$map': {'in': 1}}", "{}", "error 16880"},
      {"{'$map': {'input': [], 'in': 1, 'x': 1}}", "{}", "error 16879"},
      {"{'$map': 1}", "{}", "error 16878"},
      {"{'$map': {'input': '$a', 'as': 'X', 'in': 1}}", "{}", "error 9"},
      {"{'$map': {'input': '$a', 'as': 'x', 'in': '$$this'}}", "{}", "error 17276"},
      {"{'$filter': {'input': '$a', 'as': 'x', 'cond': {'$gt': ['$$x', 1]}}}", "{'a': [1, 2, 3]}", "[2, 3]"},
      {"{'$filter': {'input': '$a', 'cond': true, 'limit': 2}}", "{'a': [1, 2, 3]}", "[1, 2]"},
      {"{'$filter': {'input': '$a', 'cond': true, 'limit': 0}}", "{'a': [1]}", "error 327392"},
      {"{'$filter': {'input': '$a', 'cond': true, 'limit': 'x'}}", "{'a': [1]}", "error 327391"},
      {"{'$filter': {'input': '$a', 'cond': true}}", "{'a': 1}", "error 28651"},
      {"{'$filter': {'input': '$a'}}", "{}", "error 28650"},
      {"{'$filter': {'cond': 1}}", "{}", "error 28648"},
      {"{'$filter': {'nope': 1}}", "{}", "error 28647"},
      {"{'$filter': 1}", "{}", "error 28646"},
      // Appending in place must not show: $$value is read while it grows, is its own tail, or is left aside.
      {"{'$reduce': {'input': '$a', 'initialValue': [], 'in': {'$concatArrays': ['$$value', ['$$this']]}}}",
       "{'a': [1, 2, 3]}", "[1, 2, 3]"},
      {"{'$reduce': {'input': '$a', 'initialValue': [0], 'in': {'$concatArrays': ['$$value', '$$value']}}}",
       "{'a': [1, 2]}", "[0, 0, 0, 0]"},
      {"{'$reduce': {'input': '$a', 'initialValue': [], 'in': {'$concatArrays': ['$$value', [{'$size': '$$value'}], "
       "{'$slice': ['$$value', -1]}]}}}",
       "{'a': [1, 2, 3]}", "[0, 1, 0, 3, 0]"},
      {"{'$reduce': {'input': '$a', 'initialValue': [7], 'in': {'$cond': [{'$gt': ['$$this', 1]}, {'$concatArrays': "
       "['$$value', ['$$this']]}, '$$value']}}}",
       "{'a': [1, 2, 1, 3]}", "[7, 2, 3]"},
      {"{'$reduce': {'input': '$a', 'initialValue': [[1], [2]], 'in': {'$concatArrays': [{'$arrayElemAt': ['$$value', "
       "0]}, ['$$this']]}}}",
       "{'a': [[8], [9]]}", "error 28664"},
      {"{'$reduce': {'input': '$a', 'initialValue': [], 'in': {'$concatArrays': ['$$value', '$$this']}}}",
       "{'a': [[1], null, [2]]}", "null"},
      {"{'$reduce': {'input': '$a', 'initialValue': [], 'in': {'$concatArrays': ['$$value', '$$this']}}}",
       "{'a': [[1], 2]}", "error 28664"},
      {"{'$reduce': {'input': '$a', 'initialValue': '$b', 'in': {'$let': {'vars': {'x': '$$this'}, 'in': "
       "{'$concat': ['$$value', '$$x', '$b']}}}}}",
       "{'a': ['1', '2'], 'b': '-'}", "'-1-2-'"},
      {"{'$reduce': {'input': '$a', 'initialValue': '', 'in': {'$concat': ['$$value', '$$this']}}}", "{'a': ['1', 2]}",
       "error 16702"},
      {"{'$reduce': {'input': '$a', 'initialValue': [], 'in': {'$concatArrays': ['$$value', {'$reduce': {'input': "
       "'$$this', 'initialValue': '$$value', 'in': {'$concatArrays': ['$$value', ['$$this']]}}}]}}}",
       "{'a': [[1], [2]]}", "[1, 1, 2]"},
      {"{'$reduce': {'input': '$a', 'initialValue': 1, 'in': {'$multiply': ['$$value', '$$this']}}}", "{'a': [2, 3]}",
       "6"},
      {"{'$reduce': {'input': '$a', 'initialValue': [], 'in': {'$concatArrays': ['$$value', {'$map': {'input': "
       "'$$this', 'in': {'$add': ['$$this', 1]}}}]}}}",
       "{'a': [[1, 2], [3]]}", "[2, 3, 4]"},
      {"{'$reduce': {'input': '$a', 'initialValue': 0, 'in': 1}}", "{'a': 1}", "error 40080"},
      {"{'$reduce': {'input': '$a', 'initialValue': 0}}", "{}", "error 40079"},
      {"{'$reduce': {'input': '$a', 'in': 0}}", "{}", "error 40078"},
      {"{'$reduce': {'initialValue': 0, 'in': 0}}", "{}", "error 40077"},
      {"{'$reduce': {'nope': 0}}", "{}", "error 40076"},
      {"{'$reduce': 0}", "{}", "error 40075"},
  };
  return kCases;
}

TEST(ArrayIterationTest, Table) { Check(IterationCases()); }

}  // namespace braid::query::test
