#include "services/schema/wanted.h"

#include <algorithm>
#include <string_view>

#include "base/strings.h"

namespace braid::schema {
namespace {

using client::Bson;
using client::BsonPtr;

// Null for an empty text.
Result<BsonPtr> ReadPart(const CollectionSpec& spec, const char* part, const std::string& json) {
  if (json.empty()) return BsonPtr();
  auto document = client::ParseJson(json);
  if (document.ok()) return document;
  return Status(Code::kFailedToParse, StrCat("the spec of ", spec.name, ": ", part, ": ", document.error().message()));
}

// As drivers name an index: user_id_1_created_at_-1.
std::string NameOfKeys(const bson_t& keys) {
  std::string name;
  bson_iter_t field;
  if (!bson_iter_init(&field, &keys)) return name;
  while (bson_iter_next(&field)) {
    if (!name.empty()) name += '_';
    name += StrCat(bson_iter_key(&field), "_");
    if (BSON_ITER_HOLDS_UTF8(&field)) {
      name += bson_iter_utf8(&field, nullptr);
    } else {
      name += StrCat(bson_iter_as_int64(&field));
    }
  }
  return name;
}

Result<WantedIndex> ReadIndex(const CollectionSpec& collection, const IndexSpec& spec) {
  WantedIndex index{.unique = spec.unique, .named = !spec.name.empty()};
  BRAID_TRY(index.keys, ReadPart(collection, "keys", spec.keys));
  if (index.keys == nullptr) {
    return Status(Code::kFailedToParse, StrCat("the spec of ", collection.name, ": an index has no keys"));
  }
  BRAID_TRY(const BsonPtr filter, ReadPart(collection, "partial_filter", spec.partial_filter));
  index.name = spec.name.empty() ? NameOfKeys(*index.keys) : spec.name;
  index.definition.reset(bson_new());
  bson_t* const definition = index.definition.get();
  BSON_APPEND_DOCUMENT(definition, "key", index.keys.get());
  BSON_APPEND_UTF8(definition, "name", index.name.c_str());
  if (spec.unique) BSON_APPEND_BOOL(definition, "unique", true);
  if (spec.sparse) BSON_APPEND_BOOL(definition, "sparse", true);
  if (spec.expire_after_seconds) BSON_APPEND_INT64(definition, "expireAfterSeconds", *spec.expire_after_seconds);
  if (filter != nullptr) BSON_APPEND_DOCUMENT(definition, "partialFilterExpression", filter.get());
  return index;
}

}  // namespace

Result<Wanted> ReadSpec(const CollectionSpec& spec) {
  Wanted wanted{.name = spec.name};
  BRAID_TRY(wanted.validator, ReadPart(spec, "validator", spec.validator));
  BRAID_TRY(wanted.shard_key, ReadPart(spec, "shard_key", spec.shard_key));
  for (const IndexSpec& each : spec.indexes) {
    BRAID_TRY(WantedIndex index, ReadIndex(spec, each));
    wanted.indexes.push_back(std::move(index));
  }
  return wanted;
}

BsonPtr Without(const bson_t& document, std::initializer_list<const char*> fields) {
  BsonPtr rest(bson_new());
  bson_iter_t field;
  if (!bson_iter_init(&field, &document)) return rest;
  while (bson_iter_next(&field)) {
    const std::string_view key = bson_iter_key(&field);
    if (std::ranges::find(fields, key, [](const char* each) { return std::string_view(each); }) != fields.end())
      continue;
    bson_append_iter(rest.get(), nullptr, 0, &field);
  }
  return rest;
}

}  // namespace braid::schema
