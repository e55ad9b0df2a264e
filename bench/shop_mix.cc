// The shopping mix: shoppers on threads of their own, the server's figures, and the stock afterwards.
#include <algorithm>

#include "bench/shop_shopper.h"

namespace braid::bench {
namespace {

using OptionalRouting = std::optional<std::vector<ShopRouting>>;

// The operations that were routed in between.
OptionalRouting RoutingSince(const OptionalRouting& before, OptionalRouting after) {
  if (!before || !after) return std::nullopt;
  for (ShopRouting& one : *after) {
    const auto same = [&](const ShopRouting& other) { return other.collection == one.collection; };
    const auto found = std::ranges::find_if(*before, same);
    if (found == before->end()) continue;
    one.targeted -= found->targeted;
    one.scattered -= found->scattered;
  }
  return after;
}

void AddFigures(const Shopper& shopper, ShopMixRow& row) {
  for (size_t i = 0; i < kShopOperations; ++i) {
    row.operations[i].nanos.Merge(shopper.figures[i].nanos);
    for (const auto& [code, count] : shopper.figures[i].errors) row.operations[i].errors[code] += count;
  }
}

}  // namespace

Status MeasureMix(Clients& clients, const ShopBenchOptions& options, ShopMixRow& row) {
  BRAID_CHECK_OK(RenewShop(clients, options.database));
  BRAID_CHECK_OK(FillProducts(clients, options.database,
                              {.from = 0, .to = options.products, .stock = options.stock, .stop = options.stop}));
  BRAID_TRY(const std::unique_ptr<shop::Shop> shop,
            shop::Shop::Open(clients, {.database = options.database, .stop = options.stop}));
  std::vector<std::unique_ptr<Shopper>> shoppers;
  shoppers.reserve(static_cast<size_t>(row.threads));
  for (int i = 0; i < row.threads; ++i) shoppers.push_back(std::make_unique<Shopper>(*shop, options, row, i));
  BRAID_TRY(const OptionalRouting routing_before, ReadRouting(clients, options.database));
  BRAID_TRY(ShopMeter meter, ShopMeter::Start(clients));
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::microseconds(static_cast<int64_t>(options.seconds * 1e6));
  const Status status = OnThreads(row.threads, [&](int i) { return shoppers[static_cast<size_t>(i)]->Run(end); });
  for (const auto& shopper : shoppers) AddFigures(*shopper, row);
  BRAID_CHECK_OK(meter.Finish(row.done() + row.failed(), row.cost));
  BRAID_CHECK_OK(status);
  BRAID_TRY(OptionalRouting routing, ReadRouting(clients, options.database));
  row.routing = RoutingSince(routing_before, std::move(routing));
  row.cost.retries = shop->retries();
  if (options.stop->load()) return {};
  BRAID_TRY(const StockFigures figures, VerifyStock(clients, options.database, options.stock));
  row.units_sold = figures.sold;
  return {};
}

}  // namespace braid::bench
