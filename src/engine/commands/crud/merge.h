// $merge: one document of a pipeline's result into a collection.
#pragma once

#include "engine/commands/crud/change.h"

namespace braid::commands {

/// `specification` is the stage's: {into, on, let, whenMatched, whenNotMatched}, checked by the pipeline.
Status MergeDocument(Call& call, const catalog::Namespace& target, bson::View document, bson::View specification,
                     const txn::WriteOptions& options);

/// Where `into` points: a collection of `database`, or {db, coll}.
Result<catalog::Namespace> MergeTarget(const bson::Value& into, std::string_view database);

/// The fields of `on` (default _id) must be those of a unique index, else Location(51183).
Status CheckMergeKey(const catalog::Catalog& catalog, const catalog::Namespace& target, bson::View specification);

}  // namespace braid::commands
