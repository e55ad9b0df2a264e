// What the tests of the shop share: a shop on a store, a clock that the test moves, and the whole store as text, so
// that "nothing has changed" can be checked.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/strings.h"
#include "client/handles.h"
#include "embedded/testing/stores.h"
#include "services/shop/collections.h"
#include "services/shop/shop.h"

namespace braid::shop::testkit {

inline constexpr const char* kZone = "RU-MOW";

inline Money Amount(std::string_view text) {
  const auto money = Money::Parse(text);
  EXPECT_OK(money);
  return money.value_or(Money());
}

/// "out_of_stock", "store: …" for an error of the store, "" for OK.
inline std::string CodeOf(const Status& status) {
  if (status.ok()) return "";
  const auto refusal = RefusalOf(status);
  return refusal ? std::string(NameOf(refusal->code)) : StrCat("store: ", status.ToString());
}
template <typename T>
std::string CodeOf(const Result<T>& result) {
  return CodeOf(result.status());
}

/// Calls run(0) … run(count - 1), each on a thread of its own, and waits for them.
inline void SideBySide(size_t count, const std::function<void(size_t)>& run) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < count; ++i) threads.emplace_back([&run, i] { run(i); });
  for (std::thread& thread : threads) thread.join();
}

class ShopTest : public braid::test::StoreTest {
 protected:
  void SetUp() override { Reopen({}); }

  /// The options' database and clock are the test's.
  void Reopen(ShopOptions options) {
    options.database = store_.database();
    options.clock = &clock_;
    auto opened = Shop::Open(store_.clients(), options);
    ASSERT_OK(opened);
    shop_ = *std::move(opened);
  }

  static Product Make(const std::string& id, std::string_view price, int64_t qty) {
    Product product{.id = id, .name = StrCat("Name of ", id), .category = "phones", .currency = "RUB"};
    product.price = Amount(price);
    product.stock_by_geo = {{.geo_zone = kZone, .qty = qty}};
    return product;
  }
  void Put(const std::string& id, std::string_view price, int64_t qty) {
    ASSERT_OK(shop_->PutProduct(Make(id, price, qty)));
  }
  Result<Cart> Add(const Owner& owner, const std::string& product_id, int64_t qty) {
    return shop_->AddToCart({.owner = owner, .product_id = product_id, .qty = qty});
  }
  Result<Order> Buy(const Owner& owner, const std::string& key) {
    return shop_->Checkout({.owner = owner, .geo_zone = kZone, .idempotency_key = key});
  }
  ZoneStock StockOf(const std::string& product_id) {
    const auto product = shop_->Card(product_id);
    EXPECT_OK(product);
    const ZoneStock* stock = product.ok() ? product->StockIn(kZone) : nullptr;
    return stock == nullptr ? ZoneStock() : *stock;
  }
  /// "P1×2 P2×1"
  static std::string LinesOf(const Cart& cart) {
    std::string text;
    for (const CartLine& line : cart.lines) text += StrCat(text.empty() ? "" : " ", line.product_id, "×", line.qty);
    return text;
  }

  /// Every document of a collection, by _id.
  std::vector<std::string> Documents(const char* collection) {
    const Client client = store_.clients().Acquire();
    const auto handle = client::CollectionOf(client.get(), store_.database(), collection);
    const client::Bson all;
    client::Bson by_id;
    by_id.Integer("_id", 1);
    client::Bson opts;
    opts.Document("sort", by_id);
    const client::CursorPtr cursor(mongoc_collection_find_with_opts(handle.get(), all.get(), opts.get(), nullptr));
    std::vector<std::string> documents;
    const bson_t* document = nullptr;
    while (mongoc_cursor_next(cursor.get(), &document)) {
      char* text = bson_as_canonical_extended_json(document, nullptr);
      documents.emplace_back(text);
      bson_free(text);
    }
    bson_error_t error{};
    EXPECT_FALSE(mongoc_cursor_error(cursor.get(), &error)) << error.message;
    return documents;
  }
  std::map<std::string, std::vector<std::string>> Everything() {
    std::map<std::string, std::vector<std::string>> everything;
    for (const char* name : {kProducts, kOrders, kOrderIds, kCarts, kCartSessions}) everything[name] = Documents(name);
    return everything;
  }
  /// The operation is refused with the code, and nothing in the store has changed.
  template <typename Run>
  void ExpectRefused(Refused code, const Run& run) {
    const auto before = Everything();
    EXPECT_EQ(CodeOf(run()), NameOf(code));
    EXPECT_EQ(Everything(), before) << NameOf(code);
  }

  // Years ahead, so that no TTL of the store removes what a test has made.
  ManualClock clock_{4'000'000'000'000};
  std::unique_ptr<Shop> shop_;
  const Owner user_ = Owner::User("U1");
  const Owner guest_ = Owner::Guest("S1");
};

}  // namespace braid::shop::testkit
