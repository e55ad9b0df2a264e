// The part of a filter that an upsert uses: the fields that must be equal to a value.
#pragma once

#include "engine/language/match/filter.h"

namespace braid::update {

/// The document that the equalities of the filter describe: $eq, implicit equality, inside $and, $or with one branch
/// and $in or $all with one value. kNotSingleValueField if a path is given twice or inside another.
Result<bson::Document> BaseFromFilter(const query::Filter& filter);

/// For replacements only _id counts; {} if the filter does not fix it. Location(111) if it fixes only a part of it.
Result<bson::Document> IdFromFilter(const query::Filter& filter);

}  // namespace braid::update
