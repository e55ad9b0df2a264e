// How the arguments of accumulators are written: one expression, or an object of named ones.
#include "base/strings.h"
#include "engine/bson/number.h"
#include "engine/language/expression/accumulators.h"
#include "engine/language/expression/nodes.h"
#include "engine/language/expression/values.h"

namespace braid::query::accumulators {

using bson::Element;
using bson::Type;
using bson::Value;
using SpecPtr = std::unique_ptr<const AccumulatorSpec>;

namespace {

class Spec final : public AccumulatorSpec {
 public:
  Spec(Make* make, Settings settings, ExpressionPtr argument, const Environment& environment)
      : make_(make), settings_(std::move(settings)), argument_(std::move(argument)), environment_(environment) {
    settings_.collation = environment.collation.get();
  }
  std::unique_ptr<Accumulator> Start() const override { return make_(settings_); }
  Result<Value> Argument(bson::View document, bson::Arena& arena) const override {
    if (argument_->constant() != nullptr) return *argument_->constant();
    return Evaluate(*argument_, document, environment_, arena);
  }
  void CollectPaths(std::set<std::string>* paths) const override { argument_->CollectPaths(paths); }

 private:
  Make* make_;
  Settings settings_;
  ExpressionPtr argument_;
  const Environment& environment_;
};

SpecPtr MakeSpec(const Definition& definition, Settings settings, ExpressionPtr argument,
                 const Environment& environment) {
  return std::make_unique<Spec>(definition.make, std::move(settings), std::move(argument), environment);
}

Result<size_t> ConstantN(std::string_view name, const Value& n, const Environment& environment) {
  BRAID_TRY(ExpressionPtr expression, ParseExpression(n, environment));
  if (expression->constant() == nullptr) {
    return Status(Code::kCommandNotSupported, StrCat("Braid supports only a constant 'n' in ", name));
  }
  return PositiveN(name, *expression->constant());
}

/// The sort keys and the output of one document, as Best keeps them: {k: {…}, o: output}.
Result<ExpressionPtr> ParseKeyed(const ValueOrder& order, const Value& output, const Environment& environment) {
  ObjectExpression::Fields keys;
  bson::Arena arena;
  for (const auto& [path, direction] : order.parts()) {
    BRAID_TRY(ExpressionPtr key, ParseExpression(arena.String(StrCat("$", path)), environment));
    keys.emplace_back(StrCat(keys.size()), std::move(key));
  }
  ObjectExpression::Fields both;
  both.emplace_back("k", std::make_unique<ObjectExpression>(std::move(keys)));
  BRAID_TRY(ExpressionPtr out, ParseExpression(output, environment));
  both.emplace_back("o", std::move(out));
  return std::make_unique<ObjectExpression>(std::move(both));
}

Result<SpecPtr> ParseOrdered(const Definition& definition, const Value& argument, const Environment& environment,
                             bool with_n) {
  if (!argument.Is(Type::kObject)) {
    return CallError(5788001, "specification must be an object; found ", definition.name, ": ", TypeOf(argument));
  }
  Value n, by, output;
  for (const Element& field : argument.AsView()) {
    if (with_n && field.name == "n") {
      n = field.value;
    } else if (field.name == "sortBy") {
      by = field.value;
    } else if (field.name == "output") {
      output = field.value;
    } else {
      return CallError(5788002, "Unknown argument to ", definition.name, ": ", field.name);
    }
  }
  if (with_n && n.missing()) return CallError(5788003, "Missing value for 'n' in ", definition.name);
  if (output.missing()) return CallError(5788004, "Missing value for 'output' in ", definition.name);
  if (by.missing()) return CallError(5788005, "Missing value for 'sortBy' in ", definition.name);
  if (!by.Is(Type::kObject))
    return CallError(5788604, "expected 'sortBy' to already be an object in the arguments to ", definition.name);
  Settings settings;
  if (with_n) {
    BRAID_TRY(settings.n, ConstantN(definition.name, n, environment));
  }
  BRAID_TRY(ValueOrder written, ValueOrder::Parse(by, /*whole=*/false));
  BRAID_TRY(ExpressionPtr keyed, ParseKeyed(written, output, environment));
  settings.order = written.Numbered();
  return MakeSpec(definition, std::move(settings), std::move(keyed), environment);
}

}  // namespace

Result<SpecPtr> ParseOne(const Definition& definition, const Value& argument, const Environment& environment) {
  if (argument.Is(Type::kArray)) return CallError(40237, "The ", definition.name, " accumulator is a unary operator");
  BRAID_TRY(ExpressionPtr expression, ParseExpression(argument, environment));
  return MakeSpec(definition, {}, std::move(expression), environment);
}

Result<SpecPtr> ParseCount(const Definition& definition, const Value& argument, const Environment& environment) {
  if (!argument.Is(Type::kObject) || !argument.AsView().empty()) {
    return Status(Code::kTypeMismatch, "$count takes no arguments, i.e. $count:{}");
  }
  bson::Arena arena;
  return MakeSpec(definition, {}, MakeConstant(arena.Int32(1)), environment);
}

Result<SpecPtr> ParseN(const Definition& definition, const Value& argument, const Environment& environment) {
  if (!argument.Is(Type::kObject)) {
    return CallError(5787900, "specification must be an object; found ", definition.name, ": ", TypeOf(argument));
  }
  Value n, input;
  for (const Element& field : argument.AsView()) {
    if (field.name != "n" && field.name != "input") {
      return CallError(5787901, "Unknown argument for 'n' operator: ", field.name);
    }
    (field.name == "n" ? n : input) = field.value;
  }
  if (n.missing()) return CallError(5787906, "Missing value for 'n'");
  if (input.missing()) return CallError(5787907, "Missing value for 'input'");
  Settings settings;
  BRAID_TRY(settings.n, ConstantN(definition.name, n, environment));
  BRAID_TRY(ExpressionPtr expression, ParseExpression(input, environment));
  return MakeSpec(definition, std::move(settings), std::move(expression), environment);
}

Result<SpecPtr> ParseTop(const Definition& definition, const Value& argument, const Environment& environment) {
  return ParseOrdered(definition, argument, environment, false);
}
Result<SpecPtr> ParseTopN(const Definition& definition, const Value& argument, const Environment& environment) {
  return ParseOrdered(definition, argument, environment, true);
}

Status CheckPercentileMethod(const Value& method) {
  if (method.Is(Type::kString) && method.AsString() == "approximate") return {};
  return {Code::kBadValue, "Currently only 'approximate' can be used as percentile 'method'."};
}

Result<std::vector<double>> FractionsOf(const Value& p) {
  if (!p.Is(Type::kArray) || p.AsView().empty())
    return CallError(7750301, "The 'p' field is expected to be an array of one or more numbers, but found ", TypeOf(p));
  std::vector<double> fractions;
  for (const Element& item : p.AsView()) {
    if (!item.value.IsNumber())
      return CallError(7750302, "The 'p' array must hold numbers only, but found ", TypeOf(item.value));
    const double fraction = bson::Number::Of(item.value).ToDouble();
    if (!(fraction >= 0 && fraction <= 1))
      return CallError(7750303, "The 'p' array must hold numbers between 0 and 1, but found ", fraction);
    fractions.push_back(fraction);
  }
  return fractions;
}

Result<SpecPtr> ParsePercentile(const Definition& definition, const Value& argument, const Environment& environment) {
  const bool median = definition.name == "$median";
  if (!argument.Is(Type::kObject)) {
    return CallError(median ? 7436100 : 7429703, "specification must be an object; found ", definition.name, ": ",
                     TypeOf(argument));
  }
  Value input, p, method;
  for (const Element& field : argument.AsView()) {
    if (field.name == "input") {
      input = field.value;
    } else if (field.name == "method") {
      method = field.value;
    } else if (!median && field.name == "p") {
      p = field.value;
    } else {
      return CallError(40415, "BSON field '", definition.name, ".", field.name, "' is an unknown field.");
    }
  }
  if (input.missing() || method.missing() || (!median && p.missing())) {
    return CallError(40414, "BSON field '", definition.name, "' misses one of its required fields");
  }
  BRAID_CHECK_OK(CheckPercentileMethod(method));
  Settings settings;
  if (!median) {
    BRAID_TRY(ExpressionPtr fractions, ParseExpression(p, environment));
    if (fractions->constant() == nullptr) return CallError(7750301, "The 'p' field must be a constant array");
    BRAID_TRY(settings.fractions, FractionsOf(*fractions->constant()));
  }
  BRAID_TRY(ExpressionPtr expression, ParseExpression(input, environment));
  return MakeSpec(definition, std::move(settings), std::move(expression), environment);
}

}  // namespace braid::query::accumulators
