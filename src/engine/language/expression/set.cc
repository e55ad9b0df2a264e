// Arrays as sets: $setUnion, $setIntersection, $setDifference, $setEquals, $setIsSubset, $allElementsTrue,
// $anyElementTrue.
#include <algorithm>
#include <set>

#include "engine/bson/compare.h"
#include "engine/bson/number.h"
#include "engine/language/expression/functions.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Element;
using bson::Type;
using bson::Value;

namespace {

/// The elements in order, each once.
Values SetOf(const Value& array, const bson::Collation* collation) {
  Values items = ItemsOf(array);
  std::stable_sort(items.begin(), items.end(), bson::ValueLess{collation});
  auto same = [collation](const Value& a, const Value& b) { return bson::Equal(a, b, collation); };
  items.erase(std::unique(items.begin(), items.end(), same), items.end());
  return items;
}

Result<Value> NeedArray(const Call& call, size_t i, int code) {
  if (call[i].Is(Type::kArray)) return call[i];
  return CallError(code, "all operands of ", call.name, " must be arrays. One argument is of type: ", TypeOf(call[i]));
}

bool Includes(const Values& outer, const Values& inner, const bson::Collation* collation) {
  return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end(), bson::ValueLess{collation});
}

}  // namespace

Result<Value> SetUnion(const Call& call) {
  Values all;
  for (size_t i = 0; i < call.size(); ++i) {
    if (call[i].IsNullish()) return call.arena().Null();
    BRAID_TRY(Value array, NeedArray(call, i, 17043));
    for (const Element& item : array.AsView()) {
      BRAID_CHECK_OK(call.work().Tick());
      all.push_back(item.value);
    }
  }
  const bson::ValueLess less{call.collation()};
  std::stable_sort(all.begin(), all.end(), less);
  auto same = [&](const Value& a, const Value& b) { return bson::Equal(a, b, call.collation()); };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return MakeArray(call.arena(), all);
}

Result<Value> SetIntersection(const Call& call) {
  Values common;
  for (size_t i = 0; i < call.size(); ++i) {
    if (call[i].IsNullish()) return call.arena().Null();
    BRAID_TRY(Value array, NeedArray(call, i, 17047));
    Values next = SetOf(array, call.collation());
    if (i == 0) {
      common = std::move(next);
      continue;
    }
    auto absent = [&](const Value& v) {
      return !std::binary_search(next.begin(), next.end(), v, bson::ValueLess{call.collation()});
    };
    common.erase(std::remove_if(common.begin(), common.end(), absent), common.end());
  }
  return MakeArray(call.arena(), common);
}

Result<Value> SetDifference(const Call& call) {
  if (call.AnyNullish()) return call.arena().Null();
  BRAID_TRY(Value left, NeedArray(call, 0, 17048));
  BRAID_TRY(Value right, NeedArray(call, 1, 17049));
  using Taken = std::set<Value, bson::ValueLess, HeldAllocator<Value>>;
  Taken taken(bson::ValueLess{call.collation()});  // the elements on the right and the results so far
  for (const Element& item : right.AsView()) {
    BRAID_CHECK_OK(call.work().Tick());
    taken.insert(item.value);
  }
  Values items;
  for (const Element& item : left.AsView()) {
    BRAID_CHECK_OK(call.work().Tick());
    if (taken.insert(item.value).second) items.push_back(item.value);
  }
  return MakeArray(call.arena(), items);
}

Result<Value> SetEquals(const Call& call) {
  Values first;
  bool equal = true;
  for (size_t i = 0; i < call.size(); ++i) {
    BRAID_TRY(Value array, NeedArray(call, i, 17044));
    Values next = SetOf(array, call.collation());
    if (i == 0) {
      first = std::move(next);
    } else {
      equal = equal && first.size() == next.size() && Includes(first, next, call.collation());
    }
  }
  return call.arena().Bool(equal);
}

Result<Value> SetIsSubset(const Call& call) {
  BRAID_TRY(Value left, NeedArray(call, 0, 17046));
  BRAID_TRY(Value right, NeedArray(call, 1, 17042));
  return call.arena().Bool(Includes(SetOf(right, call.collation()), SetOf(left, call.collation()), call.collation()));
}

Result<Value> AllElementsTrue(const Call& call) {
  BRAID_TRY(Value array, NeedArray(call, 0, 17040));
  for (const Element& item : array.AsView()) {
    if (!bson::IsTruthy(item.value)) return call.arena().Bool(false);
  }
  return call.arena().Bool(true);
}

Result<Value> AnyElementTrue(const Call& call) {
  BRAID_TRY(Value array, NeedArray(call, 0, 17041));
  for (const Element& item : array.AsView()) {
    if (bson::IsTruthy(item.value)) return call.arena().Bool(true);
  }
  return call.arena().Bool(false);
}

}  // namespace braid::query::functions
