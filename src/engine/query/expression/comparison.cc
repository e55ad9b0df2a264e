// $cmp, $eq, $ne, $lt, $lte, $gt, $gte: the order of all values, not bracketed by type.
#include "engine/bson/compare.h"
#include "engine/query/expression/functions.h"

namespace braid::query::functions {

using bson::Value;

namespace {

int Order(const Call& call) { return bson::Compare(call[0], call[1], call.collation()); }

}  // namespace

Result<Value> Cmp(const Call& call) {
  const int order = Order(call);
  return call.arena().Int32((order > 0) - (order < 0));
}
Result<Value> Eq(const Call& call) { return call.arena().Bool(Order(call) == 0); }
Result<Value> Ne(const Call& call) { return call.arena().Bool(Order(call) != 0); }
Result<Value> Lt(const Call& call) { return call.arena().Bool(Order(call) < 0); }
Result<Value> Lte(const Call& call) { return call.arena().Bool(Order(call) <= 0); }
Result<Value> Gt(const Call& call) { return call.arena().Bool(Order(call) > 0); }
Result<Value> Gte(const Call& call) { return call.arena().Bool(Order(call) >= 0); }

}  // namespace braid::query::functions
