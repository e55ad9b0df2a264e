// $mod: [divisor, remainder] over the whole part of a number.
#include <cmath>
#include <limits>
#include <optional>

#include "base/strings.h"
#include "engine/bson/decimal.h"
#include "engine/language/match/leaf.h"
#include "engine/language/match/parse.h"

namespace braid::query {

namespace {

using bson::Type;
using bson::Value;

// Rounds towards zero; nothing for values that are not numbers, NaN, infinite or too large.
std::optional<int64_t> WholePart(const Value& value) {
  switch (value.type()) {
    case Type::kInt32: return value.AsInt32();
    case Type::kInt64: return value.AsInt64();
    case Type::kDouble: {
      const double whole = std::trunc(value.AsDouble());
      if (!(whole >= -0x1p63 && whole < 0x1p63)) return std::nullopt;
      return static_cast<int64_t>(whole);
    }
    case Type::kDecimal128: return bson::decimal::ToInt64(value.AsDecimal(), bson::decimal::Rounding::kTowardZero);
    default: return std::nullopt;
  }
}

class ModNode final : public LeafNode<ModNode> {
 public:
  struct Operands {
    int64_t divisor;
    int64_t remainder;
  };
  ModNode(std::string_view path, Operands operands) : LeafNode(MatchOp::kMod, path), operands_(operands) {}
  bool Test(const Value& value, Trial&) const {
    const std::optional<int64_t> dividend = WholePart(value);
    if (!dividend) return false;
    // The one quotient that does not fit: INT64_MIN / -1.
    const int64_t rest = operands_.divisor == -1 ? 0 : *dividend % operands_.divisor;
    return rest == operands_.remainder;
  }
  void AppendCondition(bson::Builder& out) const override {
    out.OpenArray("$mod").AppendNext(operands_.divisor).AppendNext(operands_.remainder).Close();
  }

 private:
  const Operands operands_;
};

Result<int64_t> Operand(const Value& value, std::string_view which) {
  if (!value.IsNumber()) return BadValue(StrCat("malformed mod, ", which, " not a number"));
  const std::optional<int64_t> whole = WholePart(value);
  if (!whole) return BadValue(StrCat("malformed mod, ", which, " value is invalid"));
  return *whole;
}

}  // namespace

Result<NodePtr> ParseMod(const OperatorCall& call) {
  if (!call.operand.Is(Type::kArray)) return BadValue("malformed mod, needs to be an array");
  const bson::View operands = call.operand.AsView();
  const size_t count = operands.Count();
  if (count < 2) return BadValue("malformed mod, not enough elements");
  if (count > 2) return BadValue("malformed mod, too many elements");
  BRAID_TRY(const int64_t divisor, Operand(operands.At(0), "divisor"));
  BRAID_TRY(const int64_t remainder, Operand(operands.At(1), "remainder"));
  if (divisor == 0) return BadValue("divisor cannot be 0");
  return NodePtr(std::make_unique<ModNode>(call.path, ModNode::Operands{divisor, remainder}));
}

}  // namespace braid::query
