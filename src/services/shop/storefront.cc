// The shop at a glance: newest orders, stock, carts.
#include "services/shop/json.h"

#include <functional>

#include "base/strings.h"
#include "client/fields.h"
#include "services/shop/collections.h"
#include "services/shop/documents.h"

namespace braid::shop {
namespace {

using client::Bson;

constexpr const char* kStockByZone = R"({"pipeline": [{"$unwind": "$stock_by_geo"},
  {"$group": {"_id": "$stock_by_geo.geo_zone", "products": {"$sum": 1}, "qty": {"$sum": "$stock_by_geo.qty"},
    "reserved": {"$sum": "$stock_by_geo.reserved"},
    "sold_out": {"$sum": {"$cond": [{"$eq": ["$stock_by_geo.qty", 0]}, 1, 0]}},
    "oversold": {"$sum": {"$cond": [{"$lt": ["$stock_by_geo.qty", 0]}, 1, 0]}}}}, {"$sort": {"_id": 1}}]})";
constexpr const char* kLowest = R"({"pipeline": [{"$unwind": "$stock_by_geo"},
  {"$sort": {"stock_by_geo.qty": 1, "_id": 1}}, {"$limit": 12},
  {"$project": {"name": 1, "stock_by_geo": 1}}]})";
constexpr const char* kCartsByStatus =
    R"({"pipeline": [{"$group": {"_id": "$status", "carts": {"$sum": 1}}}, {"$sort": {"_id": 1}}]})";

// Each result becomes a row of the array `name`.
Status AppendAggregate(const client::CollectionPtr& collection, const char* pipeline, const char* name,
                       const std::function<void(const bson_t&, Bson&)>& make_row, Bson& json) {
  BRAID_TRY(const client::BsonPtr parsed, client::ParseJson(pipeline));
  const client::CursorPtr cursor(
      mongoc_collection_aggregate(collection.get(), MONGOC_QUERY_NONE, parsed.get(), nullptr, nullptr));
  Bson rows;
  int count = 0;
  const bson_t* document = nullptr;
  while (mongoc_cursor_next(cursor.get(), &document)) {
    Bson row;
    make_row(*document, row);
    rows.Document(StrCat(count++).c_str(), row);
  }
  bson_error_t error{};
  if (mongoc_cursor_error(cursor.get(), &error)) return client::FromError(error);
  json.Array(name, rows);
  return {};
}

Status AppendNewestOrders(const client::CollectionPtr& orders, int64_t limit, Bson& json) {
  BRAID_TRY(const client::BsonPtr newest, client::ParseJson(StrCat(R"({"sort": {"_id": -1}, "limit": )", limit, "}")));
  const Bson all;
  const client::CursorPtr cursor(mongoc_collection_find_with_opts(orders.get(), all.get(), newest.get(), nullptr));
  Bson rows;
  int count = 0;
  const bson_t* document = nullptr;
  while (mongoc_cursor_next(cursor.get(), &document)) {
    BRAID_TRY(const Order order, OrderOf(*document));
    Bson row;
    AppendResult(order, row);
    rows.Document(StrCat(count++).c_str(), row);
  }
  bson_error_t error{};
  if (mongoc_cursor_error(cursor.get(), &error)) return client::FromError(error);
  json.Array("orders", rows);
  return {};
}

}  // namespace

Status AppendStorefront(Clients& clients, const std::string& database, int64_t limit, Bson& json) {
  const Client client = clients.Acquire();
  const client::CollectionPtr products = client::CollectionOf(client.get(), database, kProducts);
  BRAID_CHECK_OK(AppendNewestOrders(client::CollectionOf(client.get(), database, kOrders), limit, json));
  BRAID_CHECK_OK(AppendAggregate(
      products, kStockByZone, "stock",
      [](const bson_t& group, Bson& row) {
        row.Text("geo_zone", client::TextOf(&group, "_id"));
        for (const char* name : {"products", "qty", "reserved", "sold_out", "oversold"}) {
          row.Integer(name, client::IntegerOf(&group, name));
        }
      },
      json));
  BRAID_CHECK_OK(AppendAggregate(
      products, kLowest, "lowest",
      [](const bson_t& product, Bson& row) {
        row.Text("product_id", client::TextOf(&product, "_id"))
            .Text("name", client::TextOf(&product, "name"))
            .Text("geo_zone", client::TextOf(&product, "stock_by_geo.geo_zone"))
            .Integer("qty", client::IntegerOf(&product, "stock_by_geo.qty"))
            .Integer("reserved", client::IntegerOf(&product, "stock_by_geo.reserved"));
      },
      json));
  return AppendAggregate(
      client::CollectionOf(client.get(), database, kCarts), kCartsByStatus, "carts",
      [](const bson_t& group, Bson& row) {
        row.Text("status", client::TextOf(&group, "_id")).Integer("carts", client::IntegerOf(&group, "carts"));
      },
      json);
}

}  // namespace braid::shop
