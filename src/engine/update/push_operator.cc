// $push: values join an array, at the end or at $position; then $sort, then $slice.
#include <algorithm>
#include <optional>

#include "base/strings.h"
#include "engine/bson/number.h"
#include "engine/update/operators.h"
#include "engine/update/push_sort.h"

namespace braid::update {
namespace {

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

  Result<Change> Apply(const Target& target, ApplyContext& context, bson::Builder& out) const override {
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
  Result<Change> Append(const Target& target, bson::View array, bson::Builder& out) const {
    if (clauses_.values.empty() && !target.current.missing()) return Change::kNone;
    size_t next = array.Count();
    out.OpenArray(target.name).AppendAll(array);
    for (const bson::OwnedValue& value : clauses_.values) out.Append(std::to_string(next++), value.value());
    out.Close();
    return Change::kWritten;
  }

  Result<Change> Rearrange(const Target& target, bson::View array, ApplyContext& context, bson::Builder& out) const {
    std::vector<bson::Value> elements;
    for (const bson::Element& element : array) elements.push_back(element.value);
    const std::vector<bson::Value> before = elements;
    elements.insert(elements.begin() + Position(elements.size()), clauses_.values.begin(), clauses_.values.end());
    if (clauses_.sort) clauses_.sort->Sort(&elements, context.environment.collation.get());
    if (clauses_.slice) Slice(&elements);
    // Values that are pushed count as a change even if $slice takes all of them away again.
    const auto identical = [](const bson::Value& x, const bson::Value& y) { return x.Identical(y); };
    if (clauses_.values.empty() && !target.current.missing() && std::ranges::equal(before, elements, identical)) {
      return Change::kNone;
    }
    out.OpenArray(target.name);
    for (const bson::Value& element : elements) out.AppendNext(element);
    out.Close();
    return Change::kWritten;
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
