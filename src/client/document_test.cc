// Document, Array and Element: what is built is read again, of every type, and mistakes have names.
#include "braid/document.h"

#include <gmock/gmock.h>

#include <limits>
#include <utility>
#include <vector>

#include "base/testing/testing.h"
#include "client/handles.h"

namespace braid {
namespace {

using std::string_view_literals::operator""sv;

const ObjectId kId = *ObjectId::FromHex("0123456789abcdef01234567");
const Decimal128 kPrice = *Decimal128::Parse("9.50");

Document EveryType() {
  return {{"double", 1.5},
          {"text", "a\"b"},
          {"empty", {}},
          {"nested", {{"a", {{"b", 1}}}}},
          {"array", Array{1, "two", Array{3.0}, Document{{"four", 4}}, {{"five", 5}}}},
          {"binary", Binary{.bytes = std::string("\0\xff"sv), .subtype = 5}},
          {"id", kId},
          {"yes", true},
          {"date", Date{-1}},
          {"null", nullptr},
          {"int32", 7},
          {"int64", int64_t{1} << 40},
          {"decimal", kPrice}};
}

TEST(DocumentTest, EveryTypeIsReadAsItWasWritten) {
  const Document document = EveryType();
  EXPECT_EQ(*document.Get<double>("double"), 1.5);
  EXPECT_EQ(*document.Get<std::string>("text"), "a\"b");
  EXPECT_EQ(*document.Get<std::string_view>("text"), "a\"b");
  EXPECT_TRUE(document.Get<Document>("empty")->empty());
  EXPECT_EQ(*document.Get<Document>("nested"), Document({{"a", {{"b", 1}}}}));
  EXPECT_EQ(document.Get<Array>("array")->size(), 5u);
  EXPECT_EQ(*document.Get<Binary>("binary"), (Binary{.bytes = std::string("\0\xff"sv), .subtype = 5}));
  EXPECT_EQ(*document.Get<ObjectId>("id"), kId);
  EXPECT_EQ(*document.Get<bool>("yes"), true);
  EXPECT_EQ(*document.Get<Date>("date"), Date{-1});
  EXPECT_TRUE(document.Find("null")->is_null());
  EXPECT_EQ(*document.Get<int32_t>("int32"), 7);
  EXPECT_EQ(*document.Get<int64_t>("int64"), int64_t{1} << 40);
  EXPECT_EQ(*document.Get<Decimal128>("decimal"), kPrice);
}

TEST(DocumentTest, IntegersHaveTheWidthOfTheirCppType) {
  const Document document{
      {"short", short{-1}}, {"int", INT32_MIN}, {"uint8", uint8_t{255}}, {"uint32", uint32_t{4'000'000'000}},
      {"long", 5L},         {"float", 2.5F}};
  EXPECT_EQ(document.Find("short")->type(), FieldType::kInt32);
  EXPECT_EQ(document.Find("int")->type(), FieldType::kInt32);
  EXPECT_EQ(*document.Get<int64_t>("int"), INT32_MIN);
  EXPECT_EQ(document.Find("uint8")->type(), FieldType::kInt32);
  EXPECT_EQ(document.Find("uint32")->type(), FieldType::kInt64);
  EXPECT_EQ(*document.Get<int64_t>("uint32"), 4'000'000'000);
  EXPECT_EQ(document.Find("long")->type(), FieldType::kInt64);
  EXPECT_EQ(*document.Get<double>("float"), 2.5);
}

TEST(DocumentTest, APathGoesThroughDocumentsAndArrays) {
  const Document document = EveryType();
  EXPECT_EQ(*document.Get<int64_t>("nested.a.b"), 1);
  EXPECT_EQ(*document.Get<std::string>("array.1"), "two");
  EXPECT_EQ(*document.Get<int64_t>("array.2.0"), 3);
  EXPECT_EQ(*document.Get<int64_t>("array.3.four"), 4);
  EXPECT_EQ(*document.Get<int64_t>("array.4.five"), 5);
  EXPECT_TRUE(document.Has("nested.a"));
  for (const char* path : {"", "nope", "nested.b", "array.5", "text.0", "nested.a.b.c"}) {
    EXPECT_FALSE(document.Has(path)) << path;
  }
}

TEST(DocumentTest, MistakesNameThePathAndTheType) {
  const Document document = EveryType();
  const auto missing = document.Get<int64_t>("nested.x");
  EXPECT_EQ(missing.error().code(), Code::kBadValue);
  EXPECT_EQ(missing.error().message(), "nested.x: there is no such field");
  const auto wrong = document.Get<int64_t>("array.1");
  EXPECT_EQ(wrong.error().code(), Code::kTypeMismatch);
  EXPECT_EQ(wrong.error().message(), "array.1: it is a string where an integer is needed");
  for (const Element& field : document) {
    const auto refused = [&]<typename T>(FieldType own, T) {
      if (field.type() == own) return;
      const auto value = field.As<T>();
      EXPECT_EQ(value.status().code(), Code::kTypeMismatch) << field.key();
    };
    refused(FieldType::kBool, bool());
    refused(FieldType::kString, std::string());
    refused(FieldType::kString, std::string_view());
    refused(FieldType::kDate, Date());
    refused(FieldType::kObjectId, ObjectId());
    refused(FieldType::kDecimal128, Decimal128());
    refused(FieldType::kBinary, Binary());
    refused(FieldType::kDocument, Document());
    refused(FieldType::kArray, Array());
  }
  EXPECT_EQ(document.Get<double>("text").error().code(), Code::kTypeMismatch);
  EXPECT_EQ(document.Get<double>("decimal").error().code(), Code::kTypeMismatch);
  EXPECT_EQ(document.GetOr<int64_t>("nope", 9), 9);
  EXPECT_EQ(document.GetOr<int64_t>("text", 9), 9);
  EXPECT_EQ(document.GetOr<int64_t>("int32", 9), 7);
}

TEST(DocumentTest, OnlyWholeNumbersThatFitAreIntegers) {
  constexpr double kTwo63 = 9223372036854775808.0;
  const Document document{
      {"whole", -3.0},     {"part", 0.5},      {"nan", std::numeric_limits<double>::quiet_NaN()},
      {"least", -kTwo63},  {"beyond", kTwo63}, {"infinite", -std::numeric_limits<double>::infinity()},
      {"wide", 1LL << 31}, {"int", 3}};
  EXPECT_EQ(*document.Get<int64_t>("whole"), -3);
  EXPECT_EQ(*document.Get<int32_t>("whole"), -3);
  EXPECT_EQ(*document.Get<int64_t>("least"), INT64_MIN);
  for (const char* path : {"part", "nan", "beyond", "infinite"}) {
    EXPECT_EQ(document.Get<int64_t>(path).status().code(), Code::kTypeMismatch) << path;
  }
  EXPECT_EQ(document.Get<int32_t>("wide").status().code(), Code::kTypeMismatch);
  EXPECT_EQ(*document.Get<double>("int"), 3.0);
}

TEST(DocumentTest, IterationIsInOrderAndKeepsRepeatedKeys) {
  Document document{{"b", 1}, {"a", 2}};
  document.Append("b", 3).Append("", "empty key");
  std::vector<std::string> keys;
  for (const Element& field : document) keys.emplace_back(field.key());
  EXPECT_EQ(keys, std::vector<std::string>({"b", "a", "b", ""}));
  EXPECT_EQ(*document.Get<int64_t>("b"), 1);
  for (const Element& field : Document()) FAIL() << field.key();
}

TEST(DocumentTest, AnElementOfAnyTypeCanBeAppended) {
  const Document from = *Document::FromJson(
      R"({"re": {"$regularExpression": {"pattern": "^a", "options": "i"}}, "ts": {"$timestamp": {"t": 1, "i": 2}},
          "min": {"$minKey": 1}, "max": {"$maxKey": 1}, "code": {"$code": "f"}})");
  Document to;
  for (const Element& field : from) to.Append(field.key(), field);
  EXPECT_EQ(to, from);
  EXPECT_EQ(to.Find("re")->type(), FieldType::kRegex);
  EXPECT_EQ(to.Find("ts")->type(), FieldType::kTimestamp);
  EXPECT_EQ(to.Find("min")->type(), FieldType::kMinKey);
  EXPECT_EQ(to.Get<Date>("ts").error().message(), "ts: it is a timestamp where a date is needed");
  to.AppendAll({{"more", 1}});
  EXPECT_EQ(*to.Get<int64_t>("more"), 1);
}

TEST(DocumentTest, CopiesAreDeepAndMovesLeaveAnEmptyOne) {
  const std::string long_text(1000, 'x');  // beyond what libbson keeps inside a bson_t
  for (const std::string& text : {std::string("short"), long_text}) {
    Document document{{"text", text}};
    Document copy = document;
    copy.Append("more", 1);
    EXPECT_FALSE(document.Has("more"));
    Document moved = std::move(document);
    EXPECT_EQ(*moved.Get<std::string>("text"), text);
    EXPECT_TRUE(document.empty());  // NOLINT(bugprone-use-after-move): what it is then is a promise
    document.Append("again", text);
    EXPECT_EQ(*document.Get<std::string>("again"), text);
    moved = std::move(copy);
    EXPECT_TRUE(moved.Has("more"));
    document = moved;
    EXPECT_EQ(document, moved);
    document = *&document;
    EXPECT_EQ(document, moved);
    std::vector<Document> many(3, moved);
    many.reserve(100);
    EXPECT_EQ(many[2], moved);
    moved.Clear();
    EXPECT_TRUE(moved.empty());
  }
}

TEST(DocumentTest, AViewSharesBytesAndItsCopyOwnsThem) {
  Document kept;
  Document moved;
  {
    const Document original{{"text", std::string(500, 'x')}};
    Document view = Document::View(*original.get());
    EXPECT_EQ(view.bytes().data(), original.bytes().data());
    kept = static_cast<const Document&>(view);
    moved = std::move(view);
    EXPECT_EQ(moved, original);
    moved = Document();
  }
  EXPECT_EQ(kept.Get<std::string>("text")->size(), 500u);
}

TEST(DocumentTest, EqualityIsOfTypesAndOrder) {
  EXPECT_EQ(Document({{"a", 1}, {"b", 2}}), Document({{"a", 1}, {"b", 2}}));
  EXPECT_NE(Document({{"a", 1}, {"b", 2}}), Document({{"b", 2}, {"a", 1}}));
  EXPECT_NE(Document({{"a", 1}}), Document({{"a", int64_t{1}}}));
  EXPECT_NE(Document(), Document({{"a", nullptr}}));
}

TEST(DocumentTest, CanonicalJsonKeepsEverything) {
  const Document document = EveryType();
  const auto back = Document::FromJson(document.ToJson(JsonFormat::kCanonical));
  ASSERT_OK(back);
  EXPECT_EQ(*back, document);
  EXPECT_EQ(Document({{"n", 1}, {"d", Date{0}}}).ToJson(),
            R"({ "n" : 1, "d" : { "$date" : "1970-01-01T00:00:00Z" } })");
  EXPECT_EQ(Document({{"text", "\xff"}}).ToJson(), "");
}

TEST(DocumentTest, WhatIsNotJsonIsRefused) {
  for (const char* text : {"", " ", "{", "{\"a\"}", "{\"a\": }", "x", "{\"a\": {\"$oid\": \"zz\"}}"}) {
    EXPECT_EQ(Document::FromJson(text).status().code(), Code::kFailedToParse) << text;
  }
  EXPECT_FALSE(Document::FromJson("{\"a\": x}").status().message().empty());
  EXPECT_EQ(Document::FromJson("{} x").status().code(), Code::kFailedToParse);
  EXPECT_EQ(*Document::FromJson("{\"a\": 1}{\"a\": 2}"), Document({{"a", 1}}));
  EXPECT_EQ(*Document::FromJson("[7]"), Document({{"0", 7}}));
}

TEST(DocumentTest, BytesGoRoundAndDamageIsRefused) {
  const Document document = EveryType();
  const auto back = Document::FromBytes(document.bytes());
  ASSERT_OK(back);
  EXPECT_EQ(*back, document);
  const std::string bytes(document.bytes());
  EXPECT_EQ(Document::FromBytes(bytes + "x").status().code(), Code::kInvalidBSON);
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(Document::FromBytes(bytes.substr(0, length)).status().code(), Code::kInvalidBSON) << length;
  }
  std::string torn = bytes;
  torn[4] = 0x30;  // no such type
  EXPECT_EQ(Document::FromBytes(torn).status().code(), Code::kInvalidBSON);
}

TEST(DocumentTest, LibbsonsFunctionsWorkOnIt) {
  Document document;
  BSON_APPEND_INT32(document.get(), "a", 1);
  EXPECT_EQ(document, Document({{"a", 1}}));
  const Document copy = document.get();
  EXPECT_EQ(copy, document);
  EXPECT_TRUE(Document(static_cast<const bson_t*>(nullptr)).empty());
  const bson_t& as_bson = document;
  EXPECT_EQ(&as_bson, document.get());
}

TEST(ArrayTest, IsBuiltFromValuesAndRanges) {
  const Array numbers = Array::Of(std::vector<int>{3, 1, 2});
  EXPECT_EQ(numbers, Array({3, 1, 2}));
  int64_t sum = 0;
  for (const Element& number : numbers) sum += *number.As<int64_t>();
  EXPECT_EQ(sum, 6);
  EXPECT_EQ(numbers.At(1)->key(), "1");
  EXPECT_EQ(*numbers.At(1)->As<int64_t>(), 1);
  EXPECT_FALSE(numbers.At(3));
  Array many;
  for (int i = 0; i < 1200; ++i) many.Append(i);
  EXPECT_EQ(many.size(), 1200u);
  EXPECT_EQ(*many.At(1199)->As<int32_t>(), 1199);
  const Document document{{"texts", Array::Of(std::vector<std::string>{"a", "b"})}, {"none", Array()}};
  EXPECT_EQ(document.ToJson(), R"({ "texts" : [ "a", "b" ], "none" : [  ] })");
  EXPECT_EQ(*document.Get<Array>("texts"), Array({"a", "b"}));
}

TEST(ScalarsTest, ObjectIdsAndDecimalsAreReadAndWritten) {
  EXPECT_EQ(kId.ToHex(), "0123456789abcdef01234567");
  EXPECT_NE(ObjectId::New(), ObjectId::New());
  for (const char* text : {"", "0123", "0123456789abcdef0123456g", "0123456789abcdef0123456789"}) {
    EXPECT_EQ(ObjectId::FromHex(text).status().code(), Code::kFailedToParse) << text;
  }
  EXPECT_EQ(kPrice.ToString(), "9.50");
  EXPECT_NE(kPrice, *Decimal128::Parse("9.5"));
  for (const char* text : {"", "x", "1.2.3"}) {
    EXPECT_EQ(Decimal128::Parse(text).status().code(), Code::kFailedToParse) << text;
  }
  const auto time = std::chrono::system_clock::time_point(std::chrono::milliseconds(1234));
  EXPECT_EQ(*Document({{"at", time}}).Get<Date>("at"), Date{1234});
}

// What the project's own code builds documents with is a Document.
TEST(BsonTest, IsADocumentWithNamedAppenders) {
  client::Bson bson;
  bson.Text("text", "x").Integer("n", 1).Bool("yes", true).Date("at", 5).Document("in", Document{{"a", 1}});
  const std::vector<std::string> texts = {"a", "b"};
  bson.Texts("texts", texts);
  const Document same{{"text", "x"},   {"n", int64_t{1}},  {"yes", true},
                      {"at", Date{5}}, {"in", {{"a", 1}}}, {"texts", Array{"a", "b"}}};
  EXPECT_EQ(bson, same);
  EXPECT_EQ(client::ToJson(bson), same.ToJson());
  EXPECT_EQ(client::ToJson(Document{{"text", "\xff"}}), "null");
  EXPECT_EQ(client::ParseJson("{").status().code(), Code::kFailedToParse);
}

TEST(DocumentDeathTest, AKeyWithANulByteEndsTheProgramWithItsName) {
  Document document;
  EXPECT_DEATH(document.Append("a\0b"sv, 1), "the field 'a.*b' cannot be appended.*NUL byte");
  EXPECT_DEATH(document.Append("outer", {{"in\0ner"sv, 1}}), "the field 'outer' cannot be appended");
}

TEST(DocumentTest, TryAppendRefusesKeysWithANulByteAndAddsNothing) {
  Document document{{"n", 1}};
  const Document before = document;
  EXPECT_EQ(document.TryAppend("a\0b"sv, 1).code(), Code::kBadValue);
  EXPECT_EQ(document.TryAppend("outer", {{"good", 1}, {"in\0ner"sv, 2}}).code(), Code::kBadValue);
  EXPECT_THAT(std::string(document.TryAppend("a\0b"sv, 1).message()), testing::HasSubstr("NUL byte"));
  EXPECT_EQ(document, before);
  ASSERT_OK(document.TryAppend("outer", {{"good", 1}}));
  EXPECT_EQ(document, (Document{{"n", 1}, {"outer", {{"good", 1}}}}));
}

}  // namespace
}  // namespace braid
