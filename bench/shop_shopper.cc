// A shopper, and the shopping mix: shoppers on threads of their own, the server's figures, and the stock afterwards.
#include "bench/shop_shopper.h"

#include <algorithm>
#include <numeric>

#include "base/strings.h"

namespace braid::bench {
namespace {

using OptionalRouting = std::optional<std::vector<ShopRouting>>;

constexpr size_t kGuestsMax = 50;       // carts of guests that one thread has open
constexpr uint64_t kLineUnitsMax = 3;   // of one change of a cart
constexpr int64_t kHistoryOrders = 10;  // on a page

// Users are dealt to the threads; each has one at least.
size_t UsersOf(const ShopBenchOptions& options, int threads) {
  return std::max<size_t>(1, options.users / static_cast<uint64_t>(threads));
}

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

Shopper::Shopper(shop::Shop& shop, const ShopBenchOptions& options, const ShopMixRow& row, int number)
    : shop_(shop),
      stop_(*options.stop),
      mix_(options.mix),
      mix_sum_(std::accumulate(mix_.begin(), mix_.end(), uint64_t{0})),
      products_(options.products),
      number_(number),
      random_(FnvHash64(options.seed) + static_cast<uint64_t>(number)),
      chooser_(Distribution::kZipfian, options.products),
      baskets_(UsersOf(options, row.threads)) {}

Status Shopper::Run(std::chrono::steady_clock::time_point end) {
  while (std::chrono::steady_clock::now() < end && !stop_.load()) {
    // A transaction that was stopped has failed, but not for a reason of the store.
    if (Status status = Act(Choose()); !status.ok()) return stop_.load() ? Status() : status;
  }
  return {};
}

ShopOperation Shopper::Choose() {
  uint64_t draw = random_.Below(mix_sum_);
  size_t kind = 0;
  while (draw >= mix_[kind]) draw -= mix_[kind++];
  return static_cast<ShopOperation>(kind);
}

Status Shopper::Act(ShopOperation operation) {
  switch (operation) {
    case ShopOperation::kBrowse: return Browse();
    case ShopOperation::kCard: return Card();
    case ShopOperation::kCart: return ChangeCart();
    case ShopOperation::kMerge: return Merge();
    case ShopOperation::kCheckout: return Checkout();
    case ShopOperation::kHistory: break;
  }
  return History();
}

template <typename Call>
auto Shopper::Timed(ShopOperation operation, const Call& call) -> decltype(call()) {
  const auto start = std::chrono::steady_clock::now();
  auto result = call();
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  ShopOperationFigures& noted = figures[static_cast<size_t>(operation)];
  if (result.ok()) {
    noted.nanos.Record(static_cast<uint64_t>(took.count()));
  } else if (const auto refusal = shop::RefusalOf(result.status())) {
    ++noted.errors[std::string(NameOf(refusal->code))];
  }
  return result;
}

namespace {

// OK for success and for refusals.
template <typename T>
Status UnlessRefused(const Result<T>& result) {
  return result.ok() || shop::RefusalOf(result.error()) ? Status() : result.error();
}

}  // namespace

// Two of three times a category from its start, else the next page of the last one.
Status Shopper::Browse() {
  if (browsed_.after.empty() || random_.Chance(2, 3)) {
    browsed_ = {.category = ShopCategory(random_.Below(kShopCategories)),
                .sort = random_.Chance(1, 2) ? shop::CatalogueSort::kPrice : shop::CatalogueSort::kName,
                .limit = kShopPage};
  }
  const auto page = Timed(ShopOperation::kBrowse, [&] { return shop_.Catalogue(browsed_); });
  browsed_.after = page.ok() ? page->next : "";
  return UnlessRefused(page);
}

Status Shopper::Card() {
  const std::string product_id = AnyProduct();
  return UnlessRefused(Timed(ShopOperation::kCard, [&] { return shop_.Card(product_id); }));
}

// One of four changes is a guest's.
Status Shopper::ChangeCart() {
  if (random_.Chance(1, 4)) return FillGuest();
  const size_t user = AnyUser();
  const Basket& basket = baskets_[user];
  if (basket.products.empty() || random_.Chance(7, 10)) return FillUser(user);
  const std::string product_id = basket.products[random_.Below(basket.products.size())];
  if (random_.Chance(1, 2)) return RemoveLine(user, product_id);
  const shop::CartRequest request{.owner = shop::Owner::User(UserId(user)),
                                  .product_id = product_id,
                                  .qty = 1 + static_cast<int64_t>(random_.Below(kLineUnitsMax))};
  return UnlessRefused(Timed(ShopOperation::kCart, [&] { return shop_.SetQuantity(request); }));
}

Status Shopper::FillGuest() {
  const bool fresh = guests_.size() < kGuestsMax;
  const std::string session = fresh ? StrCat("S", number_, "-", sessions_++) : guests_[random_.Below(guests_.size())];
  const shop::CartRequest request{.owner = shop::Owner::Guest(session), .product_id = AnyProduct(), .qty = 1};
  const auto cart = Timed(ShopOperation::kCart, [&] { return shop_.AddToCart(request); });
  if (cart.ok() && fresh) guests_.push_back(session);
  return UnlessRefused(cart);
}

Status Shopper::FillUser(size_t user) {
  const shop::CartRequest request{.owner = shop::Owner::User(UserId(user)),
                                  .product_id = AnyProduct(),
                                  .qty = 1 + static_cast<int64_t>(random_.Below(kLineUnitsMax))};
  const auto cart = Timed(ShopOperation::kCart, [&] { return shop_.AddToCart(request); });
  if (cart.ok()) Keep(user, cart->lines);
  return UnlessRefused(cart);
}

Status Shopper::RemoveLine(size_t user, const std::string& product_id) {
  const shop::CartRequest request{.owner = shop::Owner::User(UserId(user)), .product_id = product_id};
  const auto cart = Timed(ShopOperation::kCart, [&] { return shop_.RemoveFromCart(request); });
  if (cart.ok()) Keep(user, cart->lines);
  return UnlessRefused(cart);
}

Status Shopper::Merge() {
  if (guests_.empty()) return FillGuest();
  const size_t user = AnyUser();
  const shop::MergeRequest request{.session_id = guests_.front(), .user_id = UserId(user), .geo_zone = kShopZone};
  guests_.pop_front();
  const auto merge = Timed(ShopOperation::kMerge, [&] { return shop_.MergeCarts(request); });
  if (merge.ok()) Keep(user, merge->cart.lines);
  return UnlessRefused(merge);
}

// Lines that are sold out are removed from the cart, as people do, so that it can be checked out the next time.
Status Shopper::Checkout() {
  while (!ready_.empty() && baskets_[ready_.front()].products.empty()) {
    baskets_[ready_.front()].queued = false;
    ready_.pop_front();
  }
  if (ready_.empty()) return FillUser(AnyUser());
  const size_t user = ready_.front();
  ready_.pop_front();
  baskets_[user].queued = false;
  const shop::CheckoutRequest request{.owner = shop::Owner::User(UserId(user)),
                                      .geo_zone = kShopZone,
                                      .idempotency_key = StrCat("K", number_, "-", keys_++)};
  const auto order = Timed(ShopOperation::kCheckout, [&] { return shop_.Checkout(request); });
  if (order.ok()) {
    Keep(user, {});
    return {};
  }
  const auto refusal = shop::RefusalOf(order.error());
  if (!refusal) return order.error();
  if (refusal->lines.empty()) return {};
  for (const shop::ShortLine& line : refusal->lines) BRAID_CHECK_OK(RemoveLine(user, line.product_id));
  return {};
}

Status Shopper::History() {
  const shop::HistoryRequest request{.user_id = UserId(AnyUser()), .limit = kHistoryOrders};
  return UnlessRefused(Timed(ShopOperation::kHistory, [&] { return shop_.History(request); }));
}

std::string Shopper::UserId(size_t user) const { return StrCat("U", number_, "-", user); }

void Shopper::Keep(size_t user, const std::vector<shop::CartLine>& lines) {
  Basket& basket = baskets_[user];
  basket.products.clear();
  for (const shop::CartLine& line : lines) basket.products.push_back(line.product_id);
  if (basket.queued || lines.empty()) return;
  basket.queued = true;
  ready_.push_back(user);
}

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
