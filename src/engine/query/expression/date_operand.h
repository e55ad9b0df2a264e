// Dates and time zones as operands of the date operators.
#pragma once

#include <optional>

#include "engine/query/expression/evaluation.h"
#include "engine/query/expression/time_zone.h"

namespace braid::query {

inline bool IsDateLike(const bson::Value& value) {
  return value.Is(bson::Type::kDate) || value.Is(bson::Type::kTimestamp) || value.Is(bson::Type::kObjectId);
}

/// Milliseconds of a date, a timestamp or an ObjectId; Location(16006) for the rest.
Result<int64_t> DateOf(const bson::Value& value);

/// The zone given as named operand `i`; UTC if not given.
Result<TimeZone> ZoneOperand(const Call& call, size_t i);

}  // namespace braid::query
