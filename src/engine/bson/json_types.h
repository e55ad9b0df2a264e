// The types that Extended JSON writes as objects: { "$oid": "…" } and its kind. For json_parse.cc only.
#pragma once

#include <optional>
#include <string>

#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::bson::json {

/// The value that a parsed object stands for; nullopt if it is just an object, as { "$type": "int" } is. kFailedToParse
/// if its first name says it should be a value but the rest does not fit.
Result<std::optional<OwnedValue>> TypedValue(View object);

}  // namespace braid::bson::json
