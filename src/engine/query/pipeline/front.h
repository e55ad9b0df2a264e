// The front of a pipeline: the stages that become one query for the planner.
#pragma once

#include "engine/query/pipeline/stage.h"

namespace braid::query::pipeline {

/// Takes the stages that join a query off the front of `stages`, and adds to the query what the rest needs to read.
Result<Query> TakeFront(const PipelineOptions& options, std::vector<StagePtr>* stages);

/// Tells every $sort how many documents the stages behind it let through.
void NoteWindows(const std::vector<StagePtr>& stages);

}  // namespace braid::query::pipeline
