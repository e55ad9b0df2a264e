// Arrays as wholes: $arrayElemAt, $first, $last, $concatArrays, $in, $indexOfArray, $isArray, $range, $reverseArray,
// $size, $slice.
#include <algorithm>
#include <limits>

#include "engine/bson/compare.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Element;
using bson::Type;
using bson::Value;

namespace {

/// Counted from the end if negative; missing outside.
Value ElementAt(const Value& array, int64_t index) {
  if (index < 0) index += static_cast<int64_t>(array.AsView().Count());
  return index < 0 ? Value() : array.AsView().At(static_cast<size_t>(index));
}

Result<Value> ElementAtEnd(const Call& call, int64_t index) {
  if (call[0].IsNullish()) return call.arena().Null();
  if (!call[0].Is(Type::kArray)) {
    return CallError(28689, call.name, "'s argument must be an array, but is ", TypeOf(call[0]));
  }
  return ElementAt(call[0], index);
}

/// A number that fits an int32, or one of two errors.
struct IntCodes {
  int not_number;
  int not_int;
};
Result<int64_t> IntOperand(const Call& call, size_t i, IntCodes codes, std::string_view what) {
  if (!call[i].IsNumber()) {
    return CallError(codes.not_number, call.name, " requires a numeric ", what,
                     ", found value of type: ", TypeOf(call[i]));
  }
  const std::optional<int32_t> exact = ExactInt32(call[i]);
  if (!exact)
    return CallError(codes.not_int, call.name, " requires a ", what, " that can be represented as a 32-bit integer");
  return int64_t{*exact};
}

}  // namespace

Result<Value> ArrayElemAt(const Call& call) {
  if (call.AnyNullish()) return call.arena().Null();
  if (!call[0].Is(Type::kArray)) {
    return CallError(28689, "$arrayElemAt's first argument must be an array, but is ", TypeOf(call[0]));
  }
  BRAID_TRY(int64_t index, IntOperand(call, 1, {28690, 28691}, "second argument"));
  return ElementAt(call[0], index);
}

Result<Value> First(const Call& call) { return ElementAtEnd(call, 0); }
Result<Value> Last(const Call& call) { return ElementAtEnd(call, -1); }

Result<Value> ConcatArrays(const Call& call) {
  Values items;
  for (const Value& arg : call.args) {
    if (arg.IsNullish()) return call.arena().Null();
    if (!arg.Is(Type::kArray)) return CallError(28664, "$concatArrays only supports arrays, not ", TypeOf(arg));
    for (const Element& item : arg.AsView()) {
      BRAID_CHECK_OK(call.work().Tick());
      items.push_back(item.value);
    }
  }
  return MakeArray(call.arena(), items);
}

Result<Value> In(const Call& call) {
  if (!call[1].Is(Type::kArray)) {
    return CallError(40081, "$in requires an array as a second argument, found: ", TypeOf(call[1]));
  }
  for (const Element& item : call[1].AsView()) {
    if (bson::Equal(call[0], item.value, call.collation())) return call.arena().Bool(true);
  }
  return call.arena().Bool(false);
}

Result<Value> IndexOfArray(const Call& call) {
  if (call[0].IsNullish()) return call.arena().Null();
  if (!call[0].Is(Type::kArray)) {
    return CallError(40090, "$indexOfArray requires an array as a first argument, found: ", TypeOf(call[0]));
  }
  BRAID_TRY(IndexRange range, IndexRangeOf(call));
  int32_t at = 0;
  for (const Element& item : call[0].AsView()) {
    if (at >= range.end) break;
    if (at >= range.start && bson::Equal(item.value, call[1], call.collation())) return call.arena().Int32(at);
    ++at;
  }
  return call.arena().Int32(-1);
}

Result<Value> IsArray(const Call& call) { return call.arena().Bool(call[0].Is(Type::kArray)); }

Result<Value> Range(const Call& call) {
  BRAID_TRY(const int64_t start, IntOperand(call, 0, {34443, 34444}, "starting value"));
  BRAID_TRY(const int64_t end, IntOperand(call, 1, {34445, 34446}, "ending value"));
  int64_t step = 1;
  if (call.size() > 2) {
    BRAID_TRY(step, IntOperand(call, 2, {34447, 34448}, "step value"));
    if (step == 0) return CallError(34449, "$range requires a non-zero step value");
  }
  constexpr int64_t kItemsMax = 100 * 1024 * 1024 / 32;  // as many as fit in 100 MB of values
  const int64_t distance = step > 0 ? end - start : start - end;
  if (distance > 0 && distance / std::abs(step) > kItemsMax) {
    return Status(Code::kExceededMemoryLimit, "$range would use too much memory and cannot spill");
  }
  Values items;
  for (int64_t i = start; step > 0 ? i < end : i > end; i += step) {
    BRAID_CHECK_OK(call.work().Tick());
    items.push_back(call.arena().Int32(static_cast<int32_t>(i)));
  }
  return MakeArray(call.arena(), items);
}

Result<Value> ReverseArray(const Call& call) {
  if (call[0].IsNullish()) return call.arena().Null();
  if (!call[0].Is(Type::kArray)) {
    return CallError(34435, "The argument to $reverseArray must be an array, but was of type: ", TypeOf(call[0]));
  }
  Values items = ItemsOf(call[0]);
  std::reverse(items.begin(), items.end());
  return MakeArray(call.arena(), items);
}

Result<Value> Size(const Call& call) {
  if (!call[0].Is(Type::kArray)) {
    return CallError(17124, "The argument to $size must be an array, but was of type: ", TypeOf(call[0]));
  }
  return call.arena().Int32(static_cast<int32_t>(call[0].AsView().Count()));
}

Result<Value> Slice(const Call& call) {
  if (call.AnyNullish()) return call.arena().Null();
  if (!call[0].Is(Type::kArray))
    return CallError(28724, "First argument to $slice must be an array, but is of type: ", TypeOf(call[0]));
  BRAID_TRY(int64_t start, IntOperand(call, 1, {28725, 28726}, "second argument"));
  const Values items = ItemsOf(call[0]);
  const auto count = static_cast<int64_t>(items.size());
  int64_t end = count;
  if (call.size() == 2) {
    if (start >= 0) {
      end = std::min(start, count);
      start = 0;
    } else {
      start = std::max<int64_t>(0, count + start);
    }
  } else {
    BRAID_TRY(int64_t length, IntOperand(call, 2, {28727, 28728}, "third argument"));
    if (length <= 0) return CallError(28729, "Third argument to $slice must be positive: ", length);
    start = start < 0 ? std::max<int64_t>(0, count + start) : std::min(start, count);
    end = std::min(start + length, count);
  }
  return MakeArray(call.arena(), std::span(items).subspan(start, end - start));
}

}  // namespace braid::query::functions
