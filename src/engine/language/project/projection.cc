// Projection: parsing, and the two forms that a projection takes. A flat one shows or hides whole top-level fields:
// neighbours that are shown are copied as one run of bytes. A tree has any shape: paths through documents and arrays,
// computed fields, $slice, $elemMatch and the positional operator.
#include "engine/language/project/projection.h"

#include <algorithm>

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/language/project/projection_node.h"
#include "engine/language/project/projection_walk.h"

namespace braid::query {
namespace {

constexpr size_t kInclusionBytes = 256;  // enough for most projections, and little to waste

class FlatProjection : public Projection {
 public:
  FlatProjection(bool includes, std::vector<std::string> names)
      : includes_(includes),
        names_(std::move(names)),
        index_({names_.begin(), names_.end()}),
        needed_(names_.begin(), names_.end()) {}

  Result<bson::Document> Apply(bson::View document, bson::Arena&) const override {
    std::string out;
    out.reserve(includes_ ? std::min<size_t>(document.size(), kInclusionBytes) : document.size());
    out.append(4, '\0');

    const char* run = document.data() + 4;  // what is between here and the current field is shown
    size_t named_left = index_.size();
    auto it = document.begin();
    const auto end = document.end();
    for (; it != end && named_left > 0; ++it) {
      const bool named = index_.Find(it->name) >= 0;
      named_left -= named ? 1 : 0;
      if (named == includes_) continue;
      out.append(run, it.raw().data());
      run = it.raw().data() + it.raw().size();
    }
    const char* const terminator = document.data() + document.size() - 1;
    out.append(run, includes_ && it != end ? it.raw().data() : terminator);

    out.push_back('\0');
    const auto size = static_cast<uint32_t>(out.size());
    std::memcpy(out.data(), &size, sizeof(size));
    return bson::Document(std::move(out));
  }

  const std::set<std::string>* needed_paths() const override { return includes_ ? &needed_ : nullptr; }
  bool identity() const override { return !includes_ && names_.empty(); }

 private:
  const bool includes_;
  const std::vector<std::string> names_;
  const FieldIndex index_;  // over names_
  const std::set<std::string> needed_;
};

/// The paths of the document that a node reads. The empty path stands for the whole document.
void CollectPaths(const ProjectionNode& node, const std::string& path, std::set<std::string>* paths) {
  switch (node.kind) {
    case ProjectionNode::Kind::kExclude: return;
    case ProjectionNode::Kind::kComputed: return node.expression->CollectPaths(paths);
    case ProjectionNode::Kind::kPositional: paths->insert(""); return;  // the filter is matched again
    case ProjectionNode::Kind::kInclude:
    case ProjectionNode::Kind::kSlice:
    case ProjectionNode::Kind::kElemMatch: paths->insert(path); return;
    case ProjectionNode::Kind::kPath: break;
  }
  if (node.computes && !path.empty()) paths->insert(path);  // computed fields follow the shape of what is there
  for (const auto& child : node.children) {
    CollectPaths(*child, path.empty() ? child->name : StrCat(path, ".", child->name), paths);
  }
}

class TreeProjection : public Projection {
 public:
  explicit TreeProjection(ProjectionPlan plan) : plan_(std::move(plan)) { CollectPaths(plan_.root, "", &needed_); }

  Result<bson::Document> Apply(bson::View document, bson::Arena& arena) const override {
    std::string buffer;
    if (plan_.mode != ProjectionPlan::Mode::kInclusion) buffer.reserve(document.size() + 64);
    bson::Builder out(std::move(buffer));
    BRAID_CHECK_OK(ProjectionWalk(plan_, document, arena, out).Run());
    return out.Finish();
  }

  const std::set<std::string>* needed_paths() const override {
    return plan_.mode == ProjectionPlan::Mode::kInclusion && !needed_.contains("") ? &needed_ : nullptr;
  }
  bool positional() const override { return plan_.root.positional; }

 private:
  const ProjectionPlan plan_;
  std::set<std::string> needed_;
};

/// Null if the plan asks for more than whole top-level fields.
ProjectionPtr MakeFlatProjection(const ProjectionPlan& plan) {
  if (plan.mode == ProjectionPlan::Mode::kAddition) return nullptr;
  const bool includes = plan.mode == ProjectionPlan::Mode::kInclusion;
  const auto wanted = includes ? ProjectionNode::Kind::kInclude : ProjectionNode::Kind::kExclude;
  std::vector<std::string> names;
  for (const auto& child : plan.root.children) {
    if (child->kind != wanted) return nullptr;
    names.push_back(child->name);
  }
  return std::make_unique<FlatProjection>(includes, std::move(names));
}

ProjectionPtr MakeProjection(ProjectionPlan plan) {
  plan.root.Seal();
  if (ProjectionPtr flat = MakeFlatProjection(plan)) return flat;
  return std::make_unique<TreeProjection>(std::move(plan));
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
