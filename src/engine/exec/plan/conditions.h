// Conditions: splits a filter into conjuncts and conditions on single paths, and decides what a condition implies:
// whether it excludes documents without the field, and whether a partial index contains every document that meets it.
#pragma once

#include <string>
#include <vector>

#include "engine/bson/collation.h"
#include "engine/language/match/match_node.h"

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

/// True if no document without the field (missing) can meet the condition.
bool ExcludesMissing(const MatchNode& node);

/// True only if every document that meets `query` meets `partial`; false if that is not obvious. `same_collation` says
/// whether both compare strings alike, by `collation`.
bool Implies(const MatchNode& query, const MatchNode& partial, bool same_collation, const bson::Collation* collation);

}  // namespace braid::query::plan
