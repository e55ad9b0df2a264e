// Hints: the index that a query names, and min and max, which need one.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/exec/plan/plan.h"

namespace braid::query::plan {

/// min and max of a find: keys of the whole pattern, from `min` up to but without `max`.
struct KeyLimits {
  std::optional<bson::Document> min;
  std::optional<bson::Document> max;
};

/// The key of min or max in an index whose pattern it fits.
std::string EncodeLimit(const catalog::IndexSpec& spec, bson::View limit);

struct Hint {
  std::shared_ptr<const catalog::Index> index;  // null: none named
  int natural = 0;                              // 1, -1: walk the collection
  std::optional<KeyLimits> limits;
};

/// kBadValue for a hint that names no usable index; 51173, 51174, 51175, 51176 for min and max.
Result<Hint> ResolveHint(const Query& query);

}  // namespace braid::query::plan
