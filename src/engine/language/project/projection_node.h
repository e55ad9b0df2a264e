// ProjectionPlan: the parsed form of a projection, a tree of field names (ProjectionNode) with the mode it is read in.
// The parsers make it; projection.cc and ProjectionWalk run it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "braid/status.h"
#include "engine/bson/builder.h"
#include "engine/bson/value.h"
#include "engine/language/expression/expression.h"
#include "engine/language/match/filter.h"
#include "engine/language/project/field_index.h"
#include "engine/language/project/projection.h"

namespace braid::query {

/// $slice of find: a part of an array, {$slice: n} or {$slice: [skip, n]} (slice.cc).
struct SliceRange {
  std::optional<int32_t> skip;  // negative: from the end
  int32_t limit = 0;            // negative (only without skip): the last ones
};

/// A number, or [number, positive number]. Codes as MongoDB's: 31272, 31257, 31258, 31259, 31273.
Result<SliceRange> ParseSlice(const bson::Value& argument);

/// Appends the part of the array under `name`.
void AppendSlice(std::string_view name, bson::View array, const SliceRange& range, bson::Builder* out);

/// OK, or MongoDB's code for the fault: 40352 empty, 40353 trailing dot, 15998 empty component, 16410 leading '$',
/// 16411 NUL, kOverflow.
Status CheckProjectionPath(std::string_view path);

/// The first component of a dotted path; takes it (and its dot) off the path.
inline std::string_view TakeComponent(std::string_view* path) {
  const size_t dot = path->find('.');
  const std::string_view component = path->substr(0, dot);
  path->remove_prefix(dot == std::string_view::npos ? path->size() : dot + 1);
  return component;
}

struct ProjectionNode {
  enum class Kind {
    kPath,  // goes on with `children`
    kInclude,
    kExclude,
    kSlice,
    kElemMatch,   // the first element that `condition` holds for
    kPositional,  // the element that the find's filter met
    kComputed,
  };
  Kind kind = Kind::kPath;
  std::string name;  // one component; empty at the root

  std::vector<std::unique_ptr<ProjectionNode>> children;          // kPath, in the order of the specification
  std::unordered_map<std::string_view, ProjectionNode*> by_name;  // the same, by their names
  SliceRange slice;                                               // kSlice
  std::optional<Filter> condition;                                // kElemMatch: {name: {$elemMatch: …}}
  ExpressionPtr expression;                                       // kComputed

  // Set by Seal().
  FieldIndex index;         // over the names of `children`
  bool computes = false;    // kComputed or kElemMatch is here or below
  bool positional = false;  // kPositional is here or below

  ProjectionNode* Child(std::string_view child_name) const;
  /// The child for the document's field of this name; null if there is none. After Seal() only.
  int32_t Find(std::string_view child_name) const { return index.Find(child_name); }

  /// Puts `leaf` at a (checked) path below this node. Location(31250) if the path is there already or goes on,
  /// Location(31249) if a part of it is a leaf.
  Status Add(std::string_view path, std::unique_ptr<ProjectionNode> leaf);
  /// The inner node at a (checked) path, made if there is none; fails as Add does.
  Result<ProjectionNode*> Inner(std::string_view path);
  /// Drops the child of that name, if any.
  void Remove(std::string_view child_name);

  /// Completes the tree: fills the fields that walking needs, here and below.
  void Seal();
};

/// A leaf that needs nothing but its kind.
std::unique_ptr<ProjectionNode> MakeLeaf(ProjectionNode::Kind kind);
/// A leaf that evaluates an expression.
std::unique_ptr<ProjectionNode> MakeComputed(ExpressionPtr expression);

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

/// The parsers of the languages of find and $project, and of $addFields.
Result<ProjectionPlan> ParseProjection(bson::View specification, Projection::Use use, const Filter* filter,
                                       std::shared_ptr<const Environment> environment);
Result<ProjectionPlan> ParseAddFields(bson::View specification, std::shared_ptr<const Environment> environment);

}  // namespace braid::query
