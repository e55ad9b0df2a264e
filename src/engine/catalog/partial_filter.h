// The filter of a partial index: the part of the query language that the planner can reason about.
#pragma once

#include <memory>

#include "engine/bson/collation.h"
#include "engine/language/match/filter.h"

namespace braid::catalog {

/// kCannotCreateIndex for an operator other than $eq, $gt(e), $lt(e), $in, $exists: true, $type, $and, $or.
Result<query::Filter> ParsePartialFilter(bson::View filter, std::shared_ptr<const bson::Collation> collation);

}  // namespace braid::catalog
