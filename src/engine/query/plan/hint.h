// Hints: the index that a query names, and min / max, which need one.
#pragma once

#include <memory>
#include <optional>

#include "engine/query/plan/executor.h"
#include "engine/query/plan/index_path.h"

namespace braid::query::plan {

struct Hint {
  std::shared_ptr<const catalog::Index> index;  // null: none named
  int natural = 0;                              // 1, -1: walk the collection
  std::optional<KeyLimits> limits;
};

/// kBadValue for a hint that names no usable index; 51173, 51174, 51175, 51176 for min and max.
Result<Hint> ResolveHint(const Query& query);

}  // namespace braid::query::plan
