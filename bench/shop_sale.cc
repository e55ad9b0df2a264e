// A flash sale: many buyers at once want one unit each of one product that has fewer.
#include "base/strings.h"
#include "bench/shop_runs.h"

namespace braid::bench {
namespace {

// Sells to one buyer; false: nothing is left.
using Sell = std::function<Result<bool>(uint64_t buyer)>;

// The buyers come to so many threads, each of which has a seller of its own.
Status SellToAll(Clients& clients, const ShopBenchOptions& options, ShopSaleRow& row,
                 const std::function<Sell()>& seller_of_thread) {
  std::vector<Sell> sellers;
  sellers.reserve(static_cast<size_t>(row.threads));
  for (int i = 0; i < row.threads; ++i) sellers.push_back(seller_of_thread());
  std::vector<Histogram> nanos(static_cast<size_t>(row.threads));
  std::atomic<uint64_t> next = 0;
  std::atomic<uint64_t> refused = 0;
  BRAID_TRY(ShopMeter meter, ShopMeter::Start(clients));
  const Status status = OnThreads(row.threads, [&](int i) -> Status {
    const auto thread = static_cast<size_t>(i);
    while (!options.stop->load()) {
      const uint64_t buyer = next.fetch_add(1);
      if (buyer >= row.buyers) return {};
      const auto start = std::chrono::steady_clock::now();
      BRAID_TRY(const bool sold, sellers[thread](buyer));
      const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
      if (sold) {
        nanos[thread].Record(static_cast<uint64_t>(took.count()));
      } else {
        ++refused;
      }
    }
    return {};
  });
  for (const Histogram& one : nanos) row.nanos.Merge(one);
  row.refused = refused;
  BRAID_CHECK_OK(meter.Finish(row.nanos.count(), row.cost));
  return options.stop->load() ? Status() : status;
}

shop::Owner BuyerOf(uint64_t buyer) { return shop::Owner::User(StrCat("U", buyer)); }

// The carts are filled before the sale starts.
Status FillCarts(shop::Shop& shop, const ShopBenchOptions& options, const ShopSaleRow& row) {
  std::atomic<uint64_t> next = 0;
  return OnThreads(row.threads, [&](int) -> Status {
    while (!options.stop->load()) {
      const uint64_t buyer = next.fetch_add(1);
      if (buyer >= row.buyers) return {};
      BRAID_CHECK_OK(shop.AddToCart({.owner = BuyerOf(buyer), .product_id = ShopProductId(0), .qty = 1}));
    }
    return {};
  });
}

Status SellByCheckout(Clients& clients, const ShopBenchOptions& options, ShopSaleRow& row) {
  BRAID_CHECK_OK(
      FillProducts(clients, options.database, {.from = 0, .to = 1, .stock = row.units, .stop = options.stop}));
  BRAID_TRY(const std::unique_ptr<shop::Shop> shop,
            shop::Shop::Open(clients, {.database = options.database, .stop = options.stop}));
  BRAID_CHECK_OK(FillCarts(*shop, options, row));
  const uint64_t retries_before = shop->retries();
  const Sell sell = [&shop](uint64_t buyer) -> Result<bool> {
    const auto order =
        shop->Checkout({.owner = BuyerOf(buyer), .geo_zone = kShopZone, .idempotency_key = StrCat("sale-", buyer)});
    if (order.ok()) return true;
    const auto refusal = shop::RefusalOf(order.error());
    if (refusal && refusal->code == shop::Refused::kOutOfStock) return false;
    return order.error();
  };
  BRAID_CHECK_OK(SellToAll(clients, options, row, [&] { return sell; }));
  row.cost.retries = shop->retries() - retries_before;
  if (options.stop->load()) return {};
  BRAID_TRY(const StockFigures figures, VerifyStock(clients, options.database, row.units));
  row.sold = figures.sold;
  row.left = figures.left;
  // The number of served buyers must equal the number of stored orders, and no buyer may be refused while there is
  // stock.
  const auto answered = static_cast<int64_t>(row.nanos.count());
  if (row.sold == answered && (row.left == 0 || row.refused == 0)) return {};
  return Status(Code::kInternalError, StrCat("the sale of ", row.units, " units to ", row.buyers, " buyers: ", answered,
                                             " were told that they have bought one, the orders have ", row.sold, ", ",
                                             row.refused, " were refused, ", row.left, " are left"));
}

Status SellAsTheSeed(Clients& clients, const ShopBenchOptions& options, ShopSaleRow& row) {
  BRAID_CHECK_OK(SeedSeller::Prepare(clients, options.database, row.units));
  BRAID_CHECK_OK(SellToAll(clients, options, row, [&]() -> Sell {
    const auto seller =
        std::make_shared<SeedSeller>(clients, options.database, /*increments=*/row.way == SaleWay::kSeedInc);
    return [seller](uint64_t buyer) { return seller->Buy(buyer); };
  }));
  SeedSeller seller(clients, options.database, false);
  BRAID_TRY(row.sold, seller.CountOrders());
  BRAID_TRY(row.left, seller.ReadStock());
  return {};
}

}  // namespace

Status MeasureSale(Clients& clients, const ShopBenchOptions& options, ShopSaleRow& row) {
  BRAID_CHECK_OK(RenewShop(clients, options.database));
  return row.way == SaleWay::kBraid ? SellByCheckout(clients, options, row) : SellAsTheSeed(clients, options, row);
}

}  // namespace braid::bench
