// Sort patterns are compared field by field; dotted paths go through documents and, by index, through arrays.
#include "engine/language/expression/order.h"

#include "base/assert.h"
#include "base/strings.h"
#include "engine/bson/arena.h"
#include "engine/bson/compare.h"
#include "engine/bson/number.h"
#include "engine/language/expression/operators.h"

namespace braid::query {

using bson::Type;
using bson::Value;

namespace {

Result<int> DirectionOf(const Value& value) {
  if (!value.IsNumber()) return Status(Location(15974), "Illegal key in $sort specification: not a number");
  const std::optional<int64_t> direction = bson::Number::Of(value).ToInt64Exact();
  if (direction == 1 || direction == -1) return static_cast<int>(*direction);
  return Status(Location(15975), "$sort key ordering must be 1 (for ascending) or -1 (for descending)");
}

Value Extract(Value value, std::string_view path) {
  while (true) {
    if (!value.Is(Type::kObject) && !value.Is(Type::kArray)) return bson::Arena::Null();
    const size_t dot = path.find('.');
    value = value.AsView().Find(path.substr(0, dot));
    if (value.missing()) return bson::Arena::Null();
    if (dot == std::string_view::npos) return value;
    path.remove_prefix(dot + 1);
  }
}

}  // namespace

Result<ValueOrder> ValueOrder::Parse(const Value& spec, bool whole) {
  ValueOrder pattern;
  if (whole && spec.IsNumber()) {
    BRAID_TRY(int direction, DirectionOf(spec));
    pattern.parts_.emplace_back("", direction);
    return pattern;
  }
  if (!spec.Is(Type::kObject)) return Status(Location(2942507), "the sort must be an object of field: 1 or -1");
  for (const bson::Element& field : spec.AsView()) {
    BRAID_CHECK_OK(CheckFieldPath(field.name));
    BRAID_TRY(int direction, DirectionOf(field.value));
    pattern.parts_.emplace_back(field.name, direction);
  }
  if (pattern.parts_.empty()) return Status(Location(15976), "the sort must have at least one field");
  return pattern;
}

ValueOrder ValueOrder::Numbered() const {
  ValueOrder numbered;
  for (const auto& part : parts_) numbered.parts_.emplace_back(StrCat(numbered.parts_.size()), part.second);
  return numbered;
}

int ValueOrder::Compare(const Value& a, const Value& b, const bson::Collation* collation) const {
  BRAID_ASSERT(!parts_.empty());  // it was parsed: an order by nothing would make all values equal
  for (const auto& [path, direction] : parts_) {
    const int order =
        path.empty() ? bson::Compare(a, b, collation) : bson::Compare(Extract(a, path), Extract(b, path), collation);
    if (order != 0) return direction * order;
  }
  return 0;
}

Result<size_t> PositiveN(std::string_view name, const Value& value) {
  std::optional<int64_t> n;
  if (value.IsNumber()) n = bson::Number::Of(value).ToInt64Exact();
  if (!value.IsNumber()) {
    return Status(Location(5787902),
                  StrCat(name, ": value for 'n' must be of integral type, but found ", bson::TypeName(value.type())));
  }
  if (!n) return Status(Location(5787903), StrCat(name, ": value for 'n' must be of integral type"));
  if (*n <= 0) return Status(Location(5787908), StrCat("'n' must be greater than 0, found ", *n));
  return static_cast<size_t>(*n);
}

}  // namespace braid::query
