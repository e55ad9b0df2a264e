// $addToSet, $pop, $pull, $pullAll: operators on the elements of an array.
#include <algorithm>
#include <array>
#include <functional>
#include <set>

#include "base/strings.h"
#include "base/work.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"
#include "engine/language/match/filter.h"
#include "engine/language/update/operators.h"
#include "engine/language/update/storage_rules.h"

namespace braid::update {
namespace {

class AddToSetOperation final : public Operation {
 public:
  AddToSetOperation(std::string_view path, std::vector<bson::OwnedValue> values)
      : Operation(path), values_(std::move(values)) {
    for (const bson::OwnedValue& value : values_) depth_ = std::max(depth_, Depth(value.value()) + 1);
  }

  Result<Effect> Apply(const Target& target, ApplyContext& context, bson::Builder& out) const override {
    if (!target.current.missing() && !target.current.Is(bson::Type::kArray)) {
      return Status(Code::kBadValue,
                    StrCat("Cannot apply $addToSet to a non-array field. Field '", path(), "' has type ",
                           bson::TypeName(target.current.type()), " in document ", IdText(context)));
    }
    const bson::View array = target.current.missing() ? bson::View() : target.current.AsView();
    BRAID_TRY(const std::vector<bson::Value> added, Added(array, context.environment.collation.get()));
    if (added.empty() && !target.current.missing()) return Effect::kNone;
    size_t next = array.Count();
    out.OpenArray(target.name).AppendAll(array);
    for (const bson::Value& value : added) out.Append(std::to_string(next++), value);
    out.Close();
    return Effect::kWritten;
  }
  int operand_depth() const override { return depth_; }

 private:
  /// The values that the array does not have yet, each once.
  Result<std::vector<bson::Value>> Added(bson::View array, const bson::Collation* collation) const {
    std::vector<bson::Value> added;
    Work& work = Work::Current();
    constexpr size_t kFew = 8;
    if (values_.size() <= kFew) {  // for a few values searching the array is quicker than building a set
      for (const bson::OwnedValue& value : values_) {
        BRAID_CHECK_OK(work.Tick(StepsFor(array.size())));
        const auto same = [&](const bson::Value& other) { return bson::Equal(value, other, collation); };
        bool known = std::ranges::any_of(added, same);
        for (auto it = array.begin(); !known && it != array.end(); ++it) known = same(it->value);
        if (!known) added.push_back(value);
      }
      return added;
    }
    std::set<bson::Value, bson::ValueLess> known(bson::ValueLess{collation});
    for (const bson::Element& element : array) {
      BRAID_CHECK_OK(work.Tick());
      known.insert(element.value);
    }
    for (const bson::OwnedValue& value : values_) {
      BRAID_CHECK_OK(work.Tick());
      if (known.insert(value).second) added.push_back(value);
    }
    return added;
  }

  std::vector<bson::OwnedValue> values_;
  int depth_ = 1;
};

class PopOperation final : public Operation {
 public:
  PopOperation(std::string_view path, bool first) : Operation(path), first_(first) {}

  Result<Effect> Apply(const Target& target, ApplyContext& context, bson::Builder& out) const override {
    if (!target.current.Is(bson::Type::kArray)) {
      return Status(Code::kTypeMismatch,
                    StrCat("Cannot apply $pop to '", path(), "', which is of type ",
                           bson::TypeName(target.current.type()), " in document ", IdText(context)));
    }
    const bson::View array = target.current.AsView();
    if (array.empty()) return Effect::kNone;
    const size_t gone = first_ ? 0 : array.Count() - 1;
    out.OpenArray(target.name);
    size_t i = 0;
    for (const bson::Element& element : array) {
      if (i++ != gone) out.AppendNext(element.value);
    }
    out.Close();
    return Effect::kWritten;
  }
  bool Creates(const ApplyContext& /*context*/) const override { return false; }

 private:
  bool first_;
};

/// $pull and $pullAll: remove the elements that meet a condition.
class CullOperation : public Operation {
 public:
  using Operation::Operation;

  Result<Effect> Apply(const Target& target, ApplyContext& context, bson::Builder& out) const override {
    if (!target.current.Is(bson::Type::kArray)) {
      return Status(Code::kBadValue, StrCat("Cannot apply $pull to '", path(), "', which is of type ",
                                            bson::TypeName(target.current.type()), " in document ", IdText(context)));
    }
    std::vector<bson::Value> kept;
    size_t count = 0;
    Work& work = Work::Current();
    for (const bson::Element& element : target.current.AsView()) {
      BRAID_CHECK_OK(work.Tick());
      ++count;
      BRAID_TRY(const bool culled, Culls(element.value, context));
      if (!culled) kept.push_back(element.value);
    }
    if (kept.size() == count) return Effect::kNone;
    out.OpenArray(target.name);
    for (const bson::Value& element : kept) out.AppendNext(element);
    out.Close();
    return Effect::kWritten;
  }
  bool Creates(const ApplyContext& /*context*/) const override { return false; }

 private:
  virtual Result<bool> Culls(const bson::Value& element, const ApplyContext& context) const = 0;
};

class PullValuesOperation final : public CullOperation {
 public:
  PullValuesOperation(std::string_view path, const query::Environment& environment,
                      std::vector<bson::OwnedValue> values)
      : CullOperation(path), collation_(environment.collation), values_(std::move(values)) {
    std::ranges::sort(values_, bson::ValueLess{collation_.get()});
  }

 private:
  Result<bool> Culls(const bson::Value& element, const ApplyContext& /*context*/) const override {
    return std::ranges::binary_search(values_, element, bson::ValueLess{collation_.get()});
  }

  const std::shared_ptr<const bson::Collation> collation_;
  std::vector<bson::OwnedValue> values_;  // sorted
};

/// {a: 1, b: {$gt: 2}} is a query on elements that are documents.
class PullDocumentsOperation final : public CullOperation {
 public:
  PullDocumentsOperation(std::string_view path, query::Filter filter)
      : CullOperation(path), filter_(std::move(filter)) {}

 private:
  Result<bool> Culls(const bson::Value& element, const ApplyContext& /*context*/) const override {
    if (!element.Is(bson::Type::kObject)) return false;
    return filter_.Matches(element.AsView());
  }

  query::Filter filter_;
};

/// {$gt: 5} or a regex is a condition on each element, as if it were a field.
class PullMatchingOperation final : public CullOperation {
 public:
  static constexpr std::string_view kField = "element";
  PullMatchingOperation(std::string_view path, query::Filter filter)
      : CullOperation(path), filter_(std::move(filter)) {}

 private:
  Result<bool> Culls(const bson::Value& element, const ApplyContext& /*context*/) const override {
    return filter_.Matches(bson::Make(kField, element).view());
  }

  query::Filter filter_;
};

/// {$pull: {a: {$or: …}}} is a query on documents, because these stand at the top of a query and not at a field. So
/// does $eq as far as MongoDB's $pull is concerned, which refuses it: a value alone says the same.
constexpr std::array<std::string_view, 7> kTopLevelOperators = {"$and", "$comment", "$eq", "$expr",
                                                                "$nor", "$not",     "$or"};

/// Fields of a DBRef are a query on documents, although they look like operators.
bool IsDbRef(const bson::Value& value) {
  return value.Is(bson::Type::kObject) && !value.AsView().empty() && IsDbRefName(value.AsView().begin()->name);
}

bool IsFieldCondition(const bson::Value& value) {
  if (value.Is(bson::Type::kRegex)) return true;
  if (!value.Is(bson::Type::kObject) || value.AsView().empty()) return false;
  const std::string_view name = value.AsView().begin()->name;
  return name.starts_with("$") && std::ranges::find(kTopLevelOperators, name) == kTopLevelOperators.end();
}

std::vector<bson::OwnedValue> Elements(bson::View array) {
  std::vector<bson::OwnedValue> values;
  values.reserve(array.Count());
  for (const bson::Element& element : array) values.emplace_back(element.value);
  return values;
}

}  // namespace

Status ParseAddToSet(const Operand& operand, std::vector<Branch>* branches) {
  if (!operand.value.Is(bson::Type::kObject) || operand.value.AsView().empty() ||
      operand.value.AsView().begin()->name != "$each") {
    return AddBranch<AddToSetOperation>(operand, branches,
                                        std::vector<bson::OwnedValue>{bson::OwnedValue(operand.value)});
  }
  const bson::View clauses = operand.value.AsView();
  const bson::Value each = clauses.begin()->value;
  if (!each.Is(bson::Type::kArray)) {
    return {Code::kTypeMismatch, StrCat("The argument to $each in $addToSet must be an array but it was of type ",
                                        bson::TypeName(each.type()))};
  }
  if (clauses.Count() > 1) {
    return {Code::kBadValue, StrCat("Unexpected fields after $each in $addToSet: ", bson::ToShell(clauses))};
  }
  return AddBranch<AddToSetOperation>(operand, branches, Elements(each.AsView()));
}

Status ParsePop(const Operand& operand, std::vector<Branch>* branches) {
  const std::optional<bson::Number> number = bson::NumberOf(operand.value);
  const std::optional<int64_t> side = number ? number->ToInt64Exact() : std::nullopt;
  if (side != 1 && side != -1) {
    return {Code::kFailedToParse, StrCat("$pop expects 1 or -1, found: ", bson::ToShell(operand.value))};
  }
  return AddBranch<PopOperation>(operand, branches, side == -1);
}

Status ParsePull(const Operand& operand, std::vector<Branch>* branches) {
  if (!IsDbRef(operand.value) && IsFieldCondition(operand.value)) {
    const bson::Document condition = bson::Make(PullMatchingOperation::kField, operand.value);
    BRAID_TRY(query::Filter filter, query::Filter::Parse(condition, operand.environment));
    return AddBranch<PullMatchingOperation>(operand, branches, std::move(filter));
  }
  if (operand.value.Is(bson::Type::kObject)) {
    BRAID_TRY(query::Filter filter, query::Filter::Parse(operand.value.AsView(), operand.environment));
    return AddBranch<PullDocumentsOperation>(operand, branches, std::move(filter));
  }
  return AddBranch<PullValuesOperation>(operand, branches, *operand.environment,
                                        std::vector<bson::OwnedValue>{bson::OwnedValue(operand.value)});
}

Status ParsePullAll(const Operand& operand, std::vector<Branch>* branches) {
  if (!operand.value.Is(bson::Type::kArray)) {
    return {Code::kBadValue,
            StrCat("$pullAll requires an array argument but was given a ", bson::TypeName(operand.value.type()))};
  }
  return AddBranch<PullValuesOperation>(operand, branches, *operand.environment, Elements(operand.value.AsView()));
}

}  // namespace braid::update
