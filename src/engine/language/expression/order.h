// Shared by $sortArray, $topN and similar operators: an order by field paths, and the operand `n`.
#pragma once

#include <string>
#include <vector>

#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::bson {
class Collation;
}

namespace braid::query {

/// {a: 1, "b.c": -1}, or 1 / -1 for the values themselves. A path that leads nowhere counts as null.
class ValueOrder {
 public:
  /// `whole`: a plain 1 or -1 is allowed. Location(15975) for a direction that is neither, Location(15976) for no
  /// field.
  static Result<ValueOrder> Parse(const bson::Value& spec, bool whole);
  int Compare(const bson::Value& a, const bson::Value& b, const bson::Collation* collation) const;
  const std::vector<std::pair<std::string, int>>& parts() const { return parts_; }
  /// The same directions over fields "0", "1", …: for keys that have been taken out already.
  ValueOrder Numbered() const;

 private:
  std::vector<std::pair<std::string, int>> parts_;  // a path ("" is the value itself) and its direction
};

/// The `n` of $firstN and its kin: an integer above 0.
Result<size_t> PositiveN(std::string_view name, const bson::Value& value);

}  // namespace braid::query
