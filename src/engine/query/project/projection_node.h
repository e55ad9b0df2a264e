// ProjectionNode: the parsed form of a projection, a tree of field names. What a parser makes and TreeProjection walks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/query/expression/expression.h"
#include "engine/query/match/filter.h"
#include "engine/query/project/field_index.h"
#include "engine/query/project/slice.h"

namespace braid::query {

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

  std::vector<std::unique_ptr<ProjectionNode>> children;  // kPath, in the order of the specification
  SliceRange slice;                                       // kSlice
  std::optional<Filter> condition;                        // kElemMatch: {name: {$elemMatch: …}}
  ExpressionPtr expression;                               // kComputed

  // Set by Seal().
  FieldIndex index;         // over the names of `children`
  bool computes = false;    // kComputed or kElemMatch is here or below
  bool positional = false;  // kPositional is here or below

  ProjectionNode* Child(std::string_view child_name) const;
  /// The child that shows what the document has under this name; null if there is none. After Seal() only.
  int32_t Find(std::string_view child_name) const { return index.Find(child_name); }

  /// Puts `leaf` at a (checked) path below this node. Location(31250) if the path is there already or goes on,
  /// Location(31249) if a part of it is a leaf.
  Status Add(std::string_view path, std::unique_ptr<ProjectionNode> leaf);
  /// The inner node at a (checked) path, made if there is none; fails as Add does.
  Result<ProjectionNode*> Inner(std::string_view path);
  /// Drops the child of that name, if any.
  void Remove(std::string_view child_name);

  /// Ends the building: fills what walking needs, here and below.
  void Seal();
};

/// A leaf that needs nothing but its kind.
std::unique_ptr<ProjectionNode> MakeLeaf(ProjectionNode::Kind kind);
/// A leaf that evaluates an expression.
std::unique_ptr<ProjectionNode> MakeComputed(ExpressionPtr expression);

}  // namespace braid::query
