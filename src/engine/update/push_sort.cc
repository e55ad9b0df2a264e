#include "engine/update/push_sort.h"

#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "engine/bson/arena.h"
#include "engine/bson/compare.h"
#include "engine/bson/number.h"

namespace braid::update {
namespace {

/// Whether the direction is downwards; kBadValue unless it is 1 or -1.
Result<bool> ParseDirection(const bson::Value& value) {
  const std::optional<bson::Number> number = bson::NumberOf(value);
  const std::optional<int64_t> direction = number ? number->ToInt64Exact() : std::nullopt;
  if (direction == 1) return false;
  if (direction == -1) return true;
  return Status(Code::kBadValue, "The $sort of $push must be 1 or -1, or a document of fields with 1 or -1");
}

/// The value at the path, or the first array on the way; null if there is nothing.
bson::Value KeyAt(const bson::Value& element, std::string_view path) {
  bson::Value value = element;
  for (const std::string_view part : Split(path, '.')) {
    if (value.Is(bson::Type::kArray) && value.bytes().data() != element.bytes().data()) return value;
    value = value.Is(bson::Type::kObject) ? value.AsView().Find(part) : bson::Value();
    if (value.missing()) return bson::Arena::Null();
  }
  return value;
}

}  // namespace

Result<PushSort> PushSort::Parse(const bson::Value& specification) {
  PushSort sort;
  if (!specification.Is(bson::Type::kObject)) {
    BRAID_TRY(sort.descending_, ParseDirection(specification));
    return sort;
  }
  for (const bson::Element& element : specification.AsView()) {
    for (const std::string_view part : Split(element.name, '.')) {
      if (part.empty())
        return Status(Code::kBadValue, StrCat("The $sort field '", element.name, "' has an empty part"));
    }
    BRAID_TRY(const bool descending, ParseDirection(element.value));
    sort.parts_.push_back({std::string(element.name), descending});
  }
  if (sort.parts_.empty()) return Status(Code::kBadValue, "The $sort of $push names no field");
  return sort;
}

void PushSort::Sort(std::vector<bson::Value>* elements, const bson::Collation* collation) const {
  if (parts_.empty()) {
    std::ranges::stable_sort(*elements, [&](const bson::Value& a, const bson::Value& b) {
      return descending_ ? bson::Compare(b, a, collation) < 0 : bson::Compare(a, b, collation) < 0;
    });
    return;
  }
  struct Keyed {
    bson::Value element;
    std::vector<bson::Value> keys;
  };
  std::vector<Keyed> keyed;
  keyed.reserve(elements->size());
  for (const bson::Value& element : *elements) {
    Keyed& entry = keyed.emplace_back(Keyed{element, {}});
    for (const Part& part : parts_) entry.keys.push_back(KeyAt(element, part.path));
  }
  std::ranges::stable_sort(keyed, [&](const Keyed& a, const Keyed& b) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      const int order = bson::Compare(a.keys[i], b.keys[i], collation);
      if (order != 0) return parts_[i].descending ? order > 0 : order < 0;
    }
    return false;
  });
  std::ranges::transform(keyed, elements->begin(), &Keyed::element);
}

}  // namespace braid::update
