// Shop: the storefront (B1–B4). Products with stock per geo zone, carts of users and guests, checkout, orders.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "braid/clients.h"
#include "braid/clock.h"
#include "braid/transaction.h"
#include "services/shop/money.h"
#include "services/shop/refusal.h"

namespace braid::shop {

struct ShopOptions {
  std::string database = "shop";
  /// Lines of one cart at most. Default 100, 1..1000.
  size_t cart_lines_max = 100;
  /// Units of one line at most. Default 1000, 1..1000000.
  int64_t line_qty_max = 1000;
  /// How long a cart lives after its last change. Default one day, from one second.
  int64_t cart_lifetime_ms = 24LL * 3600 * 1000;
  /// Where created_at, updated_at and expires_at come from. Must outlive the Shop.
  const Clock* clock = &Clock::System();
  /// Seed of the order ids' random digits; 0: an unpredictable seed.
  uint64_t seed = 0;
  /// Ends the retries of a transaction when it becomes true; may be null.
  const std::atomic<bool>* stop = nullptr;

  Status Validate() const;  ///< OK, or the first field out of range, its value and its range.
};

/// The most rows of a page.
inline constexpr int64_t kPageMax = 1000;
/// Bytes of an id, a geo zone, a category, an idempotency key.
inline constexpr size_t kIdBytesMax = 128;
/// Units of a stock.
inline constexpr int64_t kStockMax = 1'000'000'000'000;

// Products.

using AttrValue = std::variant<std::string, int64_t, double, bool>;
using Attrs = std::map<std::string, AttrValue>;

struct ZoneStock {
  std::string geo_zone;
  int64_t qty = 0;       // can be sold
  int64_t reserved = 0;  // set aside by ReserveStock, until it is released or committed
  bool operator==(const ZoneStock&) const = default;
};

struct Product {
  std::string id;
  std::string name;
  std::string category;
  Money price;
  std::string currency;
  std::vector<ZoneStock> stock_by_geo;
  Attrs attrs;
  int64_t updated_at = 0;  // milliseconds since 1970, as all times here; PutProduct() sets it

  /// The zone's stock; null if the product has never been there.
  const ZoneStock* StockIn(std::string_view geo_zone) const;
};

enum class CatalogueSort { kPrice, kName };

struct CatalogueQuery {
  std::string category;
  std::optional<Money> price_min;  // inclusive, as is price_max
  std::optional<Money> price_max;
  Attrs attrs;  // all of them must be equal
  CatalogueSort sort = CatalogueSort::kPrice;
  bool descending = false;
  int64_t limit = 20;
  std::string after;  // `next` of the page before; empty: the first page
};

struct CataloguePage {
  std::vector<Product> products;
  std::string next;  // empty: the last page
};

struct StockRequest {
  std::string product_id;
  std::string geo_zone;
  int64_t qty = 0;
};

// Carts.

/// A user or a guest: one of the two is set. What they own is found by "u:{user_id}" or "g:{session_id}".
struct Owner {
  std::string user_id;
  std::string session_id;

  static Owner User(std::string user_id) { return {.user_id = std::move(user_id)}; }
  static Owner Guest(std::string session_id) { return {.session_id = std::move(session_id)}; }
  /// The field `owner` of a cart, which is its shard key.
  std::string Key() const;
  /// The field `user_id` of an order: the user's, or "guest:{session_id}", so that it is never null.
  std::string OrderUserId() const;
  bool operator==(const Owner&) const = default;
};

/// For operations on a cart. A `cart_id` that is given must be that of the owner's active cart (Refused::kForeignCart).
struct CartRequest {
  Owner owner;
  std::string product_id;  // not for reading a cart
  int64_t qty = 0;         // only for adding and setting
  std::string cart_id;     // optional
};

struct CartLine {
  std::string product_id;
  std::string name;
  int64_t qty = 0;
  Money price;  // of the moment at which the line was made; neither a new price nor adding more changes it
  std::string currency;
};

struct Cart {
  std::string id;
  Owner owner;
  std::string status;  // active, ordered or abandoned
  std::vector<CartLine> lines;
  Money total_amount;
  std::string currency;  // empty if there are no lines
  int64_t created_at = 0;
  int64_t updated_at = 0;
  int64_t expires_at = 0;
};

struct MergeRequest {
  std::string session_id;
  std::string user_id;
  /// Whose stock is the most that a merged line may have; empty: the stock of all zones together.
  std::string geo_zone;
};

/// A line that could not be merged in full.
struct MergeNote {
  std::string product_id;
  int64_t wanted = 0;
  int64_t kept = 0;
  std::string reason;  // out_of_stock, bad_quantity (above the most of a line), cart_full or unknown_product
  std::string message;
};

struct Merge {
  Cart cart;  // the user's
  /// False if the guest's cart had been merged into this user's before.
  bool merged = true;
  std::vector<MergeNote> notes;
};

// Orders.

struct CheckoutRequest {
  Owner owner;
  std::string geo_zone;         // whose stock is sold
  std::string idempotency_key;  // chosen by the caller, unique in the shop
  std::string cart_id;          // optional, as in CartRequest
};

struct OrderLine {
  std::string product_id;
  Money price;
  int64_t qty = 0;
};

struct Order {
  std::string id;        // _id in hexadecimal
  std::string order_id;  // ORD-2026-012345678901
  std::string user_id;
  int64_t created_at = 0;
  std::string status;  // paid, shipped, delivered or canceled
  std::string geo_zone;
  std::vector<OrderLine> items;
  Money total_amount;
  std::string currency;
};

/// By one of the two. A `user_id` that is given must be the order's: another's order is unknown.
struct OrderRequest {
  std::string order_id;
  std::string id;       // the order's _id; without a user_id every shard is asked
  std::string user_id;  // optional
};

struct HistoryRequest {
  std::string user_id;  // or "guest:{session_id}"
  int64_t limit = 20;
  std::string after;  // `next` of the page before; empty: the newest
};

struct HistoryPage {
  std::vector<Order> orders;  // newest first
  std::string next;           // empty: the last page
};

struct TransitionRequest {
  std::string order_id;
  std::string status;   // paid → shipped → delivered; paid or shipped → canceled
  std::string user_id;  // optional, as in OrderRequest
};

/// The storefront on any store. Any thread. Every change is one transaction: it happens wholly or not at all, and what
/// fails with a refusal (refusal.h) has changed nothing. Other errors are the store's.
/// Invariants:
///   (1) neither `qty` nor `reserved` of a stock is ever below zero, whatever runs concurrently;
///   (2) an owner has at most one active cart, and an expired one is as good as gone before TTL removes it;
///   (3) an idempotency key makes one order at most, and a checkout that is repeated gives that order;
///   (4) checkout charges the prices that the cart's lines hold, not those of the products at that moment;
///   (5) a canceled order has given its stock back once.
class Shop {
 public:
  /// Creates the collections that are missing. `clients` must outlive the Shop.
  static Result<std::unique_ptr<Shop>> Open(Clients& clients, const ShopOptions& options);
  Shop(const Shop&) = delete;
  Shop& operator=(const Shop&) = delete;

  /// Makes a product or changes the one of this id. Zones that are named get their `qty`, which is what can be sold;
  /// other zones, and what is reserved, stay as they are.
  Result<Product> PutProduct(const Product& product);
  /// The product card.
  Result<Product> Card(const std::string& product_id);
  /// Products of a category in the order of an index, {category, price, _id} or {category, name, _id}: a page reads as
  /// many of its entries as it has rows, however many products there are; those that the attributes (or, by name, the
  /// price range) leave out are read too.
  Result<CataloguePage> Catalogue(const CatalogueQuery& query);

  /// Sets what can be sold in a zone. These four give the product as it is then.
  Result<Product> SetStock(const StockRequest& request);
  /// Sets units aside: from `qty` to `reserved`. Refused::kOutOfStock.
  Result<Product> ReserveStock(const StockRequest& request);
  /// Gives reserved units back to `qty`. Refused::kNotReserved.
  Result<Product> ReleaseStock(const StockRequest& request);
  /// Reserved units are sold and gone. Refused::kNotReserved.
  Result<Product> CommitStock(const StockRequest& request);

  /// Makes the cart if there is none. More of a product that is there already adds to its line.
  Result<Cart> AddToCart(const CartRequest& request);
  /// Sets the quantity of an existing line.
  Result<Cart> SetQuantity(const CartRequest& request);
  Result<Cart> RemoveFromCart(const CartRequest& request);
  /// The owner's active cart.
  Result<Cart> GetCart(const CartRequest& request);
  /// On login: the lines of the guest's cart go to the user's, the guest's becomes `abandoned`. The same product is
  /// summed, up to what is in stock; the user's price stays. Repeated for the same user, it returns the user's cart.
  Result<Merge> MergeCarts(const MergeRequest& request);

  /// Order, stock and cart in one transaction.
  Result<Order> Checkout(const CheckoutRequest& request);
  Result<Order> GetOrder(const OrderRequest& request);
  Result<HistoryPage> History(const HistoryRequest& request);
  Result<Order> Transition(const TransitionRequest& request);

  const ShopOptions& options() const { return options_; }
  /// How often a transaction had to run again because of a conflict or a lost connection.
  uint64_t retries() const { return retries_.load(std::memory_order_relaxed); }

 private:
  Shop(Clients& clients, const ShopOptions& options);
  Status Change(const std::function<Status(Transaction&)>& body);
  int64_t NowMillis() const { return options_.clock->NowMillis(); }
  std::string NewOrderId(int64_t now_ms);
  Result<Product> MoveStock(const StockRequest& request, int64_t qty_by, int64_t reserved_by);

  Clients& clients_;
  const ShopOptions options_;
  std::atomic<uint64_t> retries_ = 0;
  Mutex mu_;
  Random random_ BRAID_GUARDED_BY(mu_);
};

}  // namespace braid::shop
