// The storefront under load: a mix of shopping operations, a flash sale compared with the original design's way of
// selling, and the catalogue at growing numbers of products.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/histogram.h"
#include "braid/clients.h"

namespace braid::bench {

/// The kinds of operations of the mix, in the order of its weights.
enum class ShopOperation { kBrowse, kCard, kCart, kMerge, kCheckout, kHistory };
constexpr size_t kShopOperations = 6;
const char* NameOf(ShopOperation operation);

using ShopMix = std::array<uint32_t, kShopOperations>;
/// "browse=40,card=25": the operations that are left out get no share; kBadValue names what cannot be read.
Result<ShopMix> ParseShopMix(const std::string& text);

struct ShopBenchOptions {
  /// Dropped before and after each run.
  std::string database = "bench_shop";
  uint64_t products = 10'000;
  uint64_t users = 10'000;
  /// Units of each product of the mix at the start.
  int64_t stock = 100'000;
  /// Threads with a connection each; one run of the mix for each of the list, and the sale with the most of them.
  std::vector<int> threads = {1, 8, 32};
  /// How long each run of the mix takes, and at most each reading of the catalogue.
  double seconds = 5;
  ShopMix mix = {40, 25, 20, 3, 7, 5};
  int64_t sale_units = 1000;
  /// Buyers of one unit each.
  uint64_t sale_buyers = 2000;
  /// Products of each reading of the catalogue, in growing order.
  std::vector<uint64_t> catalogue_sizes = {10'000, 100'000, 1'000'000};
  uint64_t seed = 1;
  /// What is measured.
  bool run_mix = true;
  bool run_sale = true;
  bool run_catalogue = true;
  const std::atomic<bool>* stop = nullptr;

  int most_threads() const;
};

/// One kind of operation in one run of the mix. An operation that ends in a typed error counts among the errors only.
struct ShopOperationFigures {
  Histogram nanos;
  std::map<std::string, uint64_t> errors;  ///< by code
};

/// How often the server asked one shard, and how often more, for the operations on one collection.
struct ShopRouting {
  std::string collection;
  uint64_t targeted = 0;
  uint64_t scattered = 0;
};

/// The cost of every run.
struct ShopCost {
  double seconds = 0;
  double cpu_micros = 0;    ///< per operation: of this process, and of the server if it reports its usage
  bool server_cpu = false;  ///< cpu_micros includes the server's
  uint64_t retries = 0;     ///< runs of a transaction's body after its first
};

struct ShopMixRow {
  int threads = 0;
  std::array<ShopOperationFigures, kShopOperations> operations;
  ShopCost cost;
  std::optional<std::vector<ShopRouting>> routing;  ///< nothing if the server does not report it
  int64_t units_sold = 0;  ///< as the orders say; with the stock left it is the stock at the start
  uint64_t done() const;
  uint64_t failed() const;
  double rate() const { return cost.seconds > 0 ? static_cast<double>(done()) / cost.seconds : 0; }
  /// The share of routed operations that asked one shard; nothing if it is not known.
  std::optional<double> targeted_share() const;
};

enum class SaleWay {
  kBraid,    ///< Shop::Checkout()
  kSeedSet,  ///< find the stock, decide in the client, $set what should be left
  kSeedInc,  ///< find the stock, decide in the client, $inc by -1
};
const char* NameOf(SaleWay way);

struct ShopSaleRow {
  SaleWay way = SaleWay::kBraid;
  int threads = 0;
  int64_t units = 0;  ///< at the start
  uint64_t buyers = 0;
  int64_t sold = 0;      ///< units in the orders that are stored
  int64_t left = 0;      ///< what the product says afterwards
  uint64_t refused = 0;  ///< buyers that got the answer "sold out"
  Histogram nanos;       ///< of sales, not of refusals
  ShopCost cost;
  int64_t oversold() const { return sold > units ? sold - units : 0; }
  double rate() const { return cost.seconds > 0 ? static_cast<double>(sold) / cost.seconds : 0; }
};

enum class CatalogueReading {
  kFirst,         ///< the first page of a category by price
  kDeepByCursor,  ///< the page in the middle of a category, after the last product of the page before
  kDeepBySkip,    ///< the same page by skip, which the service never does
};
const char* NameOf(CatalogueReading page);

struct ShopCatalogueRow {
  uint64_t products = 0;
  CatalogueReading page = CatalogueReading::kFirst;
  uint64_t depth = 0;  ///< products of the category before the page
  Histogram nanos;
};

struct ShopReport {
  std::vector<ShopMixRow> mixes;
  std::vector<ShopSaleRow> sales;
  std::vector<ShopCatalogueRow> catalogue;
};

/// Called with each row as soon as it is measured; none may be empty.
struct ShopObserver {
  std::function<void(const ShopMixRow&)> on_mix;
  std::function<void(const ShopSaleRow&)> on_sale;
  std::function<void(const ShopCatalogueRow&)> on_catalogue;
};

/// Durable. After each run of the service the stock is verified: it is never negative, and sold and remaining units add
/// up to the initial stock. A run where they do not is an error.
Result<ShopReport> RunShop(Clients& clients, const ShopBenchOptions& options, const ShopObserver& observer);

}  // namespace braid::bench
