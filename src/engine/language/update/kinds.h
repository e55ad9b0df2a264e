// The three kinds of updates; Update::Parse chooses.
#pragma once

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

}  // namespace braid::update
