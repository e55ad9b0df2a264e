// $regexMatch, $regexFind, $regexFindAll. A pattern known at parse time is compiled once.
#include <algorithm>

#include "engine/language/expression/functions.h"
#include "engine/language/expression/nodes.h"
#include "engine/language/expression/regex_pattern.h"
#include "engine/language/expression/text.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Element;
using bson::Type;
using bson::Value;

namespace {

using Program = std::shared_ptr<const RegexPattern>;
enum class Want { kMatch, kFirst, kAll };

/// Null if the pattern is null.
Result<Program> ProgramOf(std::string_view name, const Value& regex, const Value& options, bool has_options) {
  std::string_view pattern;
  std::string_view flags;
  if (regex.Is(Type::kRegex)) {
    pattern = regex.AsRegex().pattern;
    flags = regex.AsRegex().options;
  } else if (regex.Is(Type::kString)) {
    pattern = regex.AsString();
  } else if (!regex.IsNullish()) {
    return CallError(51105, name, " needs 'regex' to be of type string or regex");
  }
  if (has_options && !options.IsNullish()) {
    if (!options.Is(Type::kString)) return CallError(51106, name, " needs 'options' to be of type string");
    if (!flags.empty())
      return CallError(51107, name, ": found regex option(s) specified in both 'regex' and 'option' fields");
    flags = options.AsString();
  }
  if (pattern.find('\0') != std::string_view::npos)
    return CallError(51109, name, ": regular expression cannot contain an embedded null byte");
  if (flags.find('\0') != std::string_view::npos)
    return CallError(51110, name, ": regular expression options cannot contain an embedded null byte");
  if (regex.IsNullish()) return Program();
  Result<RegexPtr> compiled = RegexPattern::Compile(pattern, flags, Location(51111));
  if (!compiled.ok()) return Status(compiled.error().code(), StrCat(name, ": ", compiled.error().message()));
  return Program(*std::move(compiled));
}

class RegexExpression final : public Expression {
 public:
  RegexExpression(std::string_view name, Want want, std::vector<ExpressionPtr> operands, Program program, bool compiled)
      : name_(name), want_(want), operands_(std::move(operands)), program_(std::move(program)), compiled_(compiled) {}

  Result<Value> Evaluate(Evaluation& evaluation) const override {
    BRAID_TRY(Value input, operands_[0]->Evaluate(evaluation));
    if (!input.IsNullish() && !input.Is(Type::kString))
      return CallError(51104, name_, " needs 'input' to be of type string");
    Program program = program_;
    if (!compiled_) {
      BRAID_TRY(Value regex, operands_[1]->Evaluate(evaluation));
      Value options;
      if (operands_[2] != nullptr) {
        BRAID_TRY(options, operands_[2]->Evaluate(evaluation));
      }
      BRAID_TRY(program, ProgramOf(name_, regex, options, operands_[2] != nullptr));
    }
    if (input.IsNullish() || program == nullptr) return NoMatch(evaluation.arena);
    return Find(*program, input.AsString(), evaluation.arena);
  }
  void CollectPaths(std::set<std::string>* paths) const override { CollectPathsOf(operands_, paths); }

 private:
  Value NoMatch(bson::Arena& arena) const {
    if (want_ == Want::kMatch) return arena.Bool(false);
    return want_ == Want::kFirst ? arena.Null() : MakeArray(arena, {});
  }

  Result<Value> Find(const RegexPattern& program, std::string_view text, bson::Arena& arena) const {
    RegexText searched{.text = text};
    Values found;
    size_t counted = 0;  // bytes whose code points are in `index` already
    int32_t index = 0;
    for (size_t at = 0; at <= text.size();) {
      BRAID_TRY(auto ranges, program.Match(searched, at));
      if (ranges.empty()) break;
      if (want_ == Want::kMatch) return arena.Bool(true);
      const RegexPattern::Range whole = ranges[0];
      index += static_cast<int32_t>(CountCodePoints(text.substr(counted, whole.start - counted)));
      counted = whole.start;
      Values captures;
      for (size_t i = 1; i < ranges.size(); ++i) {
        captures.push_back(ranges[i].matched()
                               ? arena.String(text.substr(ranges[i].start, ranges[i].end - ranges[i].start))
                               : arena.Null());
      }
      const Element fields[] = {{"match", arena.String(text.substr(whole.start, whole.end - whole.start))},
                                {"idx", arena.Int32(index)},
                                {"captures", MakeArray(arena, captures)}};
      found.push_back(MakeObject(arena, fields));
      if (want_ == Want::kFirst) return found[0];
      at = whole.end;
      if (whole.end == whole.start) {  // an empty match: go on behind the next character
        if (at == text.size()) break;
        NextCodePoint(text, &at);
      }
    }
    return want_ == Want::kAll ? MakeArray(arena, found) : NoMatch(arena);
  }

  std::string_view name_;
  Want want_;
  std::vector<ExpressionPtr> operands_;  // input, regex, options or null
  Program program_;
  bool compiled_;  // program_ is the constant pattern's (null if that is null)
};

Result<ExpressionPtr> ParseRegex(std::string_view name, const Value& operand, ParseContext& context, Want want) {
  static constexpr NamedOperand kNames[] = {{"input", 31022}, {"regex", 31023}, {"options"}};
  static constexpr NamedOperands kSignature = {51103, 31024, kNames};
  BRAID_TRY(auto operands, ParseNamedOperands(name, kSignature, operand, context));
  const bool constant = AllConstant(operands);
  const Value* regex = operands[1]->constant();
  const Value* options = operands[2] == nullptr ? nullptr : operands[2]->constant();
  const bool compiled = regex != nullptr && (operands[2] == nullptr || options != nullptr);
  Program program;
  if (compiled) {
    BRAID_TRY(program, ProgramOf(name, *regex, options == nullptr ? Value() : *options, options != nullptr));
  }
  ExpressionPtr made = std::make_unique<RegexExpression>(name, want, std::move(operands), std::move(program), compiled);
  if (constant) return Fold(std::move(made), context);
  return made;
}

}  // namespace

Result<ExpressionPtr> ParseRegexMatch(std::string_view name, const Value& operand, ParseContext& context) {
  return ParseRegex(name, operand, context, Want::kMatch);
}
Result<ExpressionPtr> ParseRegexFind(std::string_view name, const Value& operand, ParseContext& context) {
  return ParseRegex(name, operand, context, Want::kFirst);
}
Result<ExpressionPtr> ParseRegexFindAll(std::string_view name, const Value& operand, ParseContext& context) {
  return ParseRegex(name, operand, context, Want::kAll);
}

}  // namespace braid::query::functions
