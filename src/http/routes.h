// The tables of routes, one for each service, what they share, and the OpenAPI 3.1 document that is made from them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/handles.h"
#include "http/route.h"

namespace braid::http {

/// A named schema, in JSON.
struct Schema {
  std::string_view name;
  std::string_view json;
};
std::span<const Schema> AllSchemas();

std::span<const Route> StakingRoutes();
std::span<const Schema> StakingSchemas();
std::span<const Route> ExplorerRoutes();
std::span<const Schema> ExplorerSchemas();
std::span<const Route> SettlementRoutes();
std::span<const Schema> SettlementSchemas();
std::span<const Route> ShopRoutes();
std::span<const Schema> ShopSchemas();
std::span<const Route> ShardRoutes();
std::span<const Schema> ShardSchemas();
std::span<const Route> DemoRoutes();
std::span<const Schema> DemoSchemas();
std::span<const Route> OperationRoutes();
std::span<const Schema> OperationSchemas();

inline Response JsonResponse(const client::Bson& json, unsigned status = 200) {
  return {.status = status, .body = client::ToJson(json)};
}

/// Calls `each` with every document of a query or an aggregation.
Status ForEachDocument(client::CursorPtr cursor, const std::function<void(const bson_t&)>& each);

/// The texts of the objects in a JSON body: one object, or an array of them. `what` is what the error calls one.
Result<std::vector<std::string>> ObjectsOf(const std::string& body, std::string_view what);

/// A page of a list as lines of JSON.
struct LinePage {
  std::string lines;
  std::string next;  // empty: it is the last
};
/// NDJSON of a whole list, page by page, so that memory does not grow with it.
Response LinesResponse(std::function<Result<LinePage>(const std::string& after)> page, std::string after);

std::string OpenApiDocument(std::span<const Route> routes, std::span<const Schema> schemas);

/// A page without anything from elsewhere that reads /openapi.json and shows it.
std::string_view DocumentationPage();

}  // namespace braid::http
