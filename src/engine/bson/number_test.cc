#include "engine/bson/number.h"

#include <cmath>
#include <limits>

#include "base/testing/testing.h"
#include "engine/bson/builder.h"
#include "engine/bson/decimal.h"
#include "engine/bson/json.h"

namespace braid::bson {
namespace {

constexpr int32_t kInt32Max = std::numeric_limits<int32_t>::max();
constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();
constexpr auto kError = Number::Overflow::kError;
constexpr auto kDouble = Number::Overflow::kDouble;

TEST(NumberTest, IntegersWidenOnlyWhenTheyMust) {
  EXPECT_EQ(Number::Add(Number(1), Number(2), kError)->type(), Type::kInt32);
  EXPECT_EQ(Number::Add(Number(kInt32Max), Number(1), kError)->type(), Type::kInt64);
  EXPECT_EQ(Number::Add(Number(kInt32Max), Number(1), kError)->AsInteger(), 2147483648);
  EXPECT_EQ(Number::Add(Number(1), Number(int64_t{2}), kError)->type(), Type::kInt64);
  EXPECT_EQ(Number::Subtract(Number(-kInt32Max), Number(2), kError)->AsInteger(), -2147483649);
  EXPECT_EQ(Number::Multiply(Number(kInt32Max), Number(kInt32Max), kError)->type(), Type::kInt64);
}

TEST(NumberTest, OverflowOfInt64IsAnErrorOrADouble) {
  EXPECT_EQ(Number::Add(Number(kInt64Max), Number(1), kError).status().code(), Code::kBadValue);
  EXPECT_EQ(Number::Multiply(Number(kInt64Max), Number(2), kError).status().code(), Code::kBadValue);
  EXPECT_EQ(Number::Subtract(Number(-kInt64Max), Number(2), kError).status().code(), Code::kBadValue);
  const Result<Number> sum = Number::Add(Number(kInt64Max), Number(1), kDouble);
  ASSERT_OK(sum);
  EXPECT_EQ(sum->type(), Type::kDouble);
  EXPECT_EQ(sum->ToDouble(), 9223372036854775808.0);
}

TEST(NumberTest, DoubleAndDecimalWin) {
  EXPECT_EQ(Number::Add(Number(1), Number(0.5), kError)->ToDouble(), 1.5);
  const Number tenth(*decimal::FromString("0.1"));
  EXPECT_EQ(decimal::ToString(Number::Add(tenth, Number(1), kError)->ToDecimal()), "1.1");
  EXPECT_EQ(decimal::ToString(Number::Add(tenth, Number(0.1), kError)->ToDecimal()), "0.200000000000000");
  EXPECT_TRUE(Number::Multiply(tenth, Number(std::nan("")), kError)->IsNaN());
}

TEST(NumberTest, ToInt64) {
  EXPECT_EQ(Number(3.0).ToInt64Exact(), 3);
  EXPECT_EQ(Number(3.5).ToInt64Exact(), std::nullopt);
  EXPECT_EQ(Number(std::nan("")).ToInt64Exact(), std::nullopt);
  EXPECT_EQ(Number(9223372036854775808.0).ToInt64Exact(), std::nullopt);
  EXPECT_EQ(Number(-9223372036854775808.0).ToInt64Exact(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Number(*decimal::FromString("3.0")).ToInt64Exact(), 3);
  EXPECT_EQ(Number(-3.9).ToInt64Clamped(), -3);
  EXPECT_EQ(Number(9223372036854775808.0).ToInt64Clamped(), kInt64Max);
  EXPECT_EQ(Number(-1e300).ToInt64Clamped(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Number(std::nan("")).ToInt64Clamped(), 0);
  EXPECT_EQ(Number(*decimal::FromString("1E+50")).ToInt64Clamped(), kInt64Max);
  EXPECT_EQ(Number(*decimal::FromString("NaN")).ToInt64Clamped(), 0);
}

TEST(NumberTest, ValuesThereAndBack) {
  Arena arena;
  const Document document = J("{'a': 1, 'b': {'$numberLong': '2'}, 'c': 1.5, 'd': {'$numberDecimal': '1.50'}}");
  for (const Element& element : document.view()) {
    EXPECT_TRUE(Number::Of(element.value).ToValue(arena).Identical(element.value)) << element.name;
  }
  EXPECT_FALSE(NumberOf(Make("a", "1").Find("a")).has_value());
}

TEST(NumberTest, Truth) {
  const Document truths =
      J("{'a': 1, 'b': '', 'c': {'$numberDouble': 'NaN'}, 'd': [], 'e': {}, 'f': true, 'g': 0.1, "
        "'h': {'$numberDecimal': 'NaN'}, 'i': {'$minKey': 1}}");
  for (const Element& element : truths.view()) EXPECT_TRUE(IsTruthy(element.value)) << element.name;
  const Document falsehoods =
      J("{'a': 0, 'b': false, 'c': null, 'd': {'$undefined': true}, 'e': -0.0, "
        "'f': {'$numberDecimal': '-0.00'}, 'g': {'$numberLong': '0'}}");
  for (const Element& element : falsehoods.view()) EXPECT_FALSE(IsTruthy(element.value)) << element.name;
  EXPECT_FALSE(IsTruthy(Value()));
}

}  // namespace
}  // namespace braid::bson
