// Functions that operations share, and the table of the operators.
#include "engine/language/update/operators.h"

#include <algorithm>

#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/language/update/update.h"

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

Status Operation::DeadEnd(const bson::Value& element, std::string_view part, const ApplyContext& context) const {
  return {Code::kPathNotViable,
          StrCat("Path '", path_, "' cannot be followed in document ", IdText(context), ": there is no field '", part,
                 "' in a value of type ", bson::TypeName(element.type()))};
}

std::string IdText(const ApplyContext& context) {
  const bson::Value id = context.before.Find("_id");
  return id.missing() ? "{no _id}" : StrCat("{_id: ", bson::ToShell(id), "}");
}

int Depth(const bson::Value& value) {
  if (!value.Is(bson::Type::kObject) && !value.Is(bson::Type::kArray)) return 0;
  int deepest = 0;
  for (const bson::Element& element : value.AsView()) deepest = std::max(deepest, Depth(element.value));
  return deepest + 1;
}

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
