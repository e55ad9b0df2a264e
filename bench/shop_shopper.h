// One thread of the shopping mix.
#pragma once

#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/generators.h"
#include "bench/shop_runs.h"

namespace braid::bench {

/// Users and guests that one thread acts for, one operation at a time. Shoppers of different threads meet only at the
/// products, as sessions of different people do.
class Shopper {
 public:
  Shopper(shop::Shop& shop, const ShopBenchOptions& options, const ShopMixRow& row, int number);

  /// Until the time or the run ends. A refusal of the shop is counted; any other error is returned.
  Status Run(std::chrono::steady_clock::time_point end);

  std::array<ShopOperationFigures, kShopOperations> figures;

 private:
  // What is in a cart, as the shop's last answer said.
  struct Basket {
    std::vector<std::string> products;
    bool queued = false;  // in ready_
  };

  ShopOperation Choose();
  Status Act(ShopOperation operation);
  Status Browse();
  Status Card();
  Status ChangeCart();
  Status FillGuest();
  Status FillUser(size_t user);
  Status RemoveLine(size_t user, const std::string& product_id);
  Status Merge();
  Status Checkout();
  Status History();

  // Runs `call`, counts and times it; an error is returned only if it is not a refusal.
  template <typename Call>
  auto Timed(ShopOperation operation, const Call& call) -> decltype(call());

  size_t AnyUser() { return random_.Below(baskets_.size()); }
  std::string UserId(size_t user) const;
  std::string AnyProduct() { return ShopProductId(chooser_.Next(random_, products_)); }
  void Keep(size_t user, const std::vector<shop::CartLine>& lines);

  shop::Shop& shop_;
  const std::atomic<bool>& stop_;
  const ShopMix mix_;
  const uint64_t mix_sum_;
  const uint64_t products_;
  const int number_;
  Random random_;
  KeyChooser chooser_;
  std::vector<Basket> baskets_;     // one per user
  std::deque<size_t> ready_;        // users with something in their carts, the longest waiting first
  std::deque<std::string> guests_;  // sessions with something in their carts
  shop::CatalogueQuery browsed_;    // `after` is empty at the end of the category
  uint64_t sessions_ = 0;
  uint64_t keys_ = 0;
};

}  // namespace braid::bench
