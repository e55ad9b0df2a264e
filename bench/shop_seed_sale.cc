// The flash sale as the seed would run it: the client finds the stock, decides, and writes without a condition.
#include "bench/shop_runs.h"

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::bench {
namespace {

using client::Bson;

constexpr const char* kSeedProducts = "seed_products";
constexpr const char* kSeedOrders = "seed_orders";
constexpr const char* kSeedProduct = "P1001";
constexpr const char* kSeedQty = "stock_by_geo.0.qty";
constexpr const char* kSeedPrice = "79990.00";

void AppendPrice(Bson& document, const char* key) {
  bson_decimal128_t price;
  bson_decimal128_from_string(kSeedPrice, &price);
  BSON_APPEND_DECIMAL128(document.get(), key, &price);
}

// As the seed's section 5 does. A store that is no cluster refuses to shard, and the sale goes on without.
void ShardHashed(mongoc_client_t* client, const std::string& database, const char* collection, const char* field) {
  Bson enable;
  enable.Text("enableSharding", database);
  client::RunCommand(client, "admin", enable.get()).Ignore("no cluster");
  Bson hashed;
  hashed.Text(field, "hashed");
  Bson command;
  command.Text("shardCollection", StrCat(database, ".", collection)).Document("key", hashed);
  client::RunCommand(client, "admin", command.get()).Ignore("no cluster");
}

client::CollectionPtr DurableCollection(mongoc_client_t* client, const std::string& database, const char* name) {
  client::CollectionPtr collection = client::CollectionOf(client, database, name);
  const client::WriteConcernPtr durable(mongoc_write_concern_new());
  mongoc_write_concern_set_w(durable.get(), MONGOC_WRITE_CONCERN_W_MAJORITY);
  mongoc_write_concern_set_journal(durable.get(), true);
  mongoc_collection_set_write_concern(collection.get(), durable.get());
  return collection;
}

}  // namespace

SeedSeller::SeedSeller(Clients& clients, const std::string& database, bool increments)
    : client_(clients.Acquire()),
      products_(DurableCollection(client_.get(), database, kSeedProducts)),
      orders_(DurableCollection(client_.get(), database, kSeedOrders)),
      increments_(increments) {}

Status SeedSeller::Prepare(Clients& clients, const std::string& database, int64_t units) {
  const SeedSeller seller(clients, database, false);
  ShardHashed(seller.client_.get(), database, kSeedProducts, "_id");
  ShardHashed(seller.client_.get(), database, kSeedOrders, "user_id");
  Bson zone;
  zone.Text("geo_zone", "RU-MOW").Integer("qty", units);
  Bson zones;
  zones.Document("0", zone);
  Bson product;
  product.Text("_id", kSeedProduct).Text("name", "Smartphone X").Text("category", "electronics");
  AppendPrice(product, "price");
  product.Array("stock_by_geo", zones);
  bson_error_t error{};
  return mongoc_collection_insert_one(seller.products_.get(), product.get(), nullptr, nullptr, &error)
             ? Status()
             : client::FromError(error);
}

Result<int64_t> SeedSeller::ReadStock() {
  Bson filter;
  filter.Text("_id", kSeedProduct);
  const client::CursorPtr cursor(mongoc_collection_find_with_opts(products_.get(), filter.get(), nullptr, nullptr));
  const bson_t* product = nullptr;
  if (mongoc_cursor_next(cursor.get(), &product)) return client::IntegerOf(product, kSeedQty);
  bson_error_t error{};
  if (mongoc_cursor_error(cursor.get(), &error)) return client::FromError(error);
  return Status(Code::kInternalError, StrCat("product ", kSeedProduct, " of the sale has gone"));
}

Result<bool> SeedSeller::Buy(uint64_t buyer) {
  BRAID_TRY(const int64_t stock, ReadStock());
  if (stock < 1) return false;
  BRAID_CHECK_OK(SellUnit(buyer, stock));
  return true;
}

Status SeedSeller::SellUnit(uint64_t buyer, int64_t seen) {
  BRAID_CHECK_OK(WriteStock(seen));
  return InsertOrder(buyer);
}

Status SeedSeller::WriteStock(int64_t seen) {
  Bson filter;
  filter.Text("_id", kSeedProduct);
  Bson field;
  field.Integer(kSeedQty, increments_ ? -1 : seen - 1);
  Bson change;
  change.Document(increments_ ? "$inc" : "$set", field);
  bson_error_t error{};
  return mongoc_collection_update_one(products_.get(), filter.get(), change.get(), nullptr, nullptr, &error)
             ? Status()
             : client::FromError(error);
}

Status SeedSeller::InsertOrder(uint64_t buyer) {
  Bson item;
  item.Text("product_id", kSeedProduct);
  AppendPrice(item, "price");
  item.Integer("qty", 1);
  Bson items;
  items.Document("0", item);
  Bson order;
  order.Text("order_id", StrCat("ORD-", buyer)).Text("user_id", StrCat("U", buyer)).Text("status", "paid");
  order.Text("geo_zone", "RU-MOW").Array("items", items);
  AppendPrice(order, "total_amount");
  order.Text("currency", "RUB");
  bson_error_t error{};
  return mongoc_collection_insert_one(orders_.get(), order.get(), nullptr, nullptr, &error) ? Status()
                                                                                            : client::FromError(error);
}

Result<int64_t> SeedSeller::CountOrders() {
  bson_error_t error{};
  const Bson all;
  const int64_t count = mongoc_collection_count_documents(orders_.get(), all.get(), nullptr, nullptr, nullptr, &error);
  return count < 0 ? Result<int64_t>(client::FromError(error)) : Result<int64_t>(count);
}

}  // namespace braid::bench
