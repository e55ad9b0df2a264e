#include "engine/query/project/projection.h"

#include "engine/bson/builder.h"
#include "engine/query/project/projection_plan.h"

namespace braid::query {
namespace {

ProjectionPtr MakeProjection(ProjectionPlan plan) {
  plan.root.Seal();
  if (ProjectionPtr flat = MakeFlatProjection(plan)) return flat;
  return MakeTreeProjection(std::move(plan));
}

Status AppendUnset(const bson::Value& path, bson::Builder* out) {
  if (!path.Is(bson::Type::kString)) return {Location(31120), "$unset takes a string or an array of strings only"};
  if (path.AsString().find('\0') != std::string_view::npos)
    return {Location(16411), "a path of $unset contains a NUL byte"};
  out->Append(path.AsString(), false);
  return {};
}

}  // namespace

Result<ProjectionPtr> Projection::Parse(bson::View specification, Use use, const Filter* filter,
                                        std::shared_ptr<const Environment> environment) {
  if (use == Use::kAddFields) {
    BRAID_TRY(ProjectionPlan plan, ParseAddFields(specification, std::move(environment)));
    return MakeProjection(std::move(plan));
  }
  BRAID_TRY(ProjectionPlan plan, ParseProjection(specification, use, filter, std::move(environment)));
  return MakeProjection(std::move(plan));
}

Result<ProjectionPtr> Projection::ParseUnset(const bson::Value& specification,
                                             std::shared_ptr<const Environment> environment) {
  bson::Builder exclusion;
  if (specification.Is(bson::Type::kArray)) {
    if (specification.AsView().empty()) return Status(Location(31119), "$unset needs at least one field");
    for (const bson::Element& path : specification.AsView()) BRAID_CHECK_OK(AppendUnset(path.value, &exclusion));
  } else if (specification.Is(bson::Type::kString)) {
    BRAID_CHECK_OK(AppendUnset(specification, &exclusion));
  } else {
    return Status(Location(31002), "$unset takes a string or an array of strings");
  }
  return Parse(exclusion.Finish(), Use::kProject, nullptr, std::move(environment));
}

}  // namespace braid::query
