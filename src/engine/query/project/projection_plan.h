// ProjectionPlan: what the parsers of projections hand over, and how it becomes the Projection that fits it best.
#pragma once

#include <memory>
#include <optional>

#include "engine/query/project/projection.h"
#include "engine/query/project/projection_node.h"

namespace braid::query {

struct ProjectionPlan {
  enum class Mode {
    kInclusion,  // only what the tree names
    kExclusion,  // everything but what the tree names
    kAddition    // everything, and what the tree computes
  };
  Mode mode = Mode::kExclusion;
  ProjectionNode root;
  std::optional<Filter> filter;  // of the find, if the projection is positional
  std::shared_ptr<const Environment> environment;
};

using ProjectionPtr = std::unique_ptr<const Projection>;

/// Whole top-level fields only: one pass over the raw bytes. Null if the plan asks for more.
ProjectionPtr MakeFlatProjection(const ProjectionPlan& plan);
/// Any plan.
ProjectionPtr MakeTreeProjection(ProjectionPlan plan);

/// Each language's parser.
Result<ProjectionPlan> ParseProjection(bson::View specification, Projection::Use use, const Filter* filter,
                                       std::shared_ptr<const Environment> environment);
Result<ProjectionPlan> ParseAddFields(bson::View specification, std::shared_ptr<const Environment> environment);

}  // namespace braid::query
