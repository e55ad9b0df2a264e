#include "engine/bson/json.h"

#include "base/testing/testing.h"
#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/testing/random_value.h"

namespace braid::bson {
namespace {

TEST(JsonTest, FromJsonKeepsTheTypesOfNumbers) {
  const Document document =
      J("{'a': 1, 'b': 5000000000, 'c': 1.0, 'd': {'$numberDecimal': '1.50'}, 'e': {'$numberLong': '1'}}");
  EXPECT_TRUE(document.Find("a").Is(Type::kInt32));
  EXPECT_TRUE(document.Find("b").Is(Type::kInt64));
  EXPECT_TRUE(document.Find("c").Is(Type::kDouble));
  EXPECT_TRUE(document.Find("d").Is(Type::kDecimal128));
  EXPECT_TRUE(document.Find("e").Is(Type::kInt64));
}

TEST(JsonTest, FromJsonRefusesNonsense) {
  for (const char* text :
       {"", " ", "{", "{'a'}", "nonsense", "{\"a\": 1} x", "[]", "{\"a\": 1,}", "{\"a\" 1}", "{\"a\": tru}",
        "{\"a\": \"x}", "{\"a\": \"\\q\"}", "{\"a\": \"\\ud800\"}", "{\"a\": [1 2]}", "{\"a\": 1-2}",
        "{\"a\": \"\xff\"}", "{\"a\\u0000\": 1}", "{\"a\": -}", "{\"$oid\": \"507f1f77bcf86cd799439011\"}"}) {
    EXPECT_EQ(FromJson(text).status().code(), Code::kFailedToParse) << text;
  }
}

TEST(JsonTest, FromJsonLeavesOperatorsAlone) {
  for (const char* text : {R"({ "a" : { "$type" : "decimal" } })", R"({ "a" : { "$type" : [ "int", "string" ] } })",
                           R"({ "a" : { "$regex" : "^a", "$options" : "i" } })",
                           R"({ "a" : { "$gt" : 1, "$lt" : 2 } })", R"({ "a" : { "$ref" : "c", "$id" : 1 } })"}) {
    EXPECT_EQ(ToJson(*FromJson(text)), text);
  }
}

TEST(JsonTest, FromJsonReadsStrings) {
  EXPECT_EQ(J(R"({"a": "\u00e9\ud83d\ude00\n\"\/\u0000"})").Find("a").AsString(), std::string_view("é😀\n\"/\0", 10));
}

TEST(JsonTest, FromJsonReadsBothVersionsOfTypedValues) {
  const auto same = [](const char* a, const char* b) { EXPECT_EQ(ToShell(J(a)), ToShell(J(b))); };
  same("{'a': {'$binary': 'YWJj', '$type': '00'}}", "{'a': {'$binary': {'base64': 'YWJj', 'subType': '00'}}}");
  same("{'a': {'$type': '00', '$binary': 'YWJj'}}", "{'a': {'$binary': {'base64': 'YWJj', 'subType': '0'}}}");
  same("{'a': {'$uuid': '00010203-0405-0607-0809-0a0b0c0d0e0f'}}",
       "{'a': {'$binary': {'base64': 'AAECAwQFBgcICQoLDA0ODw==', 'subType': '04'}}}");
  same("{'a': {'$date': '1970-01-01T00:00:01.5Z'}}", "{'a': {'$date': {'$numberLong': '1500'}}}");
  same("{'a': {'$date': '2021-02-03T05:05:06.789+01:00'}}", "{'a': {'$date': 1612325106789}}");
  same("{'a': {'$date': '1969-12-31T23:59:59Z'}}", "{'a': {'$date': -1000}}");
  same("{'a': {'$numberDouble': '1e3'}, 'b': 1e3}", "{'a': 1000.0, 'b': 1000.0}");
}

TEST(JsonTest, FromJsonRefusesTypedValuesThatDoNotFit) {
  for (const char* text :
       {R"({"a": {"$oid": "xyz"}})", R"({"a": {"$oid": 1}})", R"({"a": {"$oid": "507f1f77bcf86cd799439011", "b": 1}})",
        R"({"a": {"$numberInt": "5000000000"}})", R"({"a": {"$numberLong": "1.5"}})",
        R"({"a": {"$numberDecimal": "x"}})", R"({"a": {"$numberDouble": ""}})", R"({"a": {"$date": "yesterday"}})",
        R"({"a": {"$date": "2021-02-30T00:00:00Z"}})", R"({"a": {"$binary": {"base64": "YW=j", "subType": "00"}}})",
        R"({"a": {"$binary": {"base64": "YWJ", "subType": "00"}}})", R"({"a": {"$timestamp": {"t": -1, "i": 0}}})",
        R"({"a": {"$uuid": "x"}})", R"({"a": {"$scope": {}}})"}) {
    EXPECT_EQ(FromJson(text).status().code(), Code::kFailedToParse) << text;
  }
  EXPECT_EQ(FromJson(std::string(100'000, '[')).status().code(), Code::kFailedToParse);
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"a\":";
  EXPECT_EQ(FromJson(deep).status().code(), Code::kFailedToParse);
}

// Any value, printed by libbson and read by us, is the same value.
TEST(JsonTest, CanonicalFormOfAnyValueReadsBack) {
  Random random(test::Seed());
  RandomValue make(random, RandomValue::Decimals::kCanonical);
  for (int i = 0; i < 3000; ++i) {
    const Document document = Make("v", make.Any());
    const std::string text = ToJson(document, JsonForm::kCanonical);
    if (text == ToShell(document)) continue;  // no UTF-8
    const Result<Document> back = FromJson(text);
    ASSERT_OK(back);
    ASSERT_EQ(Compare(document, *back), 0) << text;
    ASSERT_EQ(ToJson(*back, JsonForm::kCanonical), text);
  }
}

TEST(JsonTest, ToJsonGoesThereAndBack) {
  const Document document =
      J("{'a': [1, 'x', null], 'o': {'$oid': '507f1f77bcf86cd799439011'}, 't': {'$timestamp': {'t': 5, 'i': 1}}}");
  ASSERT_OK(FromJson(ToJson(document, JsonForm::kCanonical)));
  EXPECT_EQ(FromJson(ToJson(document, JsonForm::kCanonical))->bytes(), document.bytes());
  EXPECT_EQ(ToJson(document.Find("a")), "[ 1, \"x\", null ]");
  EXPECT_EQ(ToJson(Make("d", 1.0).Find("d")), "1.0");
  EXPECT_EQ(ToJson(Value()), "");
}

TEST(JsonTest, ToJsonOfBytesThatAreNoUtf8StillShowsSomething) {
  EXPECT_EQ(ToJson(Make("a", "\xff")), "{ a: \"\xff\" }");
}

TEST(JsonTest, ToShellShowsEveryType) {
  EXPECT_EQ(
      ToShell(
          J("{'a': 1, 'b': 'x', 'c': [1, 2], 'd': {'$oid': '507f1f77bcf86cd799439011'}, "
            "'e': {'$date': {'$numberLong': '123'}}, 'f': null, 'g': 1.5, 'h': 1.0, "
            "'i': {'$binary': {'base64': 'AAECAwQFBgcICQoLDA0ODw==', 'subType': '04'}}, "
            "'j': {'$binary': {'base64': '/wA=', 'subType': '00'}}, 'k': {'$timestamp': {'t': 1, 'i': 2}}, "
            "'l': {'$regularExpression': {'pattern': 're', 'options': 'i'}}, 'm': {'$minKey': 1}, 'n': {'$maxKey': 1}, "
            "'o': {'$numberDecimal': '1.5'}, 'p': {}, 'q': [], 'r': true, 's': {'t': {'$numberLong': '7'}}}")),
      "{ a: 1, b: \"x\", c: [ 1, 2 ], d: ObjectId('507f1f77bcf86cd799439011'), e: new Date(123), f: null, g: 1.5, "
      "h: 1.0, i: UUID(\"00010203-0405-0607-0809-0a0b0c0d0e0f\"), j: BinData(0, FF00), k: Timestamp(1, 2), l: /re/i, "
      "m: MinKey, n: MaxKey, o: NumberDecimal(\"1.5\"), p: {}, q: [], r: true, s: { t: 7 } }");
  EXPECT_EQ(ToShell(Make("a", "say \"hi\"\n\x01")), "{ a: \"say \\\"hi\\\"\\n\\u0001\" }");
  EXPECT_EQ(ToShell(Make("a", 1e20, "b", -0.5)), "{ a: 1e+20, b: -0.5 }");
  EXPECT_EQ(ToShell(J("{'a': {'$undefined': true}, 'b': {'$symbol': 's'}, 'c': {'$code': 'f()'}, "
                      "'d': {'$code': 'g()', '$scope': {'x': 1}}, "
                      "'e': {'$dbPointer': {'$ref': 'db.c', '$id': {'$oid': '507f1f77bcf86cd799439011'}}}}")),
            "{ a: undefined, b: \"s\", c: Code(f()), d: CodeWScope(g(), { x: 1 }), e: DBRef('db.c', "
            "507f1f77bcf86cd799439011) }");
}

}  // namespace
}  // namespace braid::bson
