// $push: adds values to an array, at the end or at $position; then applies $sort, then $slice.
#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "engine/bson/arena.h"
#include "engine/bson/compare.h"
#include "engine/bson/number.h"
#include "engine/bson/validate.h"
#include "engine/language/update/operators.h"

namespace braid::update {
namespace {

/// The $sort clause: 1 or -1 for whole elements, {a: 1, "b.c": -1} for fields of them. Unlike a query's sort, arrays
/// are compared as wholes and not by their smallest or greatest element.
class PushSort {
 public:
  static Result<PushSort> Parse(const bson::Value& specification);

  /// Stable.
  void Sort(std::vector<bson::Value>* elements, const bson::Collation* collation) const;

 private:
  struct Part {
    std::string path;
    bool descending;
  };
  std::vector<Part> parts_;  // empty: whole elements
  bool descending_ = false;  // of whole elements
};

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

Result<PushSort> PushSort::Parse(const bson::Value& specification) {
  PushSort sort;
  if (!specification.Is(bson::Type::kObject)) {
    BRAID_TRY(sort.descending_, ParseDirection(specification));
    return sort;
  }
  for (const bson::Element& element : specification.AsView()) {
    BRAID_CHECK_OK(bson::CheckPathLength(element.name));
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

struct Clauses {
  std::vector<bson::OwnedValue> values;
  std::optional<int64_t> position;
  std::optional<int64_t> slice;
  std::optional<PushSort> sort;
};

class PushOperation final : public Operation {
 public:
  PushOperation(std::string_view path, Clauses clauses) : Operation(path), clauses_(std::move(clauses)) {
    for (const bson::OwnedValue& value : clauses_.values) depth_ = std::max(depth_, Depth(value.value()) + 1);
  }

  Result<Effect> Apply(const Target& target, ApplyContext& context, bson::Builder& out) const override {
    if (!target.current.missing() && !target.current.Is(bson::Type::kArray)) {
      return Status(Code::kBadValue, StrCat("The field '", path(), "' must be an array but is of type ",
                                            bson::TypeName(target.current.type()), " in document ", IdText(context)));
    }
    const bson::View array = target.current.missing() ? bson::View() : target.current.AsView();
    const bool only_append = !clauses_.position && !clauses_.slice && !clauses_.sort;
    return only_append ? Append(target, array, out) : Rearrange(target, array, context, out);
  }
  int operand_depth() const override { return depth_; }

 private:
  /// The old elements as they lie, the new ones after them.
  Result<Effect> Append(const Target& target, bson::View array, bson::Builder& out) const {
    if (clauses_.values.empty() && !target.current.missing()) return Effect::kNone;
    size_t next = array.Count();
    out.OpenArray(target.name).AppendAll(array);
    for (const bson::OwnedValue& value : clauses_.values) out.Append(std::to_string(next++), value.value());
    out.Close();
    return Effect::kWritten;
  }

  Result<Effect> Rearrange(const Target& target, bson::View array, ApplyContext& context, bson::Builder& out) const {
    std::vector<bson::Value> elements;
    for (const bson::Element& element : array) elements.push_back(element.value);
    const std::vector<bson::Value> before = elements;
    elements.insert(elements.begin() + Position(elements.size()), clauses_.values.begin(), clauses_.values.end());
    if (clauses_.sort) clauses_.sort->Sort(&elements, context.environment.collation.get());
    if (clauses_.slice) Slice(&elements);
    // Pushed values count as a change even if $slice removes all of them again.
    const auto identical = [](const bson::Value& x, const bson::Value& y) { return x.Identical(y); };
    if (clauses_.values.empty() && !target.current.missing() && std::ranges::equal(before, elements, identical)) {
      return Effect::kNone;
    }
    out.OpenArray(target.name);
    for (const bson::Value& element : elements) out.AppendNext(element);
    out.Close();
    return Effect::kWritten;
  }

  /// Counted from the end if negative; never outside the array.
  std::ptrdiff_t Position(size_t size) const {
    const auto end = static_cast<int64_t>(size);
    const int64_t position = clauses_.position.value_or(end);
    return static_cast<std::ptrdiff_t>(position < 0 ? std::max<int64_t>(0, end + position) : std::min(position, end));
  }

  /// The first n, or the last n if negative.
  void Slice(std::vector<bson::Value>* elements) const {
    const auto size = static_cast<int64_t>(elements->size());
    const int64_t slice = *clauses_.slice;
    if (slice >= 0) {
      elements->resize(static_cast<size_t>(std::min(slice, size)));
    } else if (slice > -size) {
      elements->erase(elements->begin(), elements->end() + slice);
    }
  }

  Clauses clauses_;
  int depth_ = 1;
};

Status ParseInteger(const bson::Element& element, std::optional<int64_t>* out) {
  const std::optional<bson::Number> number = bson::NumberOf(element.value);
  *out = number ? number->ToInt64Exact() : std::nullopt;
  if (out->has_value()) return {};
  return {Code::kBadValue, StrCat("The value for ", element.name, " must be an integer")};
}

Result<Clauses> ParseClauses(bson::View specification) {
  Clauses clauses;
  bool each = false;
  const auto twice = [](std::string_view name) {
    return Status(Code::kBadValue, StrCat("$push has more than one ", name));
  };
  for (const bson::Element& element : specification) {
    if (element.name == "$each") {
      if (each) return twice(element.name);
      each = true;
      if (!element.value.Is(bson::Type::kArray)) {
        return Status(Code::kBadValue, StrCat("The argument to $each in $push must be an array but it was of type: ",
                                              bson::TypeName(element.value.type())));
      }
      for (const bson::Element& value : element.value.AsView()) clauses.values.emplace_back(value.value);
    } else if (element.name == "$position" || element.name == "$slice") {
      std::optional<int64_t>& number = element.name == "$slice" ? clauses.slice : clauses.position;
      if (number.has_value()) return twice(element.name);
      BRAID_CHECK_OK(ParseInteger(element, &number));
    } else if (element.name == "$sort") {
      if (clauses.sort.has_value()) return twice(element.name);
      BRAID_TRY(clauses.sort, PushSort::Parse(element.value));
    } else {
      return Status(Code::kBadValue, StrCat("Unrecognized clause in $push: ", element.name));
    }
  }
  return clauses;
}

}  // namespace

Status ParsePush(const Operand& operand, std::vector<Branch>* branches) {
  Clauses clauses;
  if (operand.value.Is(bson::Type::kObject) && operand.value.AsView().Has("$each")) {
    BRAID_TRY(clauses, ParseClauses(operand.value.AsView()));
  } else {
    clauses.values.emplace_back(operand.value);
  }
  return AddBranch<PushOperation>(operand, branches, std::move(clauses));
}

}  // namespace braid::update
