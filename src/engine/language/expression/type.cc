// What a value is: $type, $isNumber, $bsonSize, $binarySize, $tsSecond, $tsIncrement, $toHashedIndexKey.
#include "engine/bson/hash.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Type;
using bson::Value;

Result<Value> TypeOfValue(const Call& call) { return call.arena().String(TypeOf(call[0])); }
Result<Value> IsNumber(const Call& call) { return call.arena().Bool(call[0].IsNumber()); }

Result<Value> BsonSize(const Call& call) {
  if (call[0].IsNullish()) return call.arena().Null();
  if (!call[0].Is(Type::kObject))
    return CallError(31393, "$bsonSize requires a document input, found: ", TypeOf(call[0]));
  return call.arena().Int32(static_cast<int32_t>(call[0].AsView().size()));
}

Result<Value> BinarySize(const Call& call) {
  if (call[0].IsNullish()) return call.arena().Null();
  if (call[0].Is(Type::kString)) return call.arena().Int32(static_cast<int32_t>(call[0].AsString().size()));
  if (!call[0].Is(Type::kBinary))
    return CallError(51276, "$binarySize requires a string or BinData argument, found: ", TypeOf(call[0]));
  return call.arena().Int32(static_cast<int32_t>(call[0].AsBinary().bytes.size()));
}

Result<Value> TsSecond(const Call& call) {
  if (call[0].IsNullish()) return call.arena().Null();
  if (!call[0].Is(Type::kTimestamp))
    return CallError(5687301, "Argument to $tsSecond must be a timestamp, but is ", TypeOf(call[0]));
  return call.arena().Int64(static_cast<int64_t>(call[0].AsTimestamp() >> 32));
}

Result<Value> TsIncrement(const Call& call) {
  if (call[0].IsNullish()) return call.arena().Null();
  if (!call[0].Is(Type::kTimestamp))
    return CallError(5687302, "Argument to $tsIncrement must be a timestamp, but is ", TypeOf(call[0]));
  return call.arena().Int64(static_cast<int64_t>(call[0].AsTimestamp() & 0xffffffff));
}

Result<Value> ToHashedIndexKey(const Call& call) { return call.arena().Int64(bson::MongoHash(call[0])); }

}  // namespace braid::query::functions
