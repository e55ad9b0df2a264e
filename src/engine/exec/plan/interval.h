// Interval: a range of values of one index field, as values for explain and as bytes for the scan. Type brackets are
// the intervals of all values that compare with each other: a comparison with a number meets numbers only, one with a
// string strings only, and so on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/bson/collation.h"
#include "engine/bson/value.h"

namespace braid::query::plan {

/// Low to high. `begin` and `end` are the same stretch as a half-open range of ascending key encodings: since no
/// encoding is a prefix of another, all set operations are operations on these bytes.
struct Interval {
  bson::OwnedValue low;
  bson::OwnedValue high;
  bool low_inclusive = true;
  bool high_inclusive = true;
  std::string begin;
  std::string end;

  static Interval Make(const bson::Value& low, bool low_inclusive, const bson::Value& high, bool high_inclusive,
                       const bson::Collation* collation);
  static Interval Point(const bson::Value& value, const bson::Collation* collation);
  /// MinKey to MaxKey.
  static Interval All();

  bool empty() const { return begin >= end; }
  bool IsPoint() const;
  bool IsAll() const;
  /// As explain shows it: "[1, 5)"; reversed: "(5, 1]".
  std::string ToString(bool reversed) const;
};

/// Sorted, disjoint, none empty.
using Intervals = std::vector<Interval>;

/// Sorts and merges what overlaps or touches.
Intervals Normalize(Intervals intervals);
Intervals Intersect(const Intervals& a, const Intervals& b);
/// Everything between MinKey and MaxKey that is not in `intervals`.
Intervals Complement(const Intervals& intervals);
inline bool IsAll(const Intervals& intervals) { return intervals.size() == 1 && intervals[0].IsAll(); }

/// Every value that compares with values of `type`; nothing for types whose comparisons have rules of their own
/// (arrays, MinKey, MaxKey, regular expressions, code). Null's bracket holds undefined too: what a missing field is
/// indexed as. A number's leaves out NaN, which meets no inequality.
std::optional<Interval> BracketOf(bson::Type type, const bson::Collation* collation);

/// True if the order or equality of such values depends on a collation: strings and what may hold them.
bool IsCollatable(const bson::Value& value);

}  // namespace braid::query::plan
