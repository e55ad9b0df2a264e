// The shop by maps and loops: what every operation must do, without a store. Prices are in hundredths.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/strings.h"
#include "services/shop/shop.h"

namespace braid::shop::testkit {

/// Operations give the refusal's code, "" for OK.
class ShopModel {
 public:
  struct Stock {
    int64_t qty = 0;
    int64_t reserved = 0;
  };
  struct Item {
    std::string product;
    int64_t qty = 0;
    int64_t price = 0;
    std::string currency;
  };
  struct Basket {
    std::vector<Item> items;
    int64_t expires_at = 0;
  };
  struct Sale {
    std::string user;
    std::string zone;
    std::string status = "paid";
    std::vector<Item> items;
    int64_t total = 0;
  };
  struct Goods {
    int64_t price = 0;
    std::string currency;
    std::map<std::string, Stock> zones;
  };

  ShopModel(const ShopOptions& options, const Clock& clock) : options_(options), clock_(clock) {}

  void Put(const std::string& id, int64_t price, const std::string& currency) {
    goods[id].price = price;
    goods[id].currency = currency;
  }
  std::string SetStock(const StockRequest& request) {
    if (!goods.contains(request.product_id)) return "unknown_product";
    goods[request.product_id].zones[request.geo_zone].qty = request.qty;
    return "";
  }
  std::string MoveStock(const StockRequest& request, int64_t qty_by, int64_t reserved_by) {
    if (!goods.contains(request.product_id)) return "unknown_product";
    Stock none;
    auto& zones = goods[request.product_id].zones;
    const bool known = zones.contains(request.geo_zone);
    Stock& stock = known ? zones[request.geo_zone] : none;
    if (stock.qty + qty_by < 0) return "out_of_stock";
    if (stock.reserved + reserved_by < 0) return "not_reserved";
    stock.qty += qty_by;
    stock.reserved += reserved_by;
    return "";
  }

  std::string Add(const CartRequest& request) {
    if (request.qty < 1 || request.qty > options_.line_qty_max) return "bad_quantity";
    const auto product = goods.find(request.product_id);
    if (product == goods.end()) return "unknown_product";
    const Basket* active = Active(request.owner);
    Basket changed = active == nullptr ? Basket() : *active;
    if (!changed.items.empty() && changed.items[0].currency != product->second.currency) return "currency_mismatch";
    if (Item* item = Find(changed, request.product_id)) {
      item->qty += request.qty;
      if (item->qty > options_.line_qty_max) return "bad_quantity";
    } else {
      if (changed.items.size() >= options_.cart_lines_max) return "cart_full";
      changed.items.push_back({request.product_id, request.qty, product->second.price, product->second.currency});
    }
    if (active == nullptr) merged_into_.erase(request.owner.session_id);
    Save(request.owner, changed);
    return "";
  }
  std::string SetQuantity(const CartRequest& request) {
    if (request.qty < 1 || request.qty > options_.line_qty_max) return "bad_quantity";
    Basket* basket = Active(request.owner);
    if (basket == nullptr) return "unknown_cart";
    Item* item = Find(*basket, request.product_id);
    if (item == nullptr) return "not_in_cart";
    item->qty = request.qty;
    Save(request.owner, *basket);
    return "";
  }
  std::string Remove(const CartRequest& request) {
    Basket* basket = Active(request.owner);
    if (basket == nullptr) return "unknown_cart";
    if (Find(*basket, request.product_id) == nullptr) return "not_in_cart";
    std::erase_if(basket->items, [&](const Item& item) { return item.product == request.product_id; });
    Save(request.owner, *basket);
    return "";
  }

  std::string Merge(const MergeRequest& request) {
    const Owner guest = Owner::Guest(request.session_id);
    const Owner user = Owner::User(request.user_id);
    const Basket* from = Active(guest);
    if (from == nullptr) {
      const auto merged = merged_into_.find(request.session_id);
      if (merged == merged_into_.end()) return "unknown_cart";
      return merged->second == request.user_id ? "" : "foreign_cart";
    }
    const Basket* own = Active(user);
    Basket to = own == nullptr ? Basket() : *own;
    if (!to.items.empty() && !from->items.empty() && to.items[0].currency != from->items[0].currency) {
      return "currency_mismatch";
    }
    for (const Item& item : from->items) {
      int64_t stock = 0;
      for (const auto& [zone, one] : goods[item.product].zones) {
        if (request.geo_zone.empty() || zone == request.geo_zone) stock += one.qty;
      }
      Item* there = Find(to, item.product);
      if (there == nullptr && to.items.size() >= options_.cart_lines_max) continue;
      if (there == nullptr) there = &to.items.emplace_back(Item{item.product, 0, item.price, item.currency});
      there->qty = std::min({there->qty + item.qty, stock, options_.line_qty_max});
      std::erase_if(to.items, [](const Item& one) { return one.qty == 0; });
    }
    carts_.erase(guest.Key());
    merged_into_[request.session_id] = request.user_id;
    Save(user, to);
    return "";
  }

  /// The sale's number in `sales`, or the refusal.
  std::string Checkout(const CheckoutRequest& request, size_t& sale) {
    if (const auto used = keys_.find(request.idempotency_key); used != keys_.end()) {
      sale = used->second;
      const bool same = sales[sale].user == request.owner.OrderUserId() && sales[sale].zone == request.geo_zone;
      return same ? "" : "conflict";
    }
    const Basket* basket = Active(request.owner);
    if (basket == nullptr) return "unknown_cart";
    if (basket->items.empty()) return "empty_cart";
    Sale made{.user = request.owner.OrderUserId(), .zone = request.geo_zone, .items = basket->items};
    for (const Item& item : made.items) {
      made.total += item.qty * item.price;
      if (goods[item.product].zones[request.geo_zone].qty < item.qty) return "out_of_stock";
    }
    for (const Item& item : made.items) goods[item.product].zones[request.geo_zone].qty -= item.qty;
    carts_.erase(request.owner.Key());
    sale = sales.size();
    keys_[request.idempotency_key] = sale;
    sales.push_back(std::move(made));
    return "";
  }
  std::string Transition(size_t number, const std::string& status) {
    Sale& sale = sales[number];
    const bool forward =
        (sale.status == "paid" && status == "shipped") || (sale.status == "shipped" && status == "delivered");
    const bool cancel = status == "canceled" && (sale.status == "paid" || sale.status == "shipped");
    if (!forward && !cancel) return "forbidden_transition";
    sale.status = status;
    if (!cancel) return "";
    for (const Item& item : sale.items) goods[item.product].zones[sale.zone].qty += item.qty;
    return "";
  }

  Basket* Active(const Owner& owner) {
    const auto found = carts_.find(owner.Key());
    return found == carts_.end() || found->second.expires_at <= clock_.NowMillis() ? nullptr : &found->second;
  }

  std::map<std::string, Goods> goods;
  std::vector<Sale> sales;

 private:
  static Item* Find(Basket& basket, const std::string& product) {
    for (Item& item : basket.items) {
      if (item.product == product) return &item;
    }
    return nullptr;
  }
  void Save(const Owner& owner, Basket basket) {
    basket.expires_at = clock_.NowMillis() + options_.cart_lifetime_ms;
    carts_[owner.Key()] = std::move(basket);
  }

  const ShopOptions options_;
  const Clock& clock_;
  std::map<std::string, Basket> carts_;
  std::map<std::string, std::string> merged_into_;
  std::map<std::string, size_t> keys_;
};

}  // namespace braid::shop::testkit
