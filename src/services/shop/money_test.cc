#include "services/shop/money.h"

#include "base/strings.h"
#include "base/testing/testing.h"
#include "services/shop/refusal.h"

namespace braid::shop {
namespace {

Money MoneyOf(std::string_view text) {
  const auto money = Money::Parse(text);
  EXPECT_OK(money);
  return money.value_or(Money());
}

Refused RefusedWith(const Status& status) {
  const auto refusal = RefusalOf(status);
  EXPECT_TRUE(refusal) << status.ToString();
  return refusal ? refusal->code : Refused::kConflict;
}

TEST(MoneyTest, KeepsItsDigits) {
  for (const char* text : {"0", "0.00", "199.90", "1000000", "0.0000001", "0.000000000000000000000000000000001",
                           "9999999999999999999999999999999999", "12345678901234567890.12345678901234"}) {
    EXPECT_EQ(MoneyOf(text).ToString(), text);
  }
}

TEST(MoneyTest, RefusesWhatIsNoAmount) {
  for (const char* text : {"", "-1", "+1", ".5", "5.", "1e3", "NaN", "Infinity", "1,5", " 1", "1 ", "0x1", "1.2.3"}) {
    EXPECT_EQ(RefusedWith(Money::Parse(text).status()), Refused::kBadPrice) << text;
  }
  EXPECT_EQ(RefusedWith(Money::Parse(std::string(35, '1')).status()), Refused::kBadPrice);
  EXPECT_EQ(RefusedWith(Money::Parse(std::string(40, '9')).status()), Refused::kBadPrice);
  EXPECT_EQ(RefusedWith(Money::Parse("1." + std::string(40, '0')).status()), Refused::kBadPrice);
}

TEST(MoneyTest, AddsAndMultipliesExactly) {
  EXPECT_EQ(MoneyOf("199.90").Times(2)->ToString(), "399.80");
  EXPECT_EQ(MoneyOf("0.1").Plus(MoneyOf("0.2"))->ToString(), "0.3");
  EXPECT_EQ(MoneyOf("0.10").Times(3)->ToString(), "0.30");
  EXPECT_EQ(MoneyOf("79990.00").Plus(MoneyOf("0.5"))->ToString(), "79990.50");
  EXPECT_EQ(Money().Plus(MoneyOf("1990.00"))->ToString(), "1990.00");
}

TEST(MoneyTest, RefusesToRound) {
  const Money largest = MoneyOf(std::string(34, '9'));
  EXPECT_EQ(RefusedWith(largest.Plus(MoneyOf("2")).status()), Refused::kInexactAmount);
  EXPECT_EQ(RefusedWith(largest.Plus(MoneyOf("0.1")).status()), Refused::kInexactAmount);
  EXPECT_EQ(RefusedWith(largest.Times(3).status()), Refused::kInexactAmount);
  // A power of ten needs one digit only.
  EXPECT_EQ(largest.Plus(MoneyOf("1"))->ToString(), "1" + std::string(34, '0'));
  EXPECT_EQ(largest.Plus(MoneyOf("0"))->ToString(), std::string(34, '9'));
}

TEST(MoneyTest, ComparesNumbersNotSpellings) {
  EXPECT_EQ(MoneyOf("1.0"), MoneyOf("1.00"));
  EXPECT_LT(MoneyOf("9.99"), MoneyOf("10"));
  EXPECT_FALSE(MoneyOf("10") < MoneyOf("10.0"));
}

TEST(RefusalTest, TravelsInAStatus) {
  const Status status =
      Refuse({.code = Refused::kOutOfStock, .message = "too few", .lines = {{"P1", 3, 2}, {"P2", 1, 0}}});
  const auto refusal = RefusalOf(status.CausedBy("checkout"));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(NameOf(refusal->code), "out_of_stock");
  EXPECT_EQ(refusal->lines, (std::vector<ShortLine>{{"P1", 3, 2}, {"P2", 1, 0}}));
  EXPECT_FALSE(RefusalOf(Status(Code::kOperationFailed, "of the store")));
  EXPECT_FALSE(RefusalOf(Status()));
  EXPECT_EQ(NameOf(Refused::kBadRequest), "bad_request");
  EXPECT_EQ(NameOf(Refused::kConflict), "conflict");
}

}  // namespace
}  // namespace braid::shop
