// $bitAnd, $bitOr, $bitXor, $bitNot over int32 and int64; an int64 among the operands makes the result one.
#include "base/strings.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Type;
using bson::Value;

namespace {

template <typename Combine>
Result<Value> CombineBits(const Call& call, int64_t neutral, Combine combine) {
  int64_t bits = neutral;
  bool wide = false;
  bool nothing = false;
  for (const Value& arg : call.args) {
    if (arg.IsNullish()) {
      nothing = true;
    } else if (arg.Is(Type::kInt64)) {
      wide = true;
      bits = combine(bits, arg.AsInt64());
    } else if (arg.Is(Type::kInt32)) {
      bits = combine(bits, arg.AsInt32());
    } else {
      return Status(Code::kTypeMismatch, StrCat(call.name, " only supports int and long operands."));
    }
  }
  if (nothing) return call.arena().Null();
  return wide ? call.arena().Int64(bits) : call.arena().Int32(static_cast<int32_t>(bits));
}

}  // namespace

Result<Value> BitAnd(const Call& call) {
  return CombineBits(call, -1, [](int64_t a, int64_t b) { return a & b; });
}
Result<Value> BitOr(const Call& call) {
  return CombineBits(call, 0, [](int64_t a, int64_t b) { return a | b; });
}
Result<Value> BitXor(const Call& call) {
  return CombineBits(call, 0, [](int64_t a, int64_t b) { return a ^ b; });
}

Result<Value> BitNot(const Call& call) {
  const Value& arg = call[0];
  if (arg.Is(Type::kInt32)) return call.arena().Int32(~arg.AsInt32());
  if (arg.Is(Type::kInt64)) return call.arena().Int64(~arg.AsInt64());
  if (arg.IsNullish()) return call.arena().Null();
  return CallError(28765, "$bitNot only supports int and long, not: ", TypeOf(arg));
}

}  // namespace braid::query::functions
