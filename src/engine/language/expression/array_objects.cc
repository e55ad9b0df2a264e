// $arrayToObject and $objectToArray: documents as arrays of {k, v}.
#include <unordered_map>

#include "engine/language/expression/functions.h"
#include "engine/language/expression/values.h"

namespace braid::query::functions {

using bson::Element;
using bson::Type;
using bson::Value;

namespace {

/// One pair, as [key, value].
Result<Element> PairOfArray(const Value& item) {
  if (!item.Is(Type::kArray)) {
    return CallError(
        40396, "$arrayToObject requires a consistent input format. Array was detected, now found: ", TypeOf(item));
  }
  const size_t size = item.AsView().Count();
  if (size != 2)
    return CallError(40397, "$arrayToObject requires an array of size 2 arrays, found array of size: ", size);
  const Value key = item.AsView().At(0);
  if (!key.Is(Type::kString))
    return CallError(40395, "$arrayToObject requires keys of type string. Found key type: ", TypeOf(key));
  return Element{key.AsString(), item.AsView().At(1)};
}

/// One pair, as {k: key, v: value}.
Result<Element> PairOfObject(const Value& item) {
  if (!item.Is(Type::kObject)) {
    return CallError(
        40391, "$arrayToObject requires a consistent input format. Object was detected, now found: ", TypeOf(item));
  }
  const size_t size = item.AsView().Count();
  if (size != 2)
    return CallError(40392,
                     "$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys: ", size);
  const Value key = item.AsView().Find("k");
  const Value value = item.AsView().Find("v");
  if (key.missing() || value.missing())
    return CallError(40393, "$arrayToObject requires an object with keys 'k' and 'v'.");
  if (!key.Is(Type::kString))
    return CallError(40394, "$arrayToObject requires keys of type string. Found key type: ", TypeOf(key));
  return Element{key.AsString(), value};
}

}  // namespace

Result<Value> ArrayToObject(const Call& call) {
  if (call[0].IsNullish()) return call.arena().Null();
  if (!call[0].Is(Type::kArray))
    return CallError(40386, "$arrayToObject requires an array input, found: ", TypeOf(call[0]));
  std::vector<Element, HeldAllocator<Element>> fields;
  std::unordered_map<std::string_view, size_t> places;
  bool arrays = false;
  for (const Element& item : call[0].AsView()) {
    if (fields.empty()) {
      arrays = item.value.Is(Type::kArray);
      if (!arrays && !item.value.Is(Type::kObject)) {
        return CallError(40398, "Unrecognised input type format for $arrayToObject: ", TypeOf(item.value));
      }
    }
    BRAID_TRY(Element pair, arrays ? PairOfArray(item.value) : PairOfObject(item.value));
    if (pair.name.find('\0') != std::string_view::npos) {
      return CallError(arrays ? 4940400 : 4940401, "Key field cannot contain an embedded null byte");
    }
    // A repeated key keeps its place and takes the later value.
    const auto [known, is_new] = places.try_emplace(pair.name, fields.size());
    if (is_new) {
      fields.push_back(pair);
    } else {
      fields[known->second] = pair;
    }
    BRAID_CHECK_OK(call.work().Tick());
  }
  return MakeObject(call.arena(), fields);
}

Result<Value> ObjectToArray(const Call& call) {
  if (call[0].IsNullish()) return call.arena().Null();
  if (!call[0].Is(Type::kObject))
    return CallError(40390, "$objectToArray requires a document input, found: ", TypeOf(call[0]));
  Values items;
  for (const Element& field : call[0].AsView()) {
    BRAID_CHECK_OK(call.work().Tick());
    const Element pair[] = {{"k", call.arena().String(field.name)}, {"v", field.value}};
    items.push_back(MakeObject(call.arena(), pair));
  }
  return MakeArray(call.arena(), items);
}

}  // namespace braid::query::functions
