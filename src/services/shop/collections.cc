#include "services/shop/collections.h"

#include "services/schema/schema.h"

namespace braid::shop {
namespace {

using schema::CollectionSpec;

// Documents may have further fields, so that a newer version of the shop can add some beside an older one.

constexpr char kOrdersValidator[] = R"({"$jsonSchema": {
  "bsonType": "object",
  "required": ["order_id", "user_id", "created_at", "status", "geo_zone", "items", "total_amount", "currency"],
  "properties": {
    "order_id": {"bsonType": "string", "minLength": 1},
    "user_id": {"bsonType": "string", "minLength": 1},
    "created_at": {"bsonType": "date"},
    "status": {"enum": ["paid", "shipped", "delivered", "canceled"]},
    "geo_zone": {"bsonType": "string"},
    "items": {"bsonType": "array", "minItems": 1, "items": {
      "bsonType": "object",
      "required": ["product_id", "price", "qty"],
      "properties": {
        "product_id": {"bsonType": "string", "minLength": 1},
        "price": {"bsonType": "decimal", "minimum": 0},
        "qty": {"bsonType": ["int", "long"], "minimum": 1}}}},
    "total_amount": {"bsonType": "decimal", "minimum": 0},
    "currency": {"bsonType": "string", "pattern": "^[A-Z]{3}$"}}}})";

constexpr char kOrderIdsValidator[] = R"({"$jsonSchema": {
  "bsonType": "object",
  "required": ["user_id"],
  "properties": {
    "_id": {"bsonType": "string", "minLength": 1},
    "user_id": {"bsonType": "string", "minLength": 1}}}})";

constexpr char kProductsValidator[] = R"({"$jsonSchema": {
  "bsonType": "object",
  "required": ["name", "category", "price", "stock_by_geo", "updated_at"],
  "properties": {
    "_id": {"bsonType": "string", "minLength": 1},
    "name": {"bsonType": "string"},
    "category": {"bsonType": "string"},
    "price": {"bsonType": "decimal", "minimum": 0},
    "currency": {"bsonType": "string", "pattern": "^[A-Z]{3}$"},
    "stock_by_geo": {"bsonType": "array", "items": {
      "bsonType": "object",
      "required": ["geo_zone", "qty"],
      "properties": {
        "geo_zone": {"bsonType": "string", "minLength": 1},
        "qty": {"bsonType": ["int", "long"], "minimum": 0},
        "reserved": {"bsonType": ["int", "long"], "minimum": 0}}}},
    "attrs": {"bsonType": "object"},
    "updated_at": {"bsonType": "date"}}}})";

// The owner says whose the cart is, and must agree with user_id and session_id.
constexpr char kCartsValidator[] = R"({"$jsonSchema": {
  "bsonType": "object",
  "required": ["owner", "user_id", "session_id", "status", "items", "created_at", "updated_at", "expires_at"],
  "oneOf": [
    {"properties": {"owner": {"bsonType": "string", "pattern": "^u:."},
                    "user_id": {"bsonType": "string", "minLength": 1}, "session_id": {"bsonType": "null"}}},
    {"properties": {"owner": {"bsonType": "string", "pattern": "^g:."},
                    "user_id": {"bsonType": "null"}, "session_id": {"bsonType": "string", "minLength": 1}}}],
  "properties": {
    "status": {"enum": ["active", "ordered", "abandoned"]},
    "items": {"bsonType": "array", "items": {
      "bsonType": "object",
      "required": ["product_id", "qty"],
      "properties": {
        "product_id": {"bsonType": "string", "minLength": 1},
        "qty": {"bsonType": ["int", "long"], "minimum": 1},
        "price": {"bsonType": "decimal", "minimum": 0},
        "currency": {"bsonType": "string", "pattern": "^[A-Z]{3}$"}}}},
    "created_at": {"bsonType": "date"},
    "updated_at": {"bsonType": "date"},
    "expires_at": {"bsonType": "date"}}}})";

constexpr char kCartSessionsValidator[] = R"({"$jsonSchema": {
  "bsonType": "object",
  "required": ["session_id", "cart_id", "expires_at"],
  "properties": {
    "session_id": {"bsonType": "string", "minLength": 1},
    "expires_at": {"bsonType": "date"}}}})";

std::vector<CollectionSpec> MakeCollections() {
  return {
      {.name = kOrders,
       .validator = kOrdersValidator,
       .indexes = {{.keys = R"({"user_id": "hashed"})"},
                   {.keys = R"({"user_id": 1, "created_at": -1})"},
                   // A user's history in pages: _id tells orders of the same moment apart.
                   {.keys = R"({"user_id": 1, "created_at": -1, "_id": -1})"},
                   {.keys = R"({"order_id": 1})", .unique = true},
                   {.keys = R"({"status": 1, "created_at": -1})"}},
       .shard_key = R"({"user_id": "hashed"})"},
      {.name = kOrderIds,
       .validator = kOrderIdsValidator,
       .indexes = {{.keys = R"({"_id": "hashed"})"}},
       .shard_key = R"({"_id": "hashed"})"},
      {.name = kProducts,
       .validator = kProductsValidator,
       .indexes = {{.keys = R"({"_id": "hashed"})"},
                   {.keys = R"({"category": 1, "price": 1})"},
                   {.keys = R"({"updated_at": -1})"},
                   // The catalogue's pages in the order of an index, whatever the number of products.
                   {.keys = R"({"category": 1, "price": 1, "_id": 1})"},
                   {.keys = R"({"category": 1, "name": 1, "_id": 1})"}},
       .shard_key = R"({"_id": "hashed"})"},
      {.name = kCarts,
       .validator = kCartsValidator,
       .indexes = {{.keys = R"({"owner": "hashed"})"},
                   // Two first additions at the same moment make one cart.
                   {.keys = R"({"owner": 1})", .unique = true, .partial_filter = R"({"status": "active"})"},
                   {.keys = R"({"user_id": "hashed"})"},
                   {.keys = R"({"user_id": 1, "status": 1})"},
                   {.keys = R"({"session_id": 1, "status": 1})"},
                   {.keys = R"({"expires_at": 1})", .expire_after_seconds = 0}},
       .shard_key = R"({"owner": "hashed"})"},
      {.name = kCartSessions,
       .validator = kCartSessionsValidator,
       .indexes = {{.keys = R"({"session_id": "hashed"})"},
                   {.keys = R"({"session_id": 1})", .unique = true},
                   {.keys = R"({"expires_at": 1})", .expire_after_seconds = 0}},
       .shard_key = R"({"session_id": "hashed"})"},
  };
}

}  // namespace

std::span<const CollectionSpec> Collections() {
  static const std::vector<CollectionSpec> collections = MakeCollections();
  return collections;
}

Status EnsureCollections(Clients& clients, const std::string& database) {
  return schema::Apply(clients, database, Collections()).status();
}

}  // namespace braid::shop
