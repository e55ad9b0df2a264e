#include "engine/update/operators.h"

#include <algorithm>

#include "engine/update/update.h"

namespace braid::update {
namespace {

constexpr Operator kOperators[] = {
    {"$addToSet", ParseAddToSet},
    {"$bit", ParseBit},
    {"$currentDate", ParseCurrentDate},
    {"$inc", ParseInc},
    {"$max", ParseMax},
    {"$min", ParseMin},
    {"$mul", ParseMul},
    {"$pop", ParsePop},
    {"$pull", ParsePull},
    {"$pullAll", ParsePullAll},
    {"$push", ParsePush},
    {"$rename", ParseRename},
    {"$set", ParseSet},
    {"$setOnInsert", ParseSetOnInsert},
    {"$unset", ParseUnset},
};
static_assert(std::ranges::is_sorted(kOperators, {}, &Operator::name));

}  // namespace

std::span<const Operator> Operators() { return kOperators; }

const Operator* FindOperator(std::string_view name) {
  const Operator* at = std::ranges::lower_bound(kOperators, name, {}, &Operator::name);
  return at != std::end(kOperators) && at->name == name ? at : nullptr;
}

query::OperatorNames UpdateOperators() {
  query::OperatorNames names;
  for (const Operator& op : kOperators) names.supported.push_back(op.name);
  return names;
}

}  // namespace braid::update
