// Events as lines: what is read, what is refused and why (F1, A7).
#include "services/staking/event.h"

#include "base/testing/testing.h"
#include "services/staking/testing/bad_events.h"

namespace braid::staking {
namespace {

using test::ActiveLine;
using test::Digits;

std::string Quoted(const std::string& text) { return StrCat("\"", text, "\""); }

TEST(EventTest, ReadsAnActiveEvent) {
  EventParser parser;
  const auto event = parser.Parse(ActiveLine(Quoted(Digits('a')), "123", ",\"timestamp\":1700000000"));
  ASSERT_OK(event);
  EXPECT_EQ(event->state, State::kActive);
  EXPECT_EQ(event->hash, Digits('a'));
  EXPECT_EQ(event->staker, Digits('1'));
  EXPECT_EQ(event->finality_provider, Digits('2'));
  EXPECT_EQ(event->value, 123);
  EXPECT_EQ(event->timestamp, 1'700'000'000);
  EXPECT_EQ(event->LockId(), Digits('a') + ":active");
}

TEST(EventTest, AnUnbondedEventNeedsOnlyTypeAndHash) {
  EventParser parser;
  for (const char* type : {"2", "\"unbonded\""}) {
    const auto event =
        parser.Parse(StrCat(R"({"staking_tx_hash_hex":")", Digits('b'), R"(","event_type":)", type, "}"));
    ASSERT_OK(event);
    EXPECT_EQ(event->state, State::kUnbonded);
    EXPECT_EQ(event->LockId(), Digits('b') + ":unbonded");
    EXPECT_FALSE(event->timestamp.has_value());
  }
}

TEST(EventTest, TypesAreNumbersToo) {
  EventParser parser;
  std::string line = ActiveLine(Quoted(Digits('a')), "1");
  line.replace(line.find("\"active\""), 8, "1");
  const auto event = parser.Parse(line);
  ASSERT_OK(event);
  EXPECT_EQ(event->state, State::kActive);
}

TEST(EventTest, UpperCaseHexIsTheSameEvent) {
  EventParser parser;
  const auto event = parser.Parse(ActiveLine(Quoted(Digits('A', 32) + Digits('f', 32)), "1"));
  ASSERT_OK(event);
  EXPECT_EQ(event->hash, Digits('a', 32) + Digits('f', 32));
}

TEST(EventTest, KeysMayHaveAPrefixByte) {
  EventParser parser;
  std::string line = ActiveLine(Quoted(Digits('a')), "1");
  line.replace(line.find(Digits('1')), 64, "02" + Digits('C'));
  const auto event = parser.Parse(line);
  ASSERT_OK(event);
  EXPECT_EQ(event->staker, "02" + Digits('c'));
}

TEST(EventTest, ValuesAtTheEdges) {
  EventParser parser;
  EXPECT_EQ(parser.Parse(ActiveLine(Quoted(Digits('a')), "1"))->value, 1);
  EXPECT_EQ(parser.Parse(ActiveLine(Quoted(Digits('a')), "2100000000000000"))->value, kValueMax);
}

TEST(EventTest, NoTimeIsNoMistakeAndOtherFieldsAreIgnored) {
  EventParser parser;
  const std::string more = R"(,"timestamp":null,"params":{"a":[1,2]},"note":"ä€","note":2)";
  const auto event = parser.Parse("  " + ActiveLine(Quoted(Digits('a')), "1", more) + " \t");
  ASSERT_OK(event);
  EXPECT_FALSE(event->timestamp.has_value());
}

TEST(EventTest, EveryKindOfBadEventSaysWhy) {
  EventParser parser;  // the same for all: a bad line must not spoil the next
  const std::string good = ActiveLine(Quoted(Digits('a')), "5");
  for (const test::BadEvent& bad : test::BadEvents()) {
    const auto event = parser.Parse(bad.line);
    ASSERT_FALSE(event.ok()) << bad.line.substr(0, 300);
    EXPECT_EQ(event.error().code(), Code::kBadValue);
    EXPECT_NE(event.error().message().find(bad.reason), std::string_view::npos)
        << bad.line.substr(0, 300) << "\n: " << event.error().message() << "\nexpected: " << bad.reason;
    EXPECT_TRUE(IsUtf8(event.error().message())) << "the reason is stored as text: " << bad.line.substr(0, 300);
    EXPECT_LT(event.error().message().size(), 300U);
    ASSERT_OK(parser.Parse(good));
  }
  EXPECT_FALSE(parser.Parse("").ok());
}

TEST(EventTest, WrittenAndReadAgainIsTheSame) {
  Random random(braid::test::Seed());
  EventParser parser;
  const auto hex = [&](size_t count) {
    std::string digits;
    for (size_t i = 0; i < count; ++i) digits += "0123456789abcdef"[random.Below(16)];
    return digits;
  };
  for (int i = 0; i < 2000; ++i) {
    Event event{.hash = hex(64)};
    if (random.Chance(1, 2)) event.timestamp = static_cast<int64_t>(random.Below(99'999'999'999));
    if (random.Chance(1, 3)) {
      event.state = State::kUnbonded;
    } else {
      event.staker = hex(random.Chance(1, 2) ? 64 : 66);
      event.finality_provider = hex(random.Chance(1, 2) ? 64 : 66);
      event.value = 1 + static_cast<int64_t>(random.Below(kValueMax));
    }
    const std::string line = ToJson(event);
    const auto read = parser.Parse(line);
    ASSERT_OK(read);
    EXPECT_EQ(read->state, event.state);
    EXPECT_EQ(read->hash, event.hash);
    EXPECT_EQ(read->staker, event.staker);
    EXPECT_EQ(read->finality_provider, event.finality_provider);
    EXPECT_EQ(read->value, event.value);
    EXPECT_EQ(read->timestamp, event.timestamp);
    EXPECT_EQ(ToJson(*read), line);
  }
}

}  // namespace
}  // namespace braid::staking
