// PipelineHost: what the stages of a pipeline get from the server: reports, $out and $merge.
#pragma once

#include <memory>

#include "engine/query/pipeline/pipeline.h"

namespace braid::commands {

struct EngineParts;

std::shared_ptr<query::PipelineHost> MakePipelineHost(EngineParts& engine, catalog::Namespace ns,
                                                      bool bypass_validation);

}  // namespace braid::commands
