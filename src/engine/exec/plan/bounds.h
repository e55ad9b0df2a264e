// Bounds: the intervals of an index field in which a condition can be met.
#pragma once

#include <optional>

#include "engine/exec/plan/interval.h"
#include "engine/language/match/match_node.h"

namespace braid::query::plan {

/// The relevant properties of the index field.
struct FieldTraits {
  const bson::Collation* collation = nullptr;  // of the index
  bool same_collation = true;                  // as the query's: strings may be compared
  bool hashed = false;
  bool multikey = false;
  bool never_undefined = false;  // no document has the value undefined there: a shard key
};

struct FieldBounds {
  Intervals intervals;
  /// True: an entry within the intervals is a match, no need to look at the document. False: it may be one.
  bool exact = false;
};

/// The bounds of one condition (a leaf, a $not of a leaf, or $elemMatch on values); nothing if an index does not help.
/// Every document that meets the condition has an entry within the intervals.
std::optional<FieldBounds> BoundsOf(const MatchNode& node, const FieldTraits& field);

}  // namespace braid::query::plan
