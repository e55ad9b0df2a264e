#include "engine/query/match/type_set.h"

#include <algorithm>

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
