// A projection of any shape: paths through documents and arrays, computed fields, $slice, $elemMatch and the positional
// operator.

#include "base/strings.h"
#include "engine/query/project/projection_walk.h"

namespace braid::query {
namespace {

/// What a node reads of the document. The empty path stands for all of it.
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

}  // namespace

ProjectionPtr MakeTreeProjection(ProjectionPlan plan) { return std::make_unique<TreeProjection>(std::move(plan)); }

}  // namespace braid::query
