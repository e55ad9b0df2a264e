// PipelineHost: the server's side of pipeline stages: reports, $out and $merge.
#pragma once

#include <memory>

#include "engine/commands/shared/statements.h"
#include "engine/exec/pipeline/pipeline.h"

namespace braid::commands {

struct EngineParts;

std::shared_ptr<query::PipelineHost> MakePipelineHost(EngineParts& engine, catalog::Namespace ns,
                                                      bool bypass_validation);

/// $merge (merge.cc). `specification` is the stage's: {into, on, let, whenMatched, whenNotMatched}, checked by the
/// pipeline.
Status MergeDocument(Call& call, const catalog::Namespace& target, bson::View document, bson::View specification,
                     const txn::WriteOptions& options);

/// Where `into` points: a collection of `database`, or {db, coll}.
Result<catalog::Namespace> MergeTarget(const bson::Value& into, std::string_view database);

/// The fields of `on` (default _id) must be those of a unique index, else Location(51183).
Status CheckMergeKey(const catalog::Catalog& catalog, const catalog::Namespace& target, bson::View specification);

}  // namespace braid::commands
