// ConvertTo: one value made another type, as $convert and the $to… operators do.
#pragma once

#include "braid/status.h"
#include "engine/bson/arena.h"

namespace braid::query {

/// kConversionFailure if there is no such conversion or the value does not allow it. `value` is not null.
Result<bson::Value> ConvertTo(bson::Type target, const bson::Value& value, bson::Arena& arena);

}  // namespace braid::query
