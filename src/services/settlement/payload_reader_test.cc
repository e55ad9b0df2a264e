// The quick reader of payloads against the full parser: whatever it takes, the parser takes, and gives the same.
#include "services/settlement/payload_reader.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "base/strings.h"
#include "base/testing/testing.h"
#include "services/settlement/generator.h"

namespace braid::settlement {
namespace {

TEST(PayloadReaderTest, TakesWhatTheGeneratorMakes) {
  Generator generator({.symbols = 5, .cross_percent = 20, .seed = test::Seed()});
  for (int i = 0; i < 500; ++i) {
    const Output output = generator.Next();
    Output read;
    ASSERT_TRUE(ReadPlainPayload(EncodePayload(output), read)) << EncodePayload(output);
    EXPECT_EQ(read, output);
  }
}

// One byte is changed, dropped or doubled: most results are no payloads, some are others.
TEST(PayloadReaderTest, TakesNothingThatTheParserWouldNot) {
  constexpr std::string_view kBytes = "\"{}[],:.-0195eEtn\\ a\x1f\x7f\xc3";
  Random random(test::Seed());
  Generator generator({.symbols = 5, .cross_percent = 20, .seed = random.Next()});
  OutputParser parser;
  int taken = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string payload = EncodePayload(generator.Next());
    const size_t at = random.Below(payload.size());
    switch (random.Below(3)) {
      case 0: payload[at] = kBytes[random.Below(kBytes.size())]; break;
      case 1: payload.erase(at, 1); break;
      default: payload.insert(at, 1, payload[at]);
    }
    Output read;
    if (!ReadPlainPayload(payload, read)) continue;
    ++taken;
    const auto parsed = parser.Parse(payload);
    ASSERT_OK(parsed);
    EXPECT_EQ(*parsed, read) << payload;
    EXPECT_EQ(EncodePayload(*parsed), payload);
  }
  EXPECT_GT(taken, 0);
}

TEST(PayloadReaderTest, LeavesTheRestToTheParser) {
  const auto payload = [](std::string_view input, std::string_view sequence = "1") {
    return StrCat(R"({"output_seq":)", sequence, R"(,"symbol_id":0,"input":)", input,
                  R"(,"order_update":null,"trades":[],"balance_events":[]})");
  };
  Output output;
  EXPECT_TRUE(ReadPlainPayload(payload(R"({"a":1,"b":"x","c":true,"d":null})"), output));
  EXPECT_EQ(output.input, R"({"a":1,"b":"x","c":true,"d":null})");
  for (const char* const input :
       {R"({"a":{}})", R"({"a":[]})", R"({"a":1.5})", R"({"a":"é"})", R"({"a":"\n"})", R"({"b":1,"a":1})",
        R"({"a":1,"a":1})", R"({"a":01})", R"({"a":1234567890123456789})", R"([])", R"({"a":1,})"}) {
    Output other;
    EXPECT_FALSE(ReadPlainPayload(payload(input), other)) << input;
  }
  for (const char* const sequence : {"0", "-1", "01", "1.0", "9223372036854775807", ""}) {
    Output other;
    EXPECT_FALSE(ReadPlainPayload(payload("{}", sequence), other)) << sequence;
  }
}

}  // namespace
}  // namespace braid::settlement
