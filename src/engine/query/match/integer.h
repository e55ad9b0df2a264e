// Whole numbers as operands: what $size, $bitsAllSet, maxLength and others accept.
#pragma once

#include <cstdint>
#include <string_view>

#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::query {

/// The number as a whole number of 64 bits, not negative; kFailedToParse, quoting name and value, if it is something
/// else.
Result<int64_t> NonNegativeInteger(std::string_view name, const bson::Value& value);

}  // namespace braid::query
