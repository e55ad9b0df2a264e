#include "services/schema/actual.h"

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::schema {
namespace {

using client::Bson;
using client::BsonPtr;

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
