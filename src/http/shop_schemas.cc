// The schemas of the storefront's routes.
#include "http/routes.h"

namespace braid::http {
namespace {

#define BRAID_PRODUCT_FIELDS                                                                                    \
  R"("name": {"type": "string"}, "category": {"type": "string"}, "price": {"type": "string"},)"                 \
  R"( "currency": {"type": ["string", "null"]}, "stock_by_geo": {"type": "array", "items": {"type": "object",)" \
  R"( "required": ["geo_zone", "qty"], "properties": {"geo_zone": {"type": "string"},)"                         \
  R"( "qty": {"type": "integer"}, "reserved": {"type": "integer"}}}}, "attrs": {"type": "object"})"
#define BRAID_CART_FIELDS                                                                                        \
  R"("_id": {"type": ["string", "null"]}, "user_id": {"type": ["string", "null"]},)"                             \
  R"( "session_id": {"type": ["string", "null"]}, "status": {"enum": ["active", "ordered", "abandoned"]},)"      \
  R"( "items": {"type": "array", "items": {"type": "object", "required": ["product_id", "qty", "price"],)"       \
  R"( "properties": {"product_id": {"type": "string"}, "name": {"type": "string"}, "qty": {"type": "integer"},)" \
  R"( "price": {"type": "string"}, "currency": {"type": "string"}}}}, "total_amount": {"type": "string"},)"      \
  R"( "currency": {"type": ["string", "null"]}, "created_at": {"type": "string"},)"                              \
  R"( "updated_at": {"type": "string"}, "expires_at": {"type": "string"})"
#define BRAID_PAGE_OF(name, item)                                                    \
  R"({"type": "object", "required": [")" name R"(", "next"], "properties": {")" name \
  R"(": {"type": "array", "items": {"$ref": "#/components/schemas/)" item R"("}},)"  \
  R"( "next": {"type": ["string", "null"],)"                                         \
  R"( "description": "To be given as after for the next page; null if there is none."}}})"

constexpr Schema kShopSchemas[] = {
    {"NewProduct",
     R"({"type": "object", "required": ["name", "category", "price", "currency"], "properties": {)" BRAID_PRODUCT_FIELDS
     "}}"},
    {"Product", R"({"type": "object", "required": ["_id", "name", "category", "price", "currency", "stock_by_geo",
      "attrs", "updated_at"], "properties": {"_id": {"type": "string"}, "updated_at": {"type": "string"}, )" BRAID_PRODUCT_FIELDS
                "}}"},
    {"ProductPage", BRAID_PAGE_OF("products", "Product")},
    {"StockChange", R"({"type": "object", "required": ["geo_zone", "qty"],
      "properties": {"geo_zone": {"type": "string"}, "qty": {"type": "integer"}}})"},
    {"Cart",
     R"({"type": "object", "required": ["_id", "status", "items", "total_amount"], "properties": {)" BRAID_CART_FIELDS
     "}}"},
    {"MergedCart", R"({"type": "object", "required": ["_id", "status", "items", "merged", "messages"],
      "properties": {"merged": {"type": "boolean"}, "messages": {"type": "array", "items": {"type": "object"}}, )" BRAID_CART_FIELDS
                   "}}"},
    {"NewItem", R"({"type": "object", "required": ["product_id", "qty"], "properties": {
      "product_id": {"type": "string"}, "qty": {"type": "integer", "minimum": 1}, "cart_id": {"type": "string"}}})"},
    {"Quantity", R"({"type": "object", "required": ["qty"],
      "properties": {"qty": {"type": "integer", "minimum": 1}, "cart_id": {"type": "string"}}})"},
    {"MergeFrom", R"({"type": "object", "required": ["session_id"], "properties": {"session_id": {"type": "string"},
      "geo_zone": {"type": "string", "description": "Whose stock limits the lines; without it that of all zones."}}})"},
    {"Checkout", R"({"type": "object", "required": ["geo_zone"], "properties": {
      "geo_zone": {"type": "string", "description": "Whose stock is sold."}, "cart_id": {"type": "string"}}})"},
    {"Order", R"({"type": "object", "required": ["_id", "order_id", "user_id", "created_at", "status", "geo_zone",
      "items", "total_amount", "currency"], "properties": {"_id": {"type": "string"},
      "order_id": {"type": "string"}, "user_id": {"type": "string"}, "created_at": {"type": "string"},
      "status": {"enum": ["paid", "shipped", "delivered", "canceled"]}, "geo_zone": {"type": "string"},
      "items": {"type": "array", "items": {"type": "object", "required": ["product_id", "price", "qty"],
        "properties": {"product_id": {"type": "string"}, "price": {"type": "string"}, "qty": {"type": "integer"}}}},
      "total_amount": {"type": "string"}, "currency": {"type": "string"}}})"},
    {"OrderPage", BRAID_PAGE_OF("orders", "Order")},
    {"Transition", R"({"type": "object", "required": ["status"], "properties": {
      "status": {"enum": ["paid", "shipped", "delivered", "canceled"]}, "user_id": {"type": "string"}}})"},
    {"Storefront",
     R"({"type": "object", "required": ["orders", "stock", "lowest", "carts"], "properties": {
      "orders": {"type": "array", "items": {"$ref": "#/components/schemas/Order"}},
      "stock": {"type": "array", "items": {"type": "object",
        "required": ["geo_zone", "products", "qty", "reserved", "sold_out", "oversold"]}},
      "lowest": {"type": "array", "items": {"type": "object",
        "required": ["product_id", "name", "geo_zone", "qty", "reserved"]}},
      "carts": {"type": "array", "items": {"type": "object", "required": ["status", "carts"]}}}})"},
    {"SalesReport", R"({"type": "object", "required": ["months", "best_sellers", "baskets", "cancellations"],
      "properties": {"months": {"type": "array", "items": {"type": "object"}},
      "best_sellers": {"type": "object", "required": ["by_units", "by_revenue"]},
      "baskets": {"type": "array", "items": {"type": "object"}},
      "cancellations": {"type": "array", "items": {"type": "object"}}}})"},
};
#undef BRAID_PRODUCT_FIELDS
#undef BRAID_CART_FIELDS
#undef BRAID_PAGE_OF

}  // namespace

std::span<const Schema> ShopSchemas() { return kShopSchemas; }

}  // namespace braid::http
