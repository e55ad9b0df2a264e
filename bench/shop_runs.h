// The single runs of the storefront's benchmark, and their shared functions.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/shop.h"
#include "braid/clients.h"
#include "client/handles.h"
#include "services/shop/shop.h"

namespace braid::bench {

/// The one zone where everything is sold.
constexpr const char* kShopZone = "RU-MOW";
constexpr const char* kShopCurrency = "RUB";
/// The number of categories, over which the made-up products are spread evenly.
constexpr uint64_t kShopCategories = 20;
/// Products on a page of the catalogue.
constexpr uint32_t kShopPage = 20;

std::string ShopProductId(uint64_t number);
std::string ShopCategory(uint64_t number);

/// Drops the database and creates the shop's collections in it.
Status RenewShop(Clients& clients, const std::string& database);

struct ShopFill {
  uint64_t from = 0;  ///< the first product
  uint64_t to = 0;    ///< after the last
  int64_t stock = 0;
  const std::atomic<bool>* stop = nullptr;
};
/// Inserts products in bulk, past the service.
Status FillProducts(Clients& clients, const std::string& database, const ShopFill& fill);

/// The totals of the stored orders and products.
struct StockFigures {
  int64_t sold = 0;
  int64_t left = 0;
};
/// Checks for each product that its stock is not negative, and that sold and remaining units add up to `stock`. Else
/// kInternalError.
Result<StockFigures> VerifyStock(Clients& clients, const std::string& database, int64_t stock);

/// Targeted and scattered operations on the collections of a database so far; nothing if the server does not report it.
Result<std::optional<std::vector<ShopRouting>>> ReadRouting(Clients& clients, const std::string& database);

/// Measures time and CPU from its making to Finish().
class ShopMeter {
 public:
  static Result<ShopMeter> Start(Clients& clients);
  Status Finish(uint64_t operations, ShopCost& cost);

 private:
  explicit ShopMeter(Clients& clients) : clients_(&clients) {}
  Clients* clients_;
  std::optional<int64_t> server_micros_;
  int64_t own_micros_ = 0;
  std::chrono::steady_clock::time_point start_;
};

/// Runs `body` on `threads` threads; the first error of any of them is returned after all have ended.
Status OnThreads(int threads, const std::function<Status(int thread)>& body);

/// The mix in options.database, which is renewed, with row.threads threads; fills the row in, and verifies.
Status MeasureMix(Clients& clients, const ShopBenchOptions& options, ShopMixRow& row);

/// The flash sale in options.database, which is renewed, in the way that the row says; the service's is verified.
Status MeasureSale(Clients& clients, const ShopBenchOptions& options, ShopSaleRow& row);

/// Readings of a catalogue with a given number of products, which exist already.
Status MeasureCatalogue(Clients& clients, const ShopBenchOptions& options, uint64_t products,
                        const std::function<void(const ShopCatalogueRow&)>& on_row);

/// The flash sale as the original design would run it, for comparison with the service's: sells one unit per buyer of
/// one product: finds its stock, decides here, and writes without a condition, durably.
/// Two sellers that read the same stock both sell. One thread.
class SeedSeller {
 public:
  /// `increments`: writes the stock by $inc; otherwise by $set of the expected rest.
  SeedSeller(Clients& clients, const std::string& database, bool increments);
  /// Creates the product, with `units` units, in collections of its own that are sharded as the design says.
  static Status Prepare(Clients& clients, const std::string& database, int64_t units);

  /// False: nothing is left.
  Result<bool> Buy(uint64_t buyer);
  /// The two steps of Buy(), between which others may do the same.
  Result<int64_t> ReadStock();
  Status SellUnit(uint64_t buyer, int64_t seen);
  Result<int64_t> CountOrders();

 private:
  Status WriteStock(int64_t seen);
  Status InsertOrder(uint64_t buyer);

  Client client_;
  client::CollectionPtr products_;
  client::CollectionPtr orders_;
  const bool increments_;
};

}  // namespace braid::bench
