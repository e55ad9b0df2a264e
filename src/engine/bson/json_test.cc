#include "engine/bson/json.h"

#include "base/testing/testing.h"
#include "engine/bson/builder.h"

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
  for (const char* text : {"", " ", "{", "{'a'}", "nonsense", "{\"a\": 1} x"}) {
    EXPECT_EQ(FromJson(text).status().code(), Code::kFailedToParse) << text;
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
