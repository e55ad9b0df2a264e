// The three kinds of updates, of which Update::Parse chooses; and the part of a filter that their upserts use: the
// fields that must be equal to a value (upsert_base.cc). Internal to this folder.
#pragma once

#include "engine/language/match/filter.h"
#include "engine/language/update/update.h"

namespace braid::update {

using EnvironmentPtr = std::shared_ptr<const query::Environment>;

/// {$set: …, $inc: …}
Result<std::unique_ptr<const Update>> ParseOperators(bson::View specification, const Update::Options& options,
                                                     const EnvironmentPtr& environment);
/// {a: 1, …}: everything but _id is replaced.
Result<std::unique_ptr<const Update>> ParseReplacement(bson::View specification, const Update::Options& options,
                                                       const EnvironmentPtr& environment);
/// [{$set: …}, {$unset: …}]
Result<std::unique_ptr<const Update>> ParsePipeline(bson::View stages, const Update::Options& options,
                                                    const EnvironmentPtr& environment);

/// The document that the equalities of the filter describe: $eq, implicit equality, inside $and, $or with one branch
/// and $in or $all with one value. kNotSingleValueField if a path is given twice or inside another.
Result<bson::Document> BaseFromFilter(const query::Filter& filter);

/// For replacements only _id counts; {} if the filter does not fix it. Location(111) if it fixes only a part of it.
Result<bson::Document> IdFromFilter(const query::Filter& filter);

}  // namespace braid::update
