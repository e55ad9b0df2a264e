// $set, $setOnInsert, $unset, $min, $max, $currentDate: operators that replace a whole value.
#include "base/strings.h"
#include "engine/bson/compare.h"
#include "engine/bson/json.h"
#include "engine/language/update/operators.h"

namespace braid::update {
namespace {

class SetOperation : public Operation {
 public:
  SetOperation(std::string_view path, const bson::Value& value)
      : Operation(path), value_(value), depth_(Depth(value)) {}

  Result<Effect> Apply(const Target& target, ApplyContext& /*context*/, bson::Builder& out) const override {
    if (target.current.Identical(value())) return Effect::kNone;
    out.Append(target.name, value());
    return Effect::kWritten;
  }
  int operand_depth() const override { return depth_; }

 protected:
  bson::Value value() const { return value_.value(); }

 private:
  bson::OwnedValue value_;
  int depth_;
};

class SetOnInsertOperation final : public SetOperation {
 public:
  using SetOperation::SetOperation;
  Result<Effect> Apply(const Target& target, ApplyContext& context, bson::Builder& out) const override {
    if (!context.inserting) return Effect::kNone;
    return SetOperation::Apply(target, context, out);
  }
  bool Creates(const ApplyContext& context) const override { return context.inserting; }
  Status DeadEnd(const bson::Value& element, std::string_view part, const ApplyContext& context) const override {
    return context.inserting ? SetOperation::DeadEnd(element, part, context) : Status();
  }
};

/// $min and $max: keeps the smaller or the greater of the two.
class BoundOperation final : public SetOperation {
 public:
  BoundOperation(std::string_view path, const bson::Value& value, bool greater)
      : SetOperation(path, value), greater_(greater) {}

  Result<Effect> Apply(const Target& target, ApplyContext& context, bson::Builder& out) const override {
    if (!target.current.missing()) {
      const int order = bson::Compare(value(), target.current, context.environment.collation.get());
      if (greater_ ? order <= 0 : order >= 0) return Effect::kNone;
    }
    out.Append(target.name, value());
    return Effect::kWritten;
  }

 private:
  bool greater_;
};

class UnsetOperation final : public Operation {
 public:
  using Operation::Operation;

  /// The elements of an array keep their positions: an unset one becomes null.
  Result<Effect> Apply(const Target& target, ApplyContext& /*context*/, bson::Builder& out) const override {
    if (!target.in_array) return Effect::kRemoved;
    if (target.current.Is(bson::Type::kNull)) return Effect::kNone;
    out.Append(target.name, bson::Null{});
    return Effect::kWritten;
  }
  bool Creates(const ApplyContext& /*context*/) const override { return false; }
  Status DeadEnd(const bson::Value&, std::string_view, const ApplyContext&) const override { return {}; }
};

class CurrentDateOperation final : public Operation {
 public:
  CurrentDateOperation(std::string_view path, bool timestamp) : Operation(path), timestamp_(timestamp) {}

  Result<Effect> Apply(const Target& target, ApplyContext& context, bson::Builder& out) const override {
    if (timestamp_) {
      out.Append(target.name, bson::Timestamp{context.environment.cluster_time});
    } else {
      out.Append(target.name, bson::Date{context.environment.now_millis});
    }
    return Effect::kWritten;
  }

 private:
  bool timestamp_;
};

}  // namespace

Status ParseSet(const Operand& operand, std::vector<Branch>* branches) {
  return AddBranch<SetOperation>(operand, branches, operand.value);
}

Status ParseSetOnInsert(const Operand& operand, std::vector<Branch>* branches) {
  return AddBranch<SetOnInsertOperation>(operand, branches, operand.value);
}

Status ParseUnset(const Operand& operand, std::vector<Branch>* branches) {
  return AddBranch<UnsetOperation>(operand, branches);
}

Status ParseMin(const Operand& operand, std::vector<Branch>* branches) {
  return AddBranch<BoundOperation>(operand, branches, operand.value, false);
}

Status ParseMax(const Operand& operand, std::vector<Branch>* branches) {
  return AddBranch<BoundOperation>(operand, branches, operand.value, true);
}

Status ParseCurrentDate(const Operand& operand, std::vector<Branch>* branches) {
  if (operand.value.Is(bson::Type::kBool)) return AddBranch<CurrentDateOperation>(operand, branches, false);
  if (!operand.value.Is(bson::Type::kObject)) {
    return {Code::kBadValue, StrCat("$currentDate takes true or {$type: 'date' or 'timestamp'}, not a value of type ",
                                    bson::TypeName(operand.value.type()))};
  }
  std::string_view type;
  for (const bson::Element& element : operand.value.AsView()) {
    if (element.name != "$type") return {Code::kBadValue, StrCat("Unrecognized $currentDate option: ", element.name)};
    if (element.value.Is(bson::Type::kString)) type = element.value.AsString();
    if (type != "date" && type != "timestamp") break;
  }
  if (type != "date" && type != "timestamp") {
    return {Code::kBadValue, StrCat("The $type of $currentDate must be the string 'date' or 'timestamp': ",
                                    bson::ToShell(operand.value))};
  }
  return AddBranch<CurrentDateOperation>(operand, branches, type == "timestamp");
}

}  // namespace braid::update
