// Whole numbers and names of types.
#include "engine/language/match/operands.h"

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"

namespace braid::query {
namespace {

using bson::Type;

struct Alias {
  std::string_view name;
  Type type;
};

// Sorted, checked below.
constexpr Alias kAliases[] = {
    {"array", Type::kArray},         {"binData", Type::kBinary},
    {"bool", Type::kBool},           {"date", Type::kDate},
    {"dbPointer", Type::kDbPointer}, {"decimal", Type::kDecimal128},
    {"double", Type::kDouble},       {"int", Type::kInt32},
    {"javascript", Type::kCode},     {"javascriptWithScope", Type::kCodeWScope},
    {"long", Type::kInt64},          {"maxKey", Type::kMaxKey},
    {"minKey", Type::kMinKey},       {"null", Type::kNull},
    {"object", Type::kObject},       {"objectId", Type::kObjectId},
    {"regex", Type::kRegex},         {"string", Type::kString},
    {"symbol", Type::kSymbol},       {"timestamp", Type::kTimestamp},
    {"undefined", Type::kUndefined},
};
static_assert(std::is_sorted(std::begin(kAliases), std::end(kAliases),
                             [](auto& a, auto& b) { return a.name < b.name; }));

const Alias* FindAlias(std::string_view name) {
  const Alias* it = std::lower_bound(std::begin(kAliases), std::end(kAliases), name,
                                     [](const Alias& alias, std::string_view key) { return alias.name < key; });
  return it != std::end(kAliases) && it->name == name ? it : nullptr;
}

}  // namespace

Result<int64_t> NonNegativeInteger(std::string_view name, const bson::Value& value) {
  const auto fail = [&](std::string_view what) {
    return Status(Code::kFailedToParse, StrCat(what, name, ": ", bson::ToShell(value)));
  };
  const auto number = bson::NumberOf(value);
  if (!number) return fail("Expected a number in: ");
  const auto integer = number->ToInt64Exact();
  if (!integer) {
    const double approximate = number->ToDouble();
    const bool fits = approximate >= -0x1p63 && approximate < 0x1p63;
    return fail(fits ? "Expected an integer: " : "Cannot represent as a 64-bit integer: ");
  }
  if (*integer < 0) return fail("Expected a non-negative number in: ");
  return *integer;
}

void TypeSet::AddNumbers() {
  for (Type type : {Type::kDouble, Type::kInt32, Type::kInt64, Type::kDecimal128}) Add(type);
}

Status TypeSet::AddNamed(const bson::Value& name) {
  if (name.Is(Type::kString)) {
    if (name.AsString() == "number") {
      AddNumbers();
    } else if (const Alias* alias = FindAlias(name.AsString())) {
      Add(alias->type);
    } else {
      return Status(Code::kBadValue, StrCat("Unknown type name alias: ", name.AsString()));
    }
    return {};
  }
  const auto number = bson::NumberOf(name);
  if (!number) return Status(Code::kTypeMismatch, "type must be represented as a number or a string");
  const int64_t code = number->ToInt64Exact().value_or(-2);
  if (code == 0) return Status(Code::kBadValue, "Invalid numerical type code: 0. Instead use {$exists:false}.");
  if (!(code >= 1 && code <= 19) && code != 127 && code != 255 && code != -1) {
    return Status(Code::kBadValue, StrCat("Invalid numerical type code: ", bson::ToShell(name)));
  }
  Add(static_cast<Type>(static_cast<uint8_t>(code)));
  return {};
}

Result<TypeSet> TypeSet::Parse(const bson::Value& names) {
  TypeSet set;
  if (!names.Is(Type::kArray)) {
    BRAID_CHECK_OK(set.AddNamed(names));
    return set;
  }
  for (const bson::Element& name : names.AsView()) BRAID_CHECK_OK(set.AddNamed(name.value));
  if (set.empty()) return Status(Code::kFailedToParse, "must match at least one type");
  return set;
}

}  // namespace braid::query
