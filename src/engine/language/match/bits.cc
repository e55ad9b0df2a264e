// $bitsAllClear, $bitsAllSet, $bitsAnyClear, $bitsAnySet over whole numbers and binary data.
#include <algorithm>
#include <limits>

#include "base/strings.h"
#include "engine/bson/decimal.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"
#include "engine/language/match/leaf.h"
#include "engine/language/match/operands.h"
#include "engine/language/match/parse.h"

namespace braid::query {

namespace {

using bson::Type;
using bson::Value;

// Bit 0 is the lowest of a number and the lowest of the first byte. Numbers continue with their sign, bytes with zeros.
bool BitOf(int64_t number, uint32_t position) { return ((number >> std::min<uint32_t>(position, 63)) & 1) != 0; }
bool BitOf(std::string_view bytes, uint32_t position) {
  return position / 8 < bytes.size() && ((static_cast<uint8_t>(bytes[position / 8]) >> (position % 8)) & 1) != 0;
}

// Doubles must be whole; decimals are rounded, and one out of range counts as the smallest number, as MongoDB does it.
std::optional<int64_t> WholeNumber(const Value& value) {
  if (!value.Is(Type::kDecimal128)) return value.IsNumber() ? bson::Number::Of(value).ToInt64Exact() : std::nullopt;
  const auto rounded = bson::decimal::ToInt64(value.AsDecimal(), bson::decimal::Rounding::kHalfEven);
  return rounded.value_or(std::numeric_limits<int64_t>::min());
}

class BitsNode final : public LeafNode<BitsNode> {
 public:
  BitsNode(MatchOp op, std::string_view name, std::string_view path, std::vector<uint32_t> positions)
      : LeafNode(op, path), name_(name), positions_(std::move(positions)) {}

  bool Test(const Value& value, Trial&) const {
    if (value.Is(Type::kBinary)) return TestBits(value.AsBinary().bytes);
    const std::optional<int64_t> whole = WholeNumber(value);
    return whole && TestBits(*whole);
  }
  void AppendCondition(bson::Builder& out) const override {
    out.OpenArray(name_);
    for (uint32_t position : positions_) out.AppendNext(static_cast<int32_t>(position));
    out.Close();
  }

 private:
  template <typename Bits>
  bool TestBits(Bits bits) const {
    const bool wanted = op() == MatchOp::kBitsAllSet || op() == MatchOp::kBitsAnySet;
    const bool any = op() == MatchOp::kBitsAnySet || op() == MatchOp::kBitsAnyClear;
    const auto holds = [&](uint32_t position) { return BitOf(bits, position) == wanted; };
    return any ? std::any_of(positions_.begin(), positions_.end(), holds)
               : std::all_of(positions_.begin(), positions_.end(), holds);
  }
  const std::string name_;
  const std::vector<uint32_t> positions_;
};

template <typename Bits>
std::vector<uint32_t> SetBits(Bits bits, uint32_t count) {
  std::vector<uint32_t> positions;
  for (uint32_t position = 0; position < count; ++position) {
    if (BitOf(bits, position)) positions.push_back(position);
  }
  return positions;
}

Result<std::vector<uint32_t>> PositionList(bson::View list) {
  std::vector<uint32_t> positions;
  for (const bson::Element& element : list) {
    const auto number = bson::NumberOf(element.value);
    const std::optional<int64_t> position = number ? number->ToInt64Exact() : std::nullopt;
    if (!position) return BadValue(StrCat("bit positions must be an integer but got: ", bson::ToShell(element.value)));
    if (*position < 0) return BadValue(StrCat("bit positions must be >= 0 but got: ", *position));
    if (*position > std::numeric_limits<int32_t>::max()) {
      return BadValue(StrCat("bit positions cannot be represented as a 32-bit signed integer: ", *position));
    }
    positions.push_back(static_cast<uint32_t>(*position));
  }
  return positions;
}

Result<std::vector<uint32_t>> Positions(const OperatorCall& call) {
  if (call.operand.Is(Type::kArray)) return PositionList(call.operand.AsView());
  if (call.operand.Is(Type::kBinary)) {
    const std::string_view mask = call.operand.AsBinary().bytes;
    return SetBits(mask, static_cast<uint32_t>(mask.size() * 8));
  }
  if (!call.operand.IsNumber()) {
    return BadValue(
        StrCat(call.name, " takes an Array, a number, or a BinData but received: ", bson::ToShell(call.operand)));
  }
  BRAID_TRY(const int64_t mask, NonNegativeInteger(call.name, call.operand));
  return SetBits(mask, 64);
}

MatchOp BitTestOf(std::string_view name) {
  if (name == "$bitsAllClear") return MatchOp::kBitsAllClear;
  if (name == "$bitsAllSet") return MatchOp::kBitsAllSet;
  return name == "$bitsAnyClear" ? MatchOp::kBitsAnyClear : MatchOp::kBitsAnySet;
}

}  // namespace

Result<NodePtr> ParseBits(const OperatorCall& call) {
  BRAID_TRY(std::vector<uint32_t> positions, Positions(call));
  return NodePtr(std::make_unique<BitsNode>(BitTestOf(call.name), call.name, call.path, std::move(positions)));
}

}  // namespace braid::query
