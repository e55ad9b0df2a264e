#include "services/schema/collection.h"

#include <algorithm>
#include <string_view>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"

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

// The documents of a command that answers with a cursor. All of them fit into its first batch: a collection has at most
// 64 indexes.
Result<std::vector<BsonPtr>> FirstBatch(mongoc_client_t* client, const std::string& database, const Bson& command) {
  BRAID_TRY(const BsonPtr reply, client::RunCommand(client, database.c_str(), command.get()));
  std::vector<BsonPtr> documents;
  bson_iter_t top;
  bson_iter_t batch;
  bson_iter_t element;
  if (!bson_iter_init(&top, reply.get()) || !bson_iter_find_descendant(&top, "cursor.firstBatch", &batch) ||
      !bson_iter_recurse(&batch, &element)) {
    return documents;
  }
  while (bson_iter_next(&element)) {
    const uint8_t* data = nullptr;
    uint32_t length = 0;
    if (!BSON_ITER_HOLDS_DOCUMENT(&element)) continue;
    bson_iter_document(&element, &length, &data);
    documents.emplace_back(bson_new_from_data(data, length));
  }
  return documents;
}

Status ReadOptions(mongoc_client_t* client, const std::string& database, const std::string& collection,
                   Actual& actual) {
  Bson filter;
  filter.Text("name", collection);
  Bson command;
  command.Integer("listCollections", 1).Document("filter", filter);
  BRAID_TRY(const std::vector<BsonPtr> rows, FirstBatch(client, database, command));
  if (rows.empty()) return {};
  actual.type = client::TextOf(rows.front().get(), "type");
  actual.options = SubDocument(*rows.front(), "options");
  return {};
}

Status ReadShardKey(mongoc_client_t* client, const std::string& database, const std::string& collection,
                    Actual& actual) {
  Bson filter;
  filter.Text("_id", StrCat(database, ".", collection));
  Bson command;
  command.Text("find", "collections").Document("filter", filter).Integer("limit", 1);
  BRAID_TRY(const std::vector<BsonPtr> rows, FirstBatch(client, "config", command));
  // MongoDB also lists collections there that are placed without being sharded.
  if (rows.empty() || client::BoolOf(rows.front().get(), "unsplittable")) return {};
  actual.shard_key = SubDocument(*rows.front(), "key");
  return {};
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

BsonPtr SubDocument(const bson_t& document, const char* field) {
  bson_iter_t found;
  const uint8_t* data = nullptr;
  uint32_t length = 0;
  if (bson_iter_init_find(&found, &document, field) && BSON_ITER_HOLDS_DOCUMENT(&found)) {
    bson_iter_document(&found, &length, &data);
    return BsonPtr(bson_new_from_data(data, length));
  }
  return BsonPtr(bson_new());
}

Result<StoreKind> AskKind(mongoc_client_t* client) {
  Bson hello;
  hello.Integer("hello", 1);
  BRAID_TRY(const BsonPtr server, client::RunCommand(client, "admin", hello.get()));
  Bson build_info;
  build_info.Integer("buildInfo", 1);
  BRAID_TRY(const BsonPtr build, client::RunCommand(client, "admin", build_info.get()));
  return StoreKind{.shards = client::TextOf(server.get(), "msg") == "isdbgrid",
                   .unique_over_shards = bson_has_field(build.get(), "braid")};
}

Result<Actual> ReadActual(mongoc_client_t* client, const StoreKind& kind, const std::string& database,
                          const std::string& collection) {
  Actual actual{.options = BsonPtr(bson_new())};
  BRAID_CHECK_OK(ReadOptions(client, database, collection, actual));
  if (actual.type != "collection") return actual;
  Bson command;
  command.Text("listIndexes", collection);
  auto indexes = FirstBatch(client, database, command);
  if (!indexes.ok()) {
    // It was dropped meanwhile.
    return indexes.error().code() == Code::kNamespaceNotFound ? Result<Actual>(Actual{.options = BsonPtr(bson_new())})
                                                              : indexes.error();
  }
  actual.indexes = *std::move(indexes);
  if (kind.shards) BRAID_CHECK_OK(ReadShardKey(client, database, collection, actual));
  return actual;
}

}  // namespace braid::schema
