// Sums of decimals without rounding: a balance is exact or there is none.
#pragma once

#include <bson/bson.h>

#include <string>
#include <string_view>

#include "braid/status.h"

namespace braid::settlement::views {

/// 0, as Canonical() spells it.
bson_decimal128_t Zero();

/// kBadValue if it is no finite number that a Decimal128 has without rounding.
Result<bson_decimal128_t> ParseExactly(std::string_view text);

/// The canonical sum. kOverflow if it has more than the 34 digits of a Decimal128.
Result<bson_decimal128_t> AddExactly(const bson_decimal128_t& a, const bson_decimal128_t& b);

/// One spelling a value, so that equal balances are equal bytes in whatever order they were added up: no zeros at the
/// end of a fraction, no exponent for an integer of up to 34 digits, no negative zero. The value must be finite.
bson_decimal128_t Canonical(const bson_decimal128_t& value);

std::string TextOf(const bson_decimal128_t& value);

}  // namespace braid::settlement::views
