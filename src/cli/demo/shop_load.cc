// The load of the storefront: people who fill carts, log in, check out, and orders that are shipped or canceled.
#include <array>
#include <deque>
#include <utility>

#include "base/random.h"
#include "base/strings.h"
#include "cli/demo/loads.h"
#include "cli/demo/shop_catalogue.h"

namespace braid::cli::demo {
namespace {

using braid::shop::Owner;
using braid::shop::Shop;

constexpr const char* kShop = "shop";
constexpr uint64_t kUsers = 120;
constexpr int kShopFirstSteps = 60;
constexpr size_t kGuestsMax = 20;
constexpr size_t kOpenOrders = 25;  // as many are neither delivered nor canceled

// OK for success and for refusals, which are a part of the demo.
template <typename T>
Status UnlessRefused(const Result<T>& result) {
  return result.ok() || shop::RefusalOf(result.error()) ? Status() : result.error();
}

std::string UserName(uint64_t user) {
  static constexpr const char* kNames[] = {"ada", "alan", "barbara", "donald", "edsger", "grace", "ken", "leslie"};
  return StrCat(kNames[user % std::size(kNames)], "-", user / std::size(kNames));
}

const char* ZoneOf(uint64_t user) { return kZones[user % kZones.size()]; }

class ShopLoad final : public Load {
 public:
  ShopLoad(const Setting& setting, std::unique_ptr<Shop> shop, Figures figures)
      : setting_(setting), shop_(std::move(shop)), figures_(std::move(figures)), random_(RandomSeed()) {}

  Status Step() override {
    BRAID_CHECK_OK(Act());
    return setting_.journal.Write(kShop, figures_);
  }

  // Keys of checkouts must not be those of an earlier start.
  Status Begin() {
    ++figures_["starts"];
    BRAID_CHECK_OK(setting_.journal.Write(kShop, figures_));
    for (int i = 0; figures_["starts"] == 1 && i < kShopFirstSteps && !setting_.stop; ++i) BRAID_CHECK_OK(Act());
    return {};
  }

 private:
  Status Act() {
    if (open_.size() >= kOpenOrders) return MoveOrder();
    const uint64_t draw = random_.Below(100);
    if (draw < 15) return FillGuest();
    if (draw < 22 && !guests_.empty()) return LogIn();
    if (draw < 55 && !ready_.empty()) return CheckOut();
    return FillUser();
  }

  // Low numbers more often than high ones: there are best sellers.
  std::string AnyProduct() {
    const double unit = random_.Unit();
    return Articles()[static_cast<size_t>(unit * unit * static_cast<double>(Articles().size()))].id;
  }

  Status FillUser() {
    const uint64_t user = random_.Below(kUsers);
    const auto cart = shop_->AddToCart({.owner = Owner::User(UserName(user)),
                                        .product_id = AnyProduct(),
                                        .qty = 1 + static_cast<int64_t>(random_.Below(3))});
    if (cart.ok()) Queue(user);
    return UnlessRefused(cart);
  }

  Status FillGuest() {
    const bool fresh = guests_.size() < kGuestsMax;
    const std::string session =
        fresh ? StrCat("visit-", figures_["starts"], "-", sessions_++) : guests_[random_.Below(guests_.size())];
    const auto cart = shop_->AddToCart({.owner = Owner::Guest(session), .product_id = AnyProduct(), .qty = 1});
    if (cart.ok() && fresh) guests_.push_back(session);
    return UnlessRefused(cart);
  }

  // The user has something in the cart.
  void Queue(uint64_t user) {
    if (!std::exchange(queued_[user], true)) ready_.push_back(user);
  }

  // The guest's cart becomes a part of the user's.
  Status LogIn() {
    const uint64_t user = random_.Below(kUsers);
    const std::string session = guests_.front();
    guests_.pop_front();
    const auto merge = shop_->MergeCarts({.session_id = session, .user_id = UserName(user), .geo_zone = ZoneOf(user)});
    if (merge.ok()) ++figures_["merges"];
    if (merge.ok()) Queue(user);
    return UnlessRefused(merge);
  }

  Status CheckOut() {
    const uint64_t user = ready_.front();
    ready_.pop_front();
    queued_[user] = false;
    const auto order = shop_->Checkout({.owner = Owner::User(UserName(user)),
                                        .geo_zone = ZoneOf(user),
                                        .idempotency_key = StrCat("demo-", figures_["starts"], "-", keys_++)});
    if (!order.ok()) return AfterRefusal(user, order.error());
    ++figures_["orders"];
    for (const shop::OrderLine& line : order->items) figures_["units"] += line.qty;
    open_.push_back(order->order_id);
    return {};
  }

  // Products that are sold out are delivered, and the user tries again.
  Status AfterRefusal(uint64_t user, const Status& status) {
    const std::optional<shop::Refusal> refusal = shop::RefusalOf(status);
    if (!refusal) return status;
    if (refusal->code != shop::Refused::kOutOfStock) return {};
    for (const shop::ShortLine& line : refusal->lines) {
      BRAID_CHECK_OK(Deliver(*shop_, line.product_id, ZoneOf(user)));
      ++figures_["deliveries"];
    }
    Queue(user);
    return {};
  }

  // The oldest open order is canceled or goes its way to the customer.
  Status MoveOrder() {
    const std::string order_id = open_.front();
    open_.pop_front();
    if (random_.Chance(1, 12)) {
      ++figures_["canceled"];
      return UnlessRefused(shop_->Transition({.order_id = order_id, .status = "canceled"}));
    }
    BRAID_CHECK_OK(UnlessRefused(shop_->Transition({.order_id = order_id, .status = "shipped"})));
    return UnlessRefused(shop_->Transition({.order_id = order_id, .status = "delivered"}));
  }

  const Setting setting_;
  const std::unique_ptr<Shop> shop_;
  Figures figures_;
  Random random_;
  std::deque<uint64_t> ready_;         // users with something in their carts, the longest waiting first
  std::array<bool, kUsers> queued_{};  // in ready_
  std::deque<std::string> guests_;     // sessions with something in their carts
  std::deque<std::string> open_;       // orders that are paid, the oldest first
  uint64_t sessions_ = 0;
  uint64_t keys_ = 0;
};

}  // namespace

Result<std::unique_ptr<Load>> OpenShop(const Setting& setting) {
  // Carts that are not checked out expire after an hour.
  BRAID_TRY(std::unique_ptr<Shop> shop,
            Shop::Open(setting.clients, {.cart_lifetime_ms = 3600 * 1000, .stop = &setting.stop}));
  BRAID_CHECK_OK(FillCatalogue(*shop));
  BRAID_TRY(Figures figures, setting.journal.Read(kShop));
  auto load = std::make_unique<ShopLoad>(setting, std::move(shop), std::move(figures));
  BRAID_CHECK_OK(load->Begin());
  return std::unique_ptr<Load>(std::move(load));
}

}  // namespace braid::cli::demo
