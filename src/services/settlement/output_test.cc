// Outputs: what is read, what is refused, and that an output has one payload however it was written (C1, C9, F2). The
// quick reader of payloads against the full parser: whatever it takes, the parser takes, and gives the same.
#include "services/settlement/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "base/strings.h"
#include "base/testing/testing.h"
#include "services/settlement/generator.h"
#include "services/settlement/json_fields.h"

namespace braid::settlement {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kTrade =
    R"({"trade_id":1,"symbol_id":3,"price":"10.50","qty":"2","buyer_id":7,"seller_id":"eve"})";

Result<Output> Parse(std::string_view line) { return OutputParser().Parse(line); }

std::string ReasonOf(std::string_view line) {
  const auto output = Parse(line);
  EXPECT_FALSE(output.ok()) << line;
  if (output.ok()) return "";
  EXPECT_EQ(output.error().code(), Code::kBadValue);
  return std::string(output.error().message());
}

std::string WithTrades(std::string_view trades, std::string_view more = "") {
  return StrCat(R"({"output_seq":5,"input":{},"trades":[)", trades, "]", more, "}");
}

TEST(OutputTest, EveryFieldIsReadAndKept) {
  const auto output = Parse(
      R"({"hash":"ab00000000000000000000000000000000000000000000000000000000000000","balance_events":[
         {"reason":"","delta":"-0.10","asset":"USDT","user_id":7}],"trades":[],"output_seq":9,
         "order_update":{"order_id":"o-1","user_id":18446744073709551615,"symbol_id":4,"status":"FILLED"},
         "input":{"b":[1,2.50,-0.0,1e300,{"y":null,"x":true}],"a":"\u00e9\n\u0001\/\"","c":18446744073709551616.0}})");
  ASSERT_OK(output);
  EXPECT_EQ(output->symbol_id(), 4);
  EXPECT_EQ(output->order_update->user_id, (Id{"18446744073709551615", true}));
  EXPECT_EQ(output->order_update->order_id, (Id{"o-1", false}));
  EXPECT_EQ(output->hash->front(), 0xab);
  EXPECT_FALSE(output->prev_hash);
  EXPECT_EQ(
      EncodePayload(*output),
      R"({"output_seq":9,"symbol_id":4,"input":{"a":"é\n\u0001/\"","b":[1,2.5,-0.0,1e+300,{"x":true,"y":null}],)"
      R"("c":18446744073709551616.0},"order_update":{"order_id":"o-1","user_id":18446744073709551615,"symbol_id":4,)"
      R"("status":"FILLED"},"trades":[],"balance_events":[{"user_id":7,"asset":"USDT","delta":"-0.10","reason":""}]})");
}

TEST(OutputTest, TheSymbolIsTheFirstTradesElseTheOrdersElseZero) {
  const std::string order = R"(,"order_update":{"order_id":1,"user_id":1,"symbol_id":8,"status":"NEW"})";
  EXPECT_EQ(Parse(WithTrades(kTrade, order))->symbol_id(), 3);
  EXPECT_EQ(Parse(WithTrades("", order))->symbol_id(), 8);
  EXPECT_EQ(Parse(WithTrades(""))->symbol_id(), 0);
  ASSERT_OK(Parse(WithTrades(kTrade, R"(,"symbol_id":3)")));
  EXPECT_THAT(ReasonOf(WithTrades(kTrade, R"(,"symbol_id":8)")),
              HasSubstr("symbol_id is 8, but the output is of symbol 3"));
}

TEST(OutputTest, TradesOfSeveralSymbolsTouchSeveralChains) {
  const auto trade = [](int symbol) {
    return StrCat(R"({"trade_id":1,"symbol_id":)", symbol, R"(,"price":"1","qty":"1","buyer_id":1,"seller_id":2})");
  };
  const auto output = Parse(WithTrades(StrCat(trade(5), ",", trade(9), ",", trade(2), ",", trade(5), ",", trade(9))));
  ASSERT_OK(output);
  const ChainRecord record = ToRecord(*output);
  EXPECT_EQ(record.chain, 5);
  EXPECT_EQ(record.sequence, 5);
  EXPECT_THAT(record.also, ElementsAre(2, 9));
}

TEST(OutputTest, AReasonNamesTheField) {
  EXPECT_EQ(ReasonOf(R"({"input":{}})"), "output_seq is missing");
  EXPECT_EQ(ReasonOf(R"({"output_seq":1})"), "input is missing");
  EXPECT_EQ(ReasonOf(R"({"output_seq":0,"input":{}})"), "output_seq is 0; it must be at least 1");
  EXPECT_EQ(ReasonOf(R"({"output_seq":"1","input":{}})"), "output_seq is not an integer");
  EXPECT_EQ(ReasonOf(R"({"output_seq":9223372036854775808,"input":{}})"), "output_seq is above 9223372036854775807");
  EXPECT_EQ(ReasonOf(R"({"output_seq":9223372036854775807,"input":{}})"),
            "output_seq is 9223372036854775807; nothing could come after it");
  EXPECT_EQ(ReasonOf(R"({"output_seq":1,"input":[]})"), "input is not an object");
  EXPECT_EQ(ReasonOf(R"({"output_seq":1,"input":{"a":{"b":1,"b":2}}})"), "input.a.b is there twice");
  EXPECT_EQ(ReasonOf(R"({"output_seq":1,"output_seq":1,"input":{}})"), "output_seq is there twice");
  EXPECT_EQ(ReasonOf(R"({"output_seq":1,"input":{},"fee":1})"), "fee is unknown");
  EXPECT_EQ(ReasonOf(R"({"output_seq":1,"input":{},"trades":{}})"), "trades is not a list");
  EXPECT_EQ(ReasonOf(R"({"output_seq":1,"input":{},"order_update":{"order_id":1}})"),
            "order_update.user_id is missing");
  EXPECT_EQ(ReasonOf(R"({"output_seq":1,"input":{},"hash":"00"})"),
            "hash has 2 characters; it must be 64 hexadecimal digits");
  EXPECT_EQ(ReasonOf("[]"), "the output is not an object");
  EXPECT_THAT(ReasonOf("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(ReasonOf(""), HasSubstr("not valid JSON"));
  const std::string deep =
      StrCat(R"({"output_seq":1,"input":{"a":)", std::string(100, '['), std::string(100, ']'), "}}");
  EXPECT_THAT(ReasonOf(deep), HasSubstr("is more than 64 levels deep"));
}

// What JSON does not have, or what has no one spelling.
TEST(OutputTest, TextAndNumbersThatAreNoneAreRefused) {
  for (const char* bad :
       {R"("\ud800")", R"("\udc00")", R"("\ud800A")", "\"\xff\"", "\"\xed\xa0\x80\"", "\"\n\"", "NaN", "Infinity",
        "1e400", "-1e400", "123456789012345678901234567890", "01", "+1", ".5", "1.", "{} {}", "'a'", "[1,]"}) {
    EXPECT_THAT(ReasonOf(StrCat(R"({"output_seq":1,"input":{"a":)", bad, "}}")), HasSubstr("not valid JSON")) << bad;
  }
  EXPECT_THAT(ReasonOf(R"({"output_seq":1,"input":{}} {})"), HasSubstr("not valid JSON"));
  EXPECT_THAT(ReasonOf(std::string(100'000, '[')), HasSubstr("not valid JSON"));
}

TEST(OutputTest, DecimalsAreDecimalsInStrings) {
  const auto reason = [](std::string_view price) {
    const std::string trade =
        StrCat(R"({"trade_id":1,"symbol_id":3,"price":)", price, R"(,"qty":"2","buyer_id":7,"seller_id":8})");
    const auto output = Parse(WithTrades(StrCat(kTrade, ",", trade)));
    return output.ok() ? "" : std::string(output.error().message());
  };
  for (const char* good : {R"("1")", R"("0.1")", R"("007.50")", R"("1234567890123456789012345678901234")"}) {
    EXPECT_EQ(reason(good), "") << good;
  }
  for (const char* bad : {R"("")", R"(".5")", R"("5.")", R"("1e5")", R"("+1")", R"("1,5")", R"(" 1")", R"("0x1")",
                          R"("1.2.3")", R"("NaN")", R"("-")"}) {
    EXPECT_THAT(reason(bad), HasSubstr("trades[1].price is '")) << bad;
  }
  EXPECT_EQ(reason("1.5"), "trades[1].price is not a decimal in a string, such as \"0.25\"");
  EXPECT_EQ(reason(R"("-1")"), "trades[1].price is -1; it must be above zero");
  EXPECT_EQ(reason(R"("0.00")"), "trades[1].price is 0.00; it must be above zero");
  EXPECT_EQ(reason(R"("12345678901234567890123456789012345")"), "trades[1].price has 35 digits; it may have 34");
}

// The order of fields, white space and escapes say nothing about what an output is.
TEST(OutputTest, OneOutputHasOnePayload) {
  const auto a =
      Parse(R"({"output_seq":1,"input":{"x":1,"y":"A"},"trades":[],"balance_events":[],"order_update":null})");
  const auto b = Parse(R"( { "input" : { "y" : "\u0041", "x" : 1 } , "symbol_id" : 0, "output_seq" : 1 } )");
  ASSERT_OK(a);
  ASSERT_OK(b);
  EXPECT_EQ(EncodePayload(*a), EncodePayload(*b));
}

TEST(OutputTest, WhatIsEncodedIsDecoded) {
  Generator generator({.symbols = 5, .cross_percent = 20, .seed = test::Seed()});
  OutputParser parser;
  for (int i = 0; i < 500; ++i) {
    Output output = generator.Next();
    const std::string payload = EncodePayload(output);
    const auto decoded = parser.Decode(payload);
    ASSERT_OK(decoded);
    EXPECT_EQ(*decoded, output);
    output.prev_hash.emplace().fill(0x1f);
    output.hash.emplace().fill(0xe0);
    const auto parsed = parser.Parse(ToJson(output));
    ASSERT_OK(parsed);
    EXPECT_EQ(*parsed, output);
  }
}

TEST(OutputTest, DecodingTakesNothingButPayloads) {
  OutputParser parser;
  EXPECT_EQ(parser.Decode("junk").error().code(), Code::kRecordDamaged);
  EXPECT_EQ(parser.Decode(R"({"output_seq":1,"input":{}})").error().code(), Code::kRecordDamaged);
}

TEST(PayloadReaderTest, TakesWhatTheGeneratorMakes) {
  Generator generator({.symbols = 5, .cross_percent = 20, .seed = test::Seed()});
  for (int i = 0; i < 500; ++i) {
    const Output output = generator.Next();
    Output read;
    ASSERT_TRUE(ReadPlainPayload(EncodePayload(output), read)) << EncodePayload(output);
    EXPECT_EQ(read, output);
  }
}

TEST(PayloadReaderTest, EffectsAreThoseOfTheOutput) {
  Generator generator({.symbols = 5, .cross_percent = 20, .seed = test::Seed()});
  OutputParser parser;
  std::shared_ptr<const Output> room;
  for (int i = 0; i < 100; ++i) {
    const Output output = generator.Next();
    const std::string payload = EncodePayload(output);
    const auto effects = parser.DecodeEffects(payload, room);
    ASSERT_OK(effects);
    EXPECT_EQ(*effects, Effects::Of(output));
    EXPECT_EQ(room, nullptr);  // it was not copied
  }
  const std::string unordered = R"({"output_seq":1,"symbol_id":0,"input":{"b":1,"a":1},)"
                                R"("order_update":null,"trades":[],"balance_events":[]})";
  EXPECT_EQ(parser.DecodeEffects(unordered, room).error().code(), Code::kRecordDamaged);
}

// A text with an escape is not in the payload as it is.
TEST(PayloadReaderTest, EffectsOfAPayloadThatIsNotPlainHaveTheirOwnRoom) {
  Output output;
  output.output_seq = 7;
  output.order_update = OrderUpdate{{"a \"b\""}, {"J\u00fcrgen"}, 3, "NEW"};
  output.balance_events.push_back({{"u\\1"}, "USDT", "-0.5", "f\u00e9e"});
  OutputParser parser;
  std::shared_ptr<const Output> room;
  std::string payload = EncodePayload(output);
  const auto effects = parser.DecodeEffects(payload, room);
  ASSERT_OK(effects);
  ASSERT_NE(room, nullptr);
  payload.assign(payload.size(), 'x');
  EXPECT_EQ(*effects, Effects::Of(output));
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
    Effects effects;
    const bool is_plain = ReadPlainPayload(payload, read);
    ASSERT_EQ(ReadPlainEffects(payload, effects), is_plain);
    if (!is_plain) continue;
    ++taken;
    EXPECT_EQ(effects, Effects::Of(read));
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
