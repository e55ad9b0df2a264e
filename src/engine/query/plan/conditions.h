// Conditions: a filter taken apart into what must hold at once, and into conditions on single paths.
#pragma once

#include <string>
#include <vector>

#include "engine/query/match/match_node.h"

namespace braid::query::plan {

/// A condition on one path. `node` is a leaf, a $not of a leaf, or $elemMatch on values.
struct Condition {
  std::string path;
  const MatchNode* node = nullptr;
  size_t conjunct = 0;               // which of the filter's conjuncts it belongs to
  const MatchNode* scope = nullptr;  // the innermost $elemMatch around it; null: none
  std::string scope_path;
};

/// A filter as an AND. Views of the filter's nodes: does not outlive it.
struct Conditions {
  std::vector<const MatchNode*> conjuncts;
  std::vector<Condition> list;

  static Conditions Of(const MatchNode& root);
  void Add(const MatchNode& node);
};

}  // namespace braid::query::plan
