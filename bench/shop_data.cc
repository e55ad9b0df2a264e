// The data of the storefront's runs: made-up products, inserted in bulk.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/strings.h"
#include "bench/generators.h"
#include "bench/ledger_runs.h"
#include "bench/shop_runs.h"
#include "braid/clock.h"
#include "client/handles.h"
#include "services/shop/collections.h"

namespace braid::bench {
namespace {

using client::Bson;

constexpr uint64_t kProductsPerInsert = 1000;
constexpr int kFillThreads = 4;
constexpr const char* kColors[] = {"black", "white", "red", "green", "blue"};

// Prices of 1.00 to 99999.99, scattered, so that neighbours in the catalogue are not neighbours by _id.
bson_decimal128_t PriceOf(uint64_t number) {
  const uint64_t cents = 100 + FnvHash64(number) % 9'999'900;
  bson_decimal128_t price;
  bson_decimal128_from_string(fmt::format("{}.{:02}", cents / 100, cents % 100).c_str(), &price);
  return price;
}

void MakeProduct(uint64_t number, int64_t stock, int64_t now_millis, Bson& product) {
  product.Clear();
  const bson_decimal128_t price = PriceOf(number);
  Bson zone;
  zone.Text("geo_zone", kShopZone).Integer("qty", stock).Integer("reserved", 0);
  Bson zones;
  zones.Document("0", zone);
  Bson attrs;
  attrs.Text("color", kColors[number % std::size(kColors)]);
  product.Text("_id", ShopProductId(number)).Text("name", StrCat("Product ", FnvHash64(number) % 1'000'000));
  product.Text("category", ShopCategory(number));
  BSON_APPEND_DECIMAL128(product.get(), "price", &price);
  product.Text("currency", kShopCurrency).Array("stock_by_geo", zones).Document("attrs", attrs);
  product.Date("updated_at", now_millis);
}

Status InsertProducts(mongoc_collection_t* products, uint64_t from, uint64_t to, int64_t stock) {
  const int64_t now_millis = braid::Clock::System().NowMillis();
  std::vector<Bson> documents(to - from);
  std::vector<const bson_t*> pointers;
  for (uint64_t number = from; number < to; ++number) {
    MakeProduct(number, stock, now_millis, documents[number - from]);
    pointers.push_back(documents[number - from].get());
  }
  bson_error_t error{};
  const bool ok = mongoc_collection_insert_many(products, pointers.data(), pointers.size(), nullptr, nullptr, &error);
  return ok ? Status() : client::FromError(error);
}

}  // namespace

std::string ShopProductId(uint64_t number) { return fmt::format("P{:08}", number); }
std::string ShopCategory(uint64_t number) { return fmt::format("category-{:02}", number % kShopCategories); }

Status RenewShop(Clients& clients, const std::string& database) {
  BRAID_CHECK_OK(DropDatabase(clients, database));
  return shop::EnsureCollections(clients, database);
}

Status OnThreads(int threads, const std::function<Status(int thread)>& body) {
  std::vector<Status> statuses(static_cast<size_t>(threads));
  std::vector<std::thread> running;
  running.reserve(static_cast<size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&, i] { statuses[static_cast<size_t>(i)] = body(i); });
  }
  for (std::thread& thread : running) thread.join();
  for (const Status& status : statuses) BRAID_CHECK_OK(status);
  return {};
}

Status FillProducts(Clients& clients, const std::string& database, const ShopFill& fill) {
  std::atomic<uint64_t> next = fill.from;
  return OnThreads(kFillThreads, [&](int) -> Status {
    const Client client = clients.Acquire();
    const client::CollectionPtr products = client::CollectionOf(client.get(), database, shop::kProducts);
    while (!fill.stop->load()) {
      const uint64_t from = next.fetch_add(kProductsPerInsert);
      if (from >= fill.to) return {};
      BRAID_CHECK_OK(InsertProducts(products.get(), from, std::min(from + kProductsPerInsert, fill.to), fill.stock));
    }
    return {};
  });
}

}  // namespace braid::bench
