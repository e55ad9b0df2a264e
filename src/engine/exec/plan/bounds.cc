// Bounds of each kind of condition.
#include "engine/exec/plan/bounds.h"

#include "engine/bson/arena.h"
#include "engine/bson/hash.h"
#include "engine/bson/number.h"
#include "engine/exec/plan/interval.h"
#include "engine/storage/store.h"

namespace braid::query::plan {
namespace {

using bson::Type;
using bson::Value;
using Bounds = std::optional<FieldBounds>;

bool IsNaN(const Value& value) { return value.IsNumber() && bson::Number::Of(value).IsNaN(); }
bool Usable(const Value& value, const FieldTraits& field) { return field.same_collation || !IsCollatable(value); }

// A whole array is found by its first element (or undefined, if it has none), an array within an array by itself.
void AddArray(const Value& operand, const FieldTraits& field, Intervals* out) {
  const bson::View array = operand.AsView();
  const Value first = array.empty() ? Value(Type::kUndefined, "", 0) : array.begin()->value;
  out->push_back(Interval::Point(operand, field.collation));
  out->push_back(Interval::Point(first, field.collation));
}

Bounds HashedEquality(const Value& operand, const FieldTraits& field) {
  if (operand.Is(Type::kArray)) return std::nullopt;
  const auto hashes = bson::HashesOfEqual(operand);
  if (!hashes) return std::nullopt;
  bson::Arena arena;
  FieldBounds bounds;
  for (const int64_t hash : *hashes) bounds.intervals.push_back(Interval::Point(arena.Int64(hash), nullptr));
  if (operand.Is(Type::kNull) && !field.never_undefined) {
    const Value undefined(Type::kUndefined, "", 0);
    bounds.intervals.push_back(Interval::Point(arena.Int64(bson::MongoHash(undefined)), nullptr));
  }
  bounds.intervals = Normalize(std::move(bounds.intervals));
  return bounds;
}

Bounds Equality(const Value& operand, const FieldTraits& field) {
  if (!Usable(operand, field)) return std::nullopt;
  if (field.hashed) return HashedEquality(operand, field);
  FieldBounds bounds;
  if (operand.Is(Type::kNull) || operand.Is(Type::kUndefined)) {
    bounds.intervals.push_back(*BracketOf(Type::kNull, nullptr));
  } else if (operand.Is(Type::kArray)) {
    AddArray(operand, field, &bounds.intervals);
  } else {
    bounds.intervals.push_back(Interval::Point(operand, field.collation));
    bounds.exact = true;
  }
  bounds.intervals = Normalize(std::move(bounds.intervals));
  return bounds;
}

Bounds Comparison(MatchOp op, const Value& operand, const FieldTraits& field) {
  const bool strict = op == MatchOp::kLt || op == MatchOp::kGt;
  const bool upwards = op == MatchOp::kGt || op == MatchOp::kGte;
  if (!Usable(operand, field) || field.hashed) return std::nullopt;
  if (IsNaN(operand)) {
    if (strict) return FieldBounds{{}, true};
    return FieldBounds{{Interval::Point(operand, nullptr)}, true};
  }
  std::optional<Interval> bracket = BracketOf(operand.type(), field.collation);
  if (!bracket) return std::nullopt;
  FieldBounds bounds;
  if (operand.Is(Type::kNull)) {
    if (!strict) bounds.intervals.push_back(std::move(*bracket));
    return bounds;
  }
  bounds.intervals.push_back(
      upwards ? Interval::Make(operand, !strict, bracket->high, bracket->high_inclusive, field.collation)
              : Interval::Make(bracket->low, bracket->low_inclusive, operand, !strict, field.collation));
  bounds.intervals = Normalize(std::move(bounds.intervals));
  bounds.exact = true;
  return bounds;
}

// Strings that start with the prefix (in byte order, so not through a collation), and stored regexes: one matches
// itself.
Bounds OfRegex(const MatchNode& node, const FieldTraits& field) {
  if (field.hashed) return std::nullopt;
  bson::Arena arena;
  FieldBounds bounds;
  const std::string_view prefix = field.collation == nullptr ? node.regex_prefix() : std::string_view();
  const std::string successor = storage::PrefixEnd(prefix);
  const Interval strings = *BracketOf(Type::kString, field.collation);
  bounds.intervals.push_back(successor.empty()
                                 ? strings
                                 : Interval::Make(arena.String(prefix), true, arena.String(successor), false, nullptr));
  bounds.exact = !prefix.empty() && node.regex_is_prefix_only() && node.regex().options.empty();
  if (bounds.exact) {
    const std::string itself = std::string(node.regex().pattern) + std::string(2, '\0');
    bounds.intervals.push_back(
        Interval::Point(Value(Type::kRegex, itself.data(), static_cast<uint32_t>(itself.size())), nullptr));
  } else {
    constexpr std::string_view kEmptyRegex("\0\0", 2);
    constexpr std::string_view kEmptyPointer("\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 17);
    bounds.intervals.push_back(Interval::Make(Value(Type::kRegex, kEmptyRegex.data(), 2), true,
                                              Value(Type::kDbPointer, kEmptyPointer.data(), 17), false, nullptr));
  }
  bounds.intervals = Normalize(std::move(bounds.intervals));
  return bounds;
}

Bounds OfIn(const MatchNode& node, const FieldTraits& field) {
  FieldBounds all{{}, true};
  const auto add = [&all](Bounds one) {
    if (!one) return false;
    all.exact = all.exact && one->exact;
    all.intervals.insert(all.intervals.end(), one->intervals.begin(), one->intervals.end());
    return true;
  };
  for (const bson::Element& member : node.operand().AsView()) {
    if (!member.value.Is(Type::kRegex) && !add(Equality(member.value, field))) return std::nullopt;
  }
  for (const auto& regex : node.children()) {
    if (!add(OfRegex(*regex, field))) return std::nullopt;
  }
  all.intervals = Normalize(std::move(all.intervals));
  return all;
}

// Values that do not meet an exact condition lie outside its bounds. An array may have elements inside and outside, so
// it has to be examined; an empty one counts as undefined, which is why "not null" is of no use once there are arrays.
Bounds OfNot(const MatchNode& child, const FieldTraits& field) {
  if (field.hashed) return std::nullopt;
  if (child.op() == MatchOp::kExists) return FieldBounds{{*BracketOf(Type::kNull, nullptr)}, false};
  const bool is_null = child.op() == MatchOp::kEq && child.operand().Is(Type::kNull);
  if (is_null && field.multikey) return std::nullopt;
  Bounds inside = BoundsOf(child, field);
  if (!inside || !(inside->exact || is_null)) return std::nullopt;
  return FieldBounds{Complement(inside->intervals), inside->exact && !field.multikey};
}

// All conditions hold for one element, so their intervals may be intersected even among arrays.
Bounds OfElemMatchValue(const MatchNode& node, const FieldTraits& field) {
  if (field.hashed) return std::nullopt;
  Bounds common;
  for (const auto& child : node.children()) {
    Bounds one = BoundsOf(*child, field);
    if (!one) continue;
    common = FieldBounds{common ? Intersect(common->intervals, one->intervals) : std::move(one->intervals), false};
  }
  return common;
}

}  // namespace

std::optional<FieldBounds> BoundsOf(const MatchNode& node, const FieldTraits& field) {
  switch (node.op()) {
    case MatchOp::kEq: return Equality(node.operand(), field);
    case MatchOp::kLt:
    case MatchOp::kLte:
    case MatchOp::kGt:
    case MatchOp::kGte: return Comparison(node.op(), node.operand(), field);
    case MatchOp::kIn: return OfIn(node, field);
    case MatchOp::kRegex: return OfRegex(node, field);
    case MatchOp::kMod:
      if (field.hashed) return std::nullopt;
      return FieldBounds{{*BracketOf(Type::kDouble, nullptr)}, false};
    case MatchOp::kExists:
      if (field.hashed) return std::nullopt;
      return FieldBounds{{Interval::All()}, false};
    case MatchOp::kNot: return OfNot(*node.children().front(), field);
    case MatchOp::kElemMatchValue: return OfElemMatchValue(node, field);
    default: return std::nullopt;
  }
}

}  // namespace braid::query::plan
