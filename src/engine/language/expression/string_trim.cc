// $trim, $ltrim, $rtrim: remove white space, or the code points of `chars`, from the ends.
#include <vector>

#include "engine/language/expression/functions.h"
#include "engine/language/expression/text.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Type;
using bson::Value;

namespace {

constexpr NamedOperand kTrim[] = {{"input", 50695}, {"chars"}};

/// NUL, the ASCII blanks and the spaces of Unicode.
constexpr std::string_view kBlanks[] = {std::string_view("\0", 1),
                                        " ",
                                        "\t",
                                        "\n",
                                        "\v",
                                        "\f",
                                        "\r",
                                        "\u00A0",
                                        "\u1680",
                                        "\u2000",
                                        "\u2001",
                                        "\u2002",
                                        "\u2003",
                                        "\u2004",
                                        "\u2005",
                                        "\u2006",
                                        "\u2007",
                                        "\u2008",
                                        "\u2009",
                                        "\u200A"};

Result<Value> TrimEnds(const Call& call, bool left, bool right) {
  const Value& input = call[0];
  if (input.IsNullish()) return call.arena().Null();
  if (!input.Is(Type::kString))
    return CallError(50699, call.name, " requires its input to be a string, got ", TypeOf(input));
  std::vector<std::string_view> chars(std::begin(kBlanks), std::end(kBlanks));
  if (call.Has(1)) {
    if (call[1].IsNullish()) return call.arena().Null();
    if (!call[1].Is(Type::kString))
      return CallError(50700, call.name, " requires 'chars' to be a string, got ", TypeOf(call[1]));
    chars.clear();
    const std::string_view given = call[1].AsString();
    for (size_t at = 0; at < given.size();) chars.push_back(NextCodePoint(given, &at));
  }
  std::string_view text = input.AsString();
  auto strip = [&](auto matches, auto remove) {
    for (bool again = true; again;) {
      again = false;
      for (std::string_view c : chars) {
        if (matches(c)) {
          remove(c.size());
          again = true;
          break;
        }
      }
    }
  };
  if (left) strip([&](std::string_view c) { return text.starts_with(c); }, [&](size_t n) { text.remove_prefix(n); });
  if (right) strip([&](std::string_view c) { return text.ends_with(c); }, [&](size_t n) { text.remove_suffix(n); });
  return call.arena().String(text);
}

}  // namespace

const NamedOperands kTrimOperands = {50696, 50694, kTrim};

Result<Value> Trim(const Call& call) { return TrimEnds(call, true, true); }
Result<Value> LTrim(const Call& call) { return TrimEnds(call, true, false); }
Result<Value> RTrim(const Call& call) { return TrimEnds(call, false, true); }

}  // namespace braid::query::functions
