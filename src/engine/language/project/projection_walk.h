// ProjectionWalk: one document through a tree projection.
#pragma once

#include <optional>

#include "engine/bson/arena.h"
#include "engine/bson/builder.h"
#include "engine/language/project/projection_node.h"

namespace braid::query {

/// Lives for one Apply(). Writes the shown document into `out`, whose top level is open. Everything it is given must
/// outlive it.
class ProjectionWalk {
 public:
  ProjectionWalk(const ProjectionPlan& plan, bson::View document, bson::Arena& arena, bson::Builder& out)
      : plan_(plan),
        document_(document),
        arena_(arena),
        out_(out),
        keeps_rest_(plan.mode != ProjectionPlan::Mode::kInclusion) {}

  Status Run() { return Object(plan_.root, document_, {}); }

 private:
  /// State that is passed down the tree.
  struct Scope {
    bool slices = true;      // $slice does not reach into an array that lies directly in an array
    bool positional = true;  // the positional operator means the first array on its path only
  };
  class Seen;

  Status Object(const ProjectionNode& node, bson::View object, Scope scope);
  Status Array(const ProjectionNode& node, bson::View array, Scope scope);
  Status Field(const ProjectionNode& node, const bson::View::Iterator& field, Scope scope);
  Status PathField(const ProjectionNode& node, const bson::View::Iterator& field, Scope scope);
  Status ArrayElement(const ProjectionNode& node, const bson::Value& value, Scope scope);
  Status MatchedElement(const ProjectionNode& node, bson::View array, Scope scope);
  /// Appends the values that the children of `node` compute, except those already seen.
  Status Computed(const ProjectionNode& node, const Seen* seen);
  Status ComputedField(const ProjectionNode& node);
  Status ElemMatch(const ProjectionNode& node);
  /// The index of the array element that the find's filter met.
  Result<int> MatchedIndex();

  const ProjectionPlan& plan_;
  const bson::View document_;
  bson::Arena& arena_;
  bson::Builder& out_;
  const bool keeps_rest_;  // fields that the tree does not name are shown
};

}  // namespace braid::query
