// The order of all BSON values: what sort, range queries, indexes, $min/$max and $group agree on.
#pragma once

#include "engine/bson/value.h"

namespace braid::bson {

class Collation;

/// MinKey -1, undefined 0, null 5, numbers 10, string and symbol 15, object 20, array 25, binData 30, ObjectId 35, bool
/// 40, date 45, timestamp 47, regex 50, DBPointer 55, code 60, codeWScope 65, MaxKey 127.
int CanonicalType(Type type);

/// <0, 0 or >0. Numbers by exact value across types; NaN equals NaN and is below all numbers; strings by bytes or by
/// the collation (null: bytes), also inside documents and arrays. Missing is below everything but MinKey, and equals
/// undefined.
int Compare(const Value& a, const Value& b, const Collation* collation = nullptr);

/// Documents field by field: canonical type, then name, then value.
int Compare(View a, View b, const Collation* collation = nullptr);

inline bool Equal(const Value& a, const Value& b, const Collation* collation = nullptr) {
  return Compare(a, b, collation) == 0;
}

/// For use as a map's order.
struct ValueLess {
  const Collation* collation = nullptr;
  bool operator()(const Value& a, const Value& b) const { return Compare(a, b, collation) < 0; }
};

/// Equal values (as Compare sees them) hash alike.
size_t HashOf(const Value& value, const Collation* collation = nullptr);

}  // namespace braid::bson
