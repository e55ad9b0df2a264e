// LeafNode: the common base of the nodes with a path. A node gives Test(value); the walk over the path is inlined
// around it.
#pragma once

#include <string_view>
#include <utility>

#include "engine/bson/builder.h"
#include "engine/language/match/match_node.h"
#include "engine/language/match/path.h"

namespace braid::query {

/// What a Test may report besides its result.
struct Trial {
  MatchDetails* details;  // null: not asked for
  Status error;           // the walk ends at the first error
};

/// Derived has `bool Test(const bson::Value& value, Trial& trial) const` (true also ends the walk on an error) and
/// AppendCondition.
template <typename Derived, Leaf kLeaf = Leaf::kElements>
class LeafNode : public MatchNode {
 public:
  LeafNode(MatchOp op, std::string_view path) : MatchNode(op), path_(path) {}
  std::string_view path() const final { return path_.text(); }

  Result<bool> Matches(bson::View document, MatchDetails* details) const final {
    Trial trial{details, {}};
    const bool matched = WalkPath(path_, document, kLeaf, [&](const bson::Value& value, int array_index) {
      if (!self().Test(value, trial)) return false;
      if (details != nullptr && array_index >= 0) details->array_index = array_index;
      return true;
    });
    if (!trial.error.ok()) return std::move(trial.error);
    return matched;
  }
  Result<bool> MatchesElement(const bson::Value& element) const final {
    Trial trial{nullptr, {}};
    const bool matched = self().Test(element, trial);
    if (!trial.error.ok()) return std::move(trial.error);
    return matched;
  }
  void AppendTo(bson::Builder& out) const final {
    out.OpenObject(path());
    self().AppendCondition(out);
    out.Close();
  }

 private:
  const Derived& self() const { return static_cast<const Derived&>(*this); }
  FieldPath path_;
};

}  // namespace braid::query
