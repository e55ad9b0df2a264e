// The journal of `braid demo`, from the database `demo` of its store.
#include "base/strings.h"
#include "client/fields.h"
#include "http/api.h"
#include "http/routes.h"

namespace braid::http {
namespace {

constexpr const char* kDemoDatabase = "demo";

Status ReadNotes(mongoc_client_t* client, const char* collection, const std::string& options,
                 const std::function<void(const bson_t&)>& each) {
  BRAID_TRY(const client::BsonPtr parsed, client::ParseJson(options));
  const client::CollectionPtr handle = client::CollectionOf(client, kDemoDatabase, collection);
  const client::Bson all;
  return ForEachDocument(
      client::CursorPtr(mongoc_collection_find_with_opts(handle.get(), all.get(), parsed.get(), nullptr)), each);
}

Result<Response> RunDemo(Api& api, const Call& call) {
  const Client client = api.clients().Acquire();
  client::Bson status;
  BRAID_CHECK_OK(ReadNotes(client.get(), "status", R"({"sort": {"_id": 1}})", [&](const bson_t& load) {
    bson_append_document(status.get(), std::string(client::TextOf(&load, "_id")).c_str(), -1, &load);
  }));
  client::Bson events;
  int64_t count = 0;
  const std::string newest = StrCat(R"({"sort": {"at": -1}, "limit": )", call.arguments.Integer("limit"), "}");
  BRAID_CHECK_OK(ReadNotes(client.get(), "events", newest, [&](const bson_t& event) {
    client::Bson row;
    row.Integer("at_ms", client::DateOf(&event, "at").value_or(0))
        .Text("load", client::TextOf(&event, "load"))
        .Text("text", client::TextOf(&event, "text"));
    events.Document(StrCat(count++).c_str(), row);
  }));
  client::Bson json;
  json.Document("status", status).Array("events", events);
  return JsonResponse(json);
}

constexpr Parameter kDemoParameters[] = {{.name = "limit",
                                          .help = "How many of the newest events.",
                                          .type = Parameter::Type::kInteger,
                                          .fallback = "20",
                                          .min = 1,
                                          .max = 1000}};

constexpr Route kDemoRoutes[] = {
    {.method = "GET",
     .path = "/v1/demo",
     .group = "operation",
     .summary = "What `braid demo` has done, load by load, and what happened lately; empty on any other server.",
     .parameters = kDemoParameters,
     .gives = "Demo",
     .run = RunDemo,
     .cacheable = true},
};

constexpr Schema kDemoSchemas[] = {
    {"Demo",
     R"({"type": "object", "required": ["status", "events"], "properties": {"status": {"type": "object"},
      "events": {"type": "array", "items": {"type": "object", "required": ["at_ms", "load", "text"]}}}})"},
};

}  // namespace

std::span<const Route> DemoRoutes() { return kDemoRoutes; }
std::span<const Schema> DemoSchemas() { return kDemoSchemas; }

}  // namespace braid::http
