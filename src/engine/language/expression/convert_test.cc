// Conversions and questions about types.
#include "base/testing/testing.h"
#include "engine/language/expression/cases.h"

namespace braid::query::test {

Cases ConvertCases() {
  static constexpr Case kCases[] = {
      {"{'$convert': {'input': '$a', 'to': 'int'}}", "{'a': '12'}", "12"},
      {"{'$convert': {'input': '$a', 'to': 16}}", "{'a': 2.9}", "2"},
      {"{'$convert': {'input': '$a', 'to': 'int', 'onError': {'$concat': ['$a', '?']}}}", "{'a': '1.5'}", "'1.5?'"},
      {"{'$convert': {'input': '$b', 'to': 'int', 'onNull': 7}}", "{}", "7"},
      {"{'$convert': {'input': '$a', 'to': null}}", "{'a': 1}", "null"},
      {"{'$convert': {'input': '$a', 'to': 'object'}}", "{'a': 1}", "error 241"},
      {"{'$convert': {'input': '$a', 'to': 'nope'}}", "{'a': 1}", "error 2"},
      {"{'$convert': {'input': '$a', 'to': 99}}", "{'a': 1}", "error 9"},
      {"{'$convert': {'input': '$a'}}", "{}", "error 9"},
      {"{'$toInt': '$a'}", "{'a': {'$numberLong': '4294967296'}}", "error 241"},
      {"{'$toInt': '$a'}", "{'a': {'$numberDecimal': '-7.9'}}", "-7"},
      {"{'$toInt': '$a'}", "{'a': ' 1'}", "error 241"},
      {"{'$toLong': '$a'}", "{'a': {'$date': 5}}", "{'$numberLong': '5'}"},
      {"{'$toLong': '$a'}", "{'a': {'$numberDouble': 'NaN'}}", "error 241"},
      {"{'$toDouble': '$a'}", "{'a': '1e3'}", "1000.0"},
      {"{'$toDouble': '$a'}", "{'a': true}", "1.0"},
      {"{'$toDecimal': '$a'}", "{'a': '1.50'}", "{'$numberDecimal': '1.50'}"},
      {"{'$toDecimal': '$a'}", "{'a': 'x'}", "error 241"},
      {"{'$toBool': '$a'}", "{'a': 0.0}", "false"},
      {"{'$toBool': '$a'}", "{'a': ''}", "true"},
      {"{'$toBool': '$a'}", "{}", "null"},
      {"{'$toDate': '$a'}", "{'a': '2021-02-03T04:05:06.789Z'}", "{'$date': 1612325106789}"},
      {"{'$toDate': '$a'}", "{'a': 1}", "error 241"},
      {"{'$toDate': '$a'}", "{'a': {'$numberLong': '5'}}", "{'$date': 5}"},
      {"{'$toObjectId': '$a'}", "{'a': '507f1f77bcf86cd799439011'}", "{'$oid': '507f1f77bcf86cd799439011'}"},
      {"{'$toObjectId': '$a'}", "{'a': '507f1f77bcf86cd79943901'}", "error 241"},
      {"{'$toString': '$a'}", "{'a': 0.30000000000000004}", "'0.30000000000000004'"},
      {"{'$toString': '$a'}", "{'a': 1e21}", "'1e+21'"},
      {"{'$toString': '$a'}", "{'a': {'$date': 0}}", "'1970-01-01T00:00:00.000Z'"},
      {"{'$toString': '$a'}", "{'a': [1]}", "error 241"},
      {"{'$type': '$a'}", "{'a': 1.5}", "'double'"},
      {"{'$type': '$b'}", "{}", "'missing'"},
      {"{'$isNumber': '$a'}", "{'a': {'$numberDecimal': '1'}}", "true"},
      {"{'$isNumber': '$a'}", "{'a': 'x'}", "false"},
      {"{'$bsonSize': '$a'}", "{'a': {}}", "5"},
      {"{'$bsonSize': '$a'}", "{'a': 1}", "error 31393"},
      {"{'$binarySize': '$a'}", "{'a': {'$binary': {'base64': 'YWI=', 'subType': '00'}}}", "2"},
      {"{'$binarySize': '$a'}", "{'a': 1}", "error 51276"},
      {"{'$tsSecond': '$a'}", "{'a': {'$timestamp': {'t': 5, 'i': 1}}}", "{'$numberLong': '5'}"},
      {"{'$tsIncrement': '$a'}", "{'a': {'$timestamp': {'t': 5, 'i': 1}}}", "{'$numberLong': '1'}"},
      {"{'$tsSecond': '$a'}", "{'a': 1}", "error 5687301"},
      {"{'$tsIncrement': '$a'}", "{'a': 1}", "error 5687302"},
      {"{'$toHashedIndexKey': '$a'}", "{'a': 'abc'}", "{'$numberLong': '8478485326885698097'}"},
  };
  return kCases;
}

TEST(ConvertTest, Table) { Check(ConvertCases()); }

}  // namespace braid::query::test
