// The distribution of the collections: shards, chunks, moves and warnings, from the store's config collections.
#include <map>
#include <optional>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "http/api.h"
#include "http/routes.h"

namespace braid::http {
namespace {

using client::Bson;
using client::IntegerOf;
using client::TextOf;

constexpr int64_t kChunksShown = 2000;
constexpr int64_t kMovesShown = 50;

Status ReadConfig(mongoc_client_t* client, const char* collection, const char* options,
                  const std::function<void(const bson_t&)>& each) {
  BRAID_TRY(const client::BsonPtr parsed, client::ParseJson(options));
  const client::CollectionPtr handle = client::CollectionOf(client, "config", collection);
  const Bson filter;
  return ForEachDocument(
      client::CursorPtr(mongoc_collection_find_with_opts(handle.get(), filter.get(), parsed.get(), nullptr)), each);
}

// Documents and bytes of each sharded collection on each shard.
Status ReadDistribution(mongoc_client_t* client, const std::function<void(const bson_t&)>& each) {
  BRAID_TRY(const client::BsonPtr pipeline, client::ParseJson(R"({"pipeline": [{"$shardedDataDistribution": {}}]})"));
  const client::DatabasePtr database(mongoc_client_get_database(client, "admin"));
  return ForEachDocument(client::CursorPtr(mongoc_database_aggregate(database.get(), pipeline.get(), nullptr, nullptr)),
                         each);
}

void Copy(const bson_t& from, const char* path, Bson& to, const char* name) {
  bson_iter_t start;
  bson_iter_t field;
  if (!bson_iter_init(&start, &from) || !bson_iter_find_descendant(&start, path, &field)) return;
  bson_append_iter(to.get(), name, -1, &field);
}

// Appends a document to an array.
class Rows {
 public:
  void Add(const Bson& row) { rows_.Document(StrCat(count_++).c_str(), row); }
  const Bson& array() const { return rows_; }
  int64_t count() const { return count_; }

 private:
  Bson rows_;
  int64_t count_ = 0;
};

Status AppendShards(mongoc_client_t* client, Bson& json) {
  Rows shards;
  BRAID_CHECK_OK(ReadConfig(client, "shards", "{}", [&](const bson_t& row) {
    Bson shard;
    shard.Text("shard", TextOf(&row, "_id")).Bool("draining", client::BoolOf(&row, "draining"));
    shards.Add(shard);
  }));
  json.Array("shards", shards.array());
  return {};
}

Status AppendCollections(mongoc_client_t* client, Bson& json) {
  struct Spread {
    client::BsonPtr shards;
    client::BsonPtr operations;
    int64_t targeted = 0;
    int64_t scattered = 0;
  };
  std::map<std::string, Spread> spreads;
  BRAID_CHECK_OK(ReadDistribution(client, [&](const bson_t& row) {
    Bson shards;
    Copy(row, "shards", shards, "shards");
    spreads[std::string(TextOf(&row, "ns"))].shards.reset(bson_copy(shards.get()));
  }));
  Bson command;
  BSON_APPEND_INT32(command.get(), "serverStatus", 1);
  BRAID_TRY(const client::BsonPtr status, client::RunCommand(client, "admin", command.get()));
  for (int i = 0;; ++i) {
    const std::string row = StrCat("shardingStatistics.collections.", i);
    const std::string_view ns = TextOf(status.get(), (row + ".ns").c_str());
    if (ns.empty()) break;
    Spread& spread = spreads[std::string(ns)];
    spread.targeted = IntegerOf(status.get(), (row + ".targeted").c_str());
    spread.scattered = IntegerOf(status.get(), (row + ".scattered").c_str());
    Bson operations;
    Copy(*status, (row + ".shards").c_str(), operations, "operations");
    spread.operations.reset(bson_copy(operations.get()));
  }
  Rows collections;
  BRAID_CHECK_OK(ReadConfig(client, "collections", R"({"sort": {"_id": 1}})", [&](const bson_t& row) {
    const std::string ns(TextOf(&row, "_id"));
    const Spread& spread = spreads[ns];
    Bson collection;
    collection.Text("ns", ns);
    Copy(row, "key", collection, "key");
    Copy(row, "uuid", collection, "uuid");
    collection.Bool("unique", client::BoolOf(&row, "unique"));
    collection.Integer("targeted", spread.targeted).Integer("scattered", spread.scattered);
    if (spread.shards != nullptr) Copy(*spread.shards, "shards", collection, "shards");
    if (spread.operations != nullptr) Copy(*spread.operations, "operations", collection, "operations");
    collections.Add(collection);
  }));
  json.Array("collections", collections.array());
  return {};
}

Status AppendChunks(mongoc_client_t* client, Bson& json) {
  Rows chunks;
  const std::string options = StrCat(R"({"sort": {"uuid": 1, "min": 1}, "limit": )", kChunksShown, "}");
  BRAID_CHECK_OK(ReadConfig(client, "chunks", options.c_str(), [&](const bson_t& row) {
    Bson chunk;
    for (const char* name : {"uuid", "min", "max", "shard"}) Copy(row, name, chunk, name);
    chunks.Add(chunk);
  }));
  json.Array("chunks", chunks.array());
  Rows moving;
  BRAID_CHECK_OK(ReadConfig(client, "migrations", "{}", [&](const bson_t& row) {
    Bson move;
    for (const char* name : {"ns", "min", "max", "fromShard", "toShard"}) Copy(row, name, move, name);
    moving.Add(move);
  }));
  json.Array("moving", moving.array());
  Rows changes;
  const std::string newest = StrCat(R"({"sort": {"time": -1}, "limit": )", kMovesShown, "}");
  BRAID_CHECK_OK(ReadConfig(client, "changelog", newest.c_str(), [&](const bson_t& row) {
    // A move is noted twice, as sh.status() wants it.
    if (TextOf(&row, "what") == "moveChunk.from") return;
    Bson change;
    change.Integer("time", client::DateOf(&row, "time").value_or(0)).Text("what", TextOf(&row, "what"));
    change.Text("ns", TextOf(&row, "ns"));
    Copy(row, "details", change, "details");
    changes.Add(change);
  }));
  json.Array("changes", changes.array());
  return {};
}

Result<Response> RunShards(Api& api, const Call& /*call*/) {
  const Client client = api.clients().Acquire();
  Bson json;
  BRAID_CHECK_OK(AppendShards(client.get(), json));
  BRAID_CHECK_OK(AppendCollections(client.get(), json));
  BRAID_CHECK_OK(AppendChunks(client.get(), json));
  return JsonResponse(json);
}

Result<Response> RunAdvice(Api& api, const Call& call) {
  const std::string& ns = call.arguments.Text("collection");
  const size_t dot = ns.find('.');
  if (dot == 0 || dot == std::string::npos || dot + 1 == ns.size()) {
    return Status(Code::kBadValue, StrCat("collection is '", ns, "'; it must be DATABASE.COLLECTION"));
  }
  BRAID_TRY(std::string advice, api.AdviceOf(ns.substr(0, dot), ns.substr(dot + 1), call.arguments.Integer("shards")));
  return Response{.body = std::move(advice)};
}

constexpr Parameter kAdviceParameters[] = {
    {.name = "collection", .help = "DATABASE.COLLECTION, sharded or not.", .required = true},
    {.name = "shards",
     .help = "Shards to spread over.",
     .type = Parameter::Type::kInteger,
     .fallback = "4",
     .min = 2,
     .max = 1000}};

constexpr std::string_view kSharding = "sharding";
constexpr Route kShardRoutes[] = {
    {.method = "GET",
     .path = "/v1/shards",
     .group = kSharding,
     .summary =
         "Shards, sharded collections with their documents and operations per shard, chunks, moves and recent changes.",
     .gives = "Shards",
     .run = RunShards,
     .cacheable = true},
    {.method = "GET",
     .path = "/v1/shards/advice",
     .group = kSharding,
     .summary = "Rates shard keys for a collection, as `braid shards advise` does.",
     .parameters = kAdviceParameters,
     .gives = "ShardAdvice",
     .run = RunAdvice,
     .takes_long = true},
};

constexpr Schema kShardSchemas[] = {
    {"ShardAdvice",
     R"({"type": "object", "required": ["namespace", "documents", "operations", "candidates", "recommendation"],
      "properties": {"namespace": {"type": "string"}, "candidates": {"type": "array", "items": {"type": "object",
        "required": ["key", "score", "verdict", "notes"]}}}})"},
    {"Shards",
     R"({"type": "object", "required": ["shards", "collections", "chunks", "moving", "changes"], "properties": {
      "shards": {"type": "array", "items": {"type": "object", "required": ["shard", "draining"]}},
      "collections": {"type": "array", "items": {"type": "object", "required": ["ns", "key", "targeted", "scattered"],
        "properties": {"ns": {"type": "string"}, "targeted": {"type": "integer"}, "scattered": {"type": "integer"},
          "operations": {"type": "array", "items": {"type": "object", "required": ["shard", "asked", "written"]}}}}},
      "chunks": {"type": "array", "items": {"type": "object", "required": ["min", "max", "shard"]}},
      "moving": {"type": "array", "items": {"type": "object", "required": ["ns", "fromShard", "toShard"]}},
      "changes": {"type": "array", "items": {"type": "object", "required": ["time", "what", "ns"]}}}})"},
};

}  // namespace

std::span<const Route> ShardRoutes() { return kShardRoutes; }
std::span<const Schema> ShardSchemas() { return kShardSchemas; }

}  // namespace braid::http
