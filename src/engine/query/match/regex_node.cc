// $regex with $options, and regexes written as values.
#include "base/strings.h"
#include "engine/query/match/leaf.h"
#include "engine/query/match/parse.h"
#include "engine/query/match/regex.h"

namespace braid::query {

namespace {

using bson::Type;
using bson::Value;

class RegexNode final : public LeafNode<RegexNode> {
 public:
  RegexNode(std::string_view path, bson::Regex regex, CompiledRegex compiled)
      : LeafNode(MatchOp::kRegex, path),
        pattern_(regex.pattern),
        options_(regex.options),
        compiled_(std::move(compiled)),
        prefix_(LiteralPrefix(regex.pattern, regex.options)) {}

  std::string_view regex_prefix() const override { return prefix_.literal; }
  bool regex_is_prefix_only() const override { return prefix_.exact; }
  bson::Regex regex() const override { return {pattern_, options_}; }

  // Strings that match, and the very same regex as a value.
  bool Test(const Value& value, Trial& trial) const {
    if (value.Is(Type::kRegex)) return value.AsRegex().pattern == pattern_ && value.AsRegex().options == options_;
    if (!value.Is(Type::kString) && !value.Is(Type::kSymbol)) return false;
    Result<bool> found = compiled_.Search(value.AsString());
    if (found.ok()) return *found;
    trial.error = found.error();
    return true;
  }
  void AppendCondition(bson::Builder& out) const override {
    out.Append("$regex", pattern_);
    if (!options_.empty()) out.Append("$options", options_);
  }

 private:
  const std::string pattern_;
  const std::string options_;
  const CompiledRegex compiled_;
  const RegexPrefix prefix_;
};

}  // namespace

Result<NodePtr> MakeRegex(std::string_view path, bson::Regex regex) {
  BRAID_TRY(CompiledRegex compiled, CompiledRegex::Compile(regex.pattern, regex.options));
  return NodePtr(std::make_unique<RegexNode>(path, regex, std::move(compiled)));
}

Result<NodePtr> ParseRegex(const OperatorCall& call) {
  bson::Regex regex{};
  if (call.operand.Is(Type::kRegex)) {
    regex = call.operand.AsRegex();
  } else if (call.operand.Is(Type::kString)) {
    regex.pattern = call.operand.AsString();
  } else {
    return BadValue("$regex has to be a string");
  }
  if (const Value options = call.siblings.Find("$options"); !options.missing()) {
    if (!options.Is(Type::kString)) return BadValue("$options has to be a string");
    if (!regex.options.empty()) return Status(Location(51075), "options set in both $regex and $options");
    regex.options = options.AsString();
  }
  return MakeRegex(call.path, regex);
}

Result<NodePtr> ParseRegexOptions(const OperatorCall& call) {
  if (!call.siblings.Has("$regex")) return BadValue("$options needs a $regex");
  return NodePtr();  // read by $regex
}

}  // namespace braid::query
