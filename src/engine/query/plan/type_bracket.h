// Type brackets: a comparison with a number meets numbers only, one with a string strings only, and so on.
#pragma once

#include <optional>

#include "engine/query/plan/interval.h"

namespace braid::query::plan {

/// Every value that compares with values of `type`; nothing for types whose comparisons have rules of their own
/// (arrays, MinKey, MaxKey, regular expressions, code). Null's bracket holds undefined too: what a missing field is
/// indexed as. A number's leaves out NaN, which meets no inequality.
std::optional<Interval> BracketOf(bson::Type type, const bson::Collation* collation);

/// True if the order or equality of such values depends on a collation: strings and what may hold them.
bool IsCollatable(const bson::Value& value);

}  // namespace braid::query::plan
