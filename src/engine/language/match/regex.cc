// Compiling and the literal prefix of a pattern; $regex with $options, and regexes written as values.
#include "engine/language/match/regex.h"

#include "base/assert.h"
#include "base/strings.h"
#include "engine/language/expression/text.h"
#include "engine/language/match/leaf.h"
#include "engine/language/match/parse.h"

namespace braid::query {
namespace {

constexpr size_t kPatternBytesMax = 32764;

// Removes the last character, which may be several bytes of UTF-8.
void DropLast(std::string* text) {
  while (!text->empty() && IsContinuationByte(text->back())) text->pop_back();
  if (!text->empty()) text->pop_back();
}

bool IsAlphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

using bson::Type;
using bson::Value;

class RegexNode final : public LeafNode<RegexNode> {
 public:
  RegexNode(std::string_view path, bson::Regex regex, RegexPtr compiled)
      : LeafNode(MatchOp::kRegex, path),
        pattern_(regex.pattern),
        options_(regex.options),
        compiled_(std::move(compiled)),
        prefix_(LiteralPrefix(regex.pattern, regex.options)) {
    BRAID_ASSERT(compiled_ != nullptr);
  }

  std::string_view regex_prefix() const override { return prefix_.literal; }
  bool regex_is_prefix_only() const override { return prefix_.exact; }
  bson::Regex regex() const override { return {pattern_, options_}; }

  // Strings that match, and the very same regex as a value.
  bool Test(const Value& value, Trial& trial) const {
    if (value.Is(Type::kRegex)) return value.AsRegex().pattern == pattern_ && value.AsRegex().options == options_;
    if (!value.Is(Type::kString) && !value.Is(Type::kSymbol)) return false;
    Result<bool> found = compiled_->Search(value.AsString());
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
  const RegexPtr compiled_;
  const RegexPrefix prefix_;
};

}  // namespace

Result<RegexPtr> CompileRegex(std::string_view pattern, std::string_view options) {
  constexpr auto npos = std::string_view::npos;
  if (pattern.find('\0') != npos) {
    return Status(Code::kBadValue, "Regular expression cannot contain an embedded null byte");
  }
  if (options.find('\0') != npos) {
    return Status(Code::kBadValue, "Regular expression options string cannot contain an embedded null byte");
  }
  if (pattern.size() > kPatternBytesMax) return Status(Code::kBadValue, "Regular expression is too long");
  return RegexPattern::Compile(pattern, options, Location(51091));
}

RegexPrefix LiteralPrefix(std::string_view pattern, std::string_view options) {
  bool any_line = false;
  if (pattern.starts_with("\\A")) {
    pattern.remove_prefix(2);
    any_line = true;  // \A is the start of the text with the option m too
  } else if (pattern.starts_with("^")) {
    pattern.remove_prefix(1);
  } else {
    return {};
  }
  if (pattern.find('|') != std::string_view::npos) return {};
  bool extended = false;
  for (char option : options) {
    if (option == 'i' || (option == 'm' && !any_line)) return {};
    extended |= option == 'x';
  }

  RegexPrefix prefix;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '*' || c == '?' || c == '{') {  // makes the character before it optional
      DropLast(&prefix.literal);
      return prefix;
    }
    if (c == '\\') {
      const char next = ++i < pattern.size() ? pattern[i] : '\0';
      if (next == 'Q') {
        const size_t end = pattern.find("\\E", i + 1);
        prefix.literal.append(pattern.substr(i + 1, end == std::string_view::npos ? end : end - i - 1));
        i = end == std::string_view::npos ? pattern.size() : end + 1;
      } else if (next == '\0' || IsAlphanumeric(next)) {
        return prefix;
      } else {
        prefix.literal.push_back(next);
      }
    } else if (std::string_view("^$.[()+").find(c) != std::string_view::npos || (extended && c == '#')) {
      return prefix;
    } else if (!extended || !IsSpace(c)) {
      prefix.literal.push_back(c);
    }
  }
  prefix.exact = !prefix.literal.empty();
  return prefix;
}

Result<NodePtr> MakeRegex(std::string_view path, bson::Regex regex) {
  BRAID_TRY(RegexPtr compiled, CompileRegex(regex.pattern, regex.options));
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
