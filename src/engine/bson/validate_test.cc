#include "engine/bson/validate.h"

#include "base/testing/testing.h"
#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "engine/bson/key_encoding.h"
#include "engine/bson/testing/random_value.h"

namespace braid::bson {
namespace {

Document AllTypes() {
  return J(
      "{'a': 1, 'b': 'xyz', 'c': [1, [2]], 'd': {'$oid': '507f1f77bcf86cd799439011'}, 'e': {'$date': {'$numberLong': "
      "'123'}}, "
      "'f': null, 'g': 1.5, 'h': {'x': {'y': true}}, 'j': {'$binary': {'base64': '/wA=', 'subType': '00'}}, "
      "'k': {'$timestamp': {'t': 1, 'i': 2}}, 'l': {'$regularExpression': {'pattern': 're', 'options': 'i'}}, "
      "'m': {'$minKey': 1}, 'n': {'$maxKey': 1}, 'o': {'$numberDecimal': '1.5'}, 'p': {}, 'q': {'$undefined': true}, "
      "'r': {'$symbol': 's'}, 's': {'$code': 'f()'}, 't': {'$code': 'g()', '$scope': {'x': 1}}, 'u': {'$numberLong': "
      "'1'}, "
      "'v': {'$dbPointer': {'$ref': 'db.c', '$id': {'$oid': '507f1f77bcf86cd799439011'}}}}");
}

/// Reads every byte that the accessors may read.
void Walk(View view) {
  std::string key;
  AppendKey(&key, Value(view));
  EXPECT_EQ(Compare(view, view), 0);
  EXPECT_FALSE(ToShell(view).empty());
}

Document Nested(int levels, bool arrays) {
  Builder builder;
  for (int i = 0; i < levels; ++i) arrays ? builder.OpenArray("0") : builder.OpenObject("a");
  for (int i = 0; i < levels; ++i) builder.Close();
  return builder.Finish();
}

TEST(ValidateTest, AcceptsEveryType) {
  const Document document = AllTypes();
  const Result<View> view = Validate(document.bytes());
  ASSERT_OK(view);
  EXPECT_EQ(view->bytes(), document.bytes());
  Random random(test::Seed());
  RandomValue make(random);
  for (int i = 0; i < 500; ++i) EXPECT_OK(Validate(Make("v", make.Any()).bytes()));
}

TEST(ValidateTest, BytesAfterTheDocumentAreNotItsOwn) {
  const Document document = AllTypes();
  EXPECT_EQ(Validate(document.bytes() + "more")->size(), document.bytes().size());
}

TEST(ValidateTest, RefusesEveryTruncation) {
  const std::string bytes = AllTypes().bytes();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(Validate(bytes.substr(0, size)).status().code(), Code::kInvalidBSON) << size;
    if (size < 5) continue;
    std::string shortened = bytes.substr(0, size);  // with a length that fits what is there
    const auto length = static_cast<uint32_t>(size);
    std::memcpy(shortened.data(), &length, 4);
    // On its own piece of memory, so that a read past the end is seen by the sanitizer.
    const std::vector<char> copy(shortened.begin(), shortened.end());
    const Result<View> view = Validate({copy.data(), copy.size()});
    if (view.ok()) Walk(*view);
  }
}

TEST(ValidateTest, WhatPassesAfterAnyFlipCanBeWalked) {
  const std::string bytes = AllTypes().bytes();
  size_t passed = 0;
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const int flip : {0x01, 0x02, 0x04, 0x10, 0x7f, 0x80, 0xff}) {
      std::vector<char> copy(bytes.begin(), bytes.end());
      copy[at] = static_cast<char>(copy[at] ^ flip);
      const Result<View> view = Validate({copy.data(), copy.size()});
      if (!view.ok()) continue;
      ++passed;
      Walk(*view);
    }
  }
  EXPECT_GT(passed, 0u);
}

TEST(ValidateTest, RefusesWhatIsWrong) {
  const auto code = [](std::string_view bytes) { return Validate(bytes).status().code(); };
  using namespace std::string_view_literals;
  EXPECT_EQ(code("\x05\0\0\0\x01"sv), Code::kInvalidBSON);      // no terminator
  EXPECT_EQ(code("\x04\0\0\0\0"sv), Code::kInvalidBSON);        // too short
  EXPECT_EQ(code("\xff\xff\xff\xff\0"sv), Code::kInvalidBSON);  // negative
  EXPECT_EQ(code("\x09\0\0\0\x08"
                 "a\0\x02\0"sv),
            Code::kInvalidBSON);  // boolean 2
  EXPECT_EQ(code("\x08\0\0\0\x20"
                 "a\0\0"sv),
            Code::kInvalidBSON);  // unknown type
  EXPECT_EQ(code("\x0d\0\0\0\x02"
                 "a\0\0\0\0\0\0\0"sv),
            Code::kInvalidBSON);  // string of 0 bytes
  EXPECT_EQ(code("\x0e\0\0\0\x02"
                 "a\0\xff\xff\xff\xff\0\0"sv),
            Code::kInvalidBSON);                            // string of -1 bytes
  EXPECT_EQ(code("\x06\0\0\0\0\0"sv), Code::kInvalidBSON);  // terminator too early
}

TEST(ValidateTest, DuplicateNamesAreAllowed) { EXPECT_OK(Validate(Make("a", 1, "a", 2).bytes())); }

TEST(ValidateTest, NestingHasALimit) {
  for (const bool arrays : {false, true}) {
    EXPECT_OK(Validate(Nested(kNestingMax, arrays).bytes()));
    EXPECT_EQ(Validate(Nested(kNestingMax + 1, arrays).bytes()).status().code(), Code::kOverflow);
    EXPECT_EQ(Validate(Nested(100'000, arrays).bytes()).status().code(), Code::kOverflow);
  }
}

}  // namespace
}  // namespace braid::bson
