// IndexPath: a path through one index: bounds for each field, and the conditions that remain to be checked.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/catalog/index.h"
#include "engine/exec/plan/conditions.h"
#include "engine/exec/plan/hint.h"
#include "engine/exec/plan/interval.h"
#include "engine/language/match/sort_pattern.h"

namespace braid::query::plan {

struct IndexPath {
  std::shared_ptr<const catalog::Index> index;
  bool clustered = false;  // the _id index: the documents themselves are in its order
  uint64_t multikey = 0;   // as it was when the path was made
  std::vector<Intervals> fields;
  std::vector<const MatchNode*> residual;  // conjuncts of the filter that entries within the bounds may not meet
  std::optional<KeyLimits> limits;
  bool backward = false;

  const bson::Collation* collation() const { return clustered ? nullptr : index->spec.collation.get(); }
  /// No entry can match.
  bool empty() const;
  /// Leading fields that are fixed to a single value.
  size_t equalities() const;
  /// Leading fields with bounds of any kind.
  size_t bounded() const;
};

/// The bounds that the conditions give. Among arrays a field takes its bounds from one condition only, since another
/// element may meet the other one; fields below one array only if one $elemMatch on that array asks for both.
IndexPath MakeIndexPath(std::shared_ptr<const catalog::Index> index, const Conditions& conditions,
                        const bson::Collation* query_collation);

/// Whether walking the path gives the order: 1 forward, -1 backward, 0 not at all.
int SortDirection(const IndexPath& path, const SortPattern& sort, const bson::Collation* query_collation);

/// True if the index holds every document that the filter can match: sparse and partial indexes leave some out.
bool HoldsAllMatches(const catalog::Index& index, const MatchNode& filter, const Conditions& conditions,
                     const bson::Collation* query_collation);

/// keyPattern, indexName, … indexBounds, as explain shows them.
void DescribeIndex(const IndexPath& path, bson::Builder& out);

}  // namespace braid::query::plan
