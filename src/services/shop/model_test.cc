// A random sequence of operations, each against a plain model of the shop.
#include <fmt/format.h>

#include "services/shop/testing/fixture.h"
#include "services/shop/testing/model.h"

namespace braid::shop::testkit {
namespace {

std::string PriceText(int64_t hundredths) { return fmt::format("{}.{:02}", hundredths / 100, hundredths % 100); }

class ShopModelTest : public ShopTest {
 protected:
  static constexpr int kSteps = 1200;

  void SetUp() override {
    Reopen({.cart_lines_max = 3, .line_qty_max = 9, .cart_lifetime_ms = 60'000});
    model_.emplace(shop_->options(), clock_);
  }

  std::string Pick(const char* prefix, uint64_t count) { return StrCat(prefix, random_.Below(count)); }
  // P0 … P4 are sold, P4 in another currency; P5 is unknown.
  std::string PickProduct() { return Pick("P", 6); }
  std::string PickZone() { return Pick("Z", 2); }
  Owner PickOwner() { return random_.Chance(1, 2) ? Owner::User(Pick("U", 3)) : Owner::Guest(Pick("S", 3)); }
  int64_t PickQty() { return static_cast<int64_t>(random_.Below(7)); }

  void PutSome() {
    const std::string id = Pick("P", 5);
    const auto price = static_cast<int64_t>(random_.Below(100'000));
    Product product{.id = id, .name = id, .category = "c", .currency = id == "P4" ? "USD" : "RUB"};
    product.price = Amount(PriceText(price));
    ASSERT_OK(shop_->PutProduct(product));
    model_->Put(id, price, product.currency);
  }
  void StockSome() {
    const StockRequest request{.product_id = PickProduct(), .geo_zone = PickZone(), .qty = 1 + PickQty() * 2};
    switch (random_.Below(4)) {
      case 0: EXPECT_EQ(CodeOf(shop_->SetStock(request)), model_->SetStock(request)); break;
      case 1:
        EXPECT_EQ(CodeOf(shop_->ReserveStock(request)), model_->MoveStock(request, -request.qty, request.qty));
        break;
      case 2:
        EXPECT_EQ(CodeOf(shop_->ReleaseStock(request)), model_->MoveStock(request, request.qty, -request.qty));
        break;
      default: EXPECT_EQ(CodeOf(shop_->CommitStock(request)), model_->MoveStock(request, 0, -request.qty));
    }
  }
  void ChangeCart() {
    const CartRequest request{.owner = PickOwner(), .product_id = PickProduct(), .qty = PickQty()};
    switch (random_.Below(5)) {
      case 0: EXPECT_EQ(CodeOf(shop_->SetQuantity(request)), model_->SetQuantity(request)); break;
      case 1: EXPECT_EQ(CodeOf(shop_->RemoveFromCart(request)), model_->Remove(request)); break;
      default: EXPECT_EQ(CodeOf(shop_->AddToCart(request)), model_->Add(request));
    }
    ExpectCart(request.owner);
  }
  void MergeSome() {
    const MergeRequest request{
        .session_id = Pick("S", 3), .user_id = Pick("U", 3), .geo_zone = random_.Chance(1, 2) ? PickZone() : ""};
    EXPECT_EQ(CodeOf(shop_->MergeCarts(request)), model_->Merge(request));
    ExpectCart(Owner::Guest(request.session_id));
    ExpectCart(Owner::User(request.user_id));
  }
  void CheckoutSome() {
    // Keys come again, of the same owner and of others.
    const CheckoutRequest request{.owner = PickOwner(), .geo_zone = PickZone(), .idempotency_key = Pick("k", 150)};
    size_t sale = 0;
    const auto order = shop_->Checkout(request);
    ASSERT_EQ(CodeOf(order), model_->Checkout(request, sale));
    if (!order.ok()) return;
    if (sale == order_ids_.size()) order_ids_.push_back(order->order_id);
    EXPECT_EQ(order->order_id, order_ids_[sale]);
    ExpectOrder(*order, model_->sales[sale]);
  }
  void TransitionSome() {
    if (order_ids_.empty()) return;
    const size_t sale = random_.Below(order_ids_.size());
    const char* statuses[] = {"paid", "shipped", "delivered", "canceled"};
    const std::string status = statuses[random_.Below(4)];
    EXPECT_EQ(CodeOf(shop_->Transition({.order_id = order_ids_[sale], .status = status})),
              model_->Transition(sale, status));
  }
  void Step() {
    const uint64_t dice = random_.Below(100);
    if (dice < 8) return PutSome();
    if (dice < 28) return StockSome();
    if (dice < 63) return ChangeCart();
    if (dice < 72) return MergeSome();
    if (dice < 88) return CheckoutSome();
    if (dice < 97) return TransitionSome();
    clock_.Advance(std::chrono::seconds(random_.Below(50)));
  }

  void ExpectCart(const Owner& owner) {
    const auto cart = shop_->GetCart({.owner = owner});
    const ShopModel::Basket* basket = model_->Active(owner);
    ASSERT_EQ(CodeOf(cart), basket == nullptr ? "unknown_cart" : "") << owner.Key();
    if (basket == nullptr) return;
    std::string expected;
    std::string found;
    for (const auto& item : basket->items) {
      expected += StrCat(item.product, "×", item.qty, "@", PriceText(item.price), item.currency, " ");
    }
    for (const CartLine& line : cart->lines) {
      found += StrCat(line.product_id, "×", line.qty, "@", line.price.ToString(), line.currency, " ");
    }
    EXPECT_EQ(found, expected) << owner.Key();
    EXPECT_EQ(cart->expires_at, basket->expires_at);
  }
  static void ExpectOrder(const Order& order, const ShopModel::Sale& sale) {
    EXPECT_EQ(order.user_id, sale.user);
    EXPECT_EQ(order.status, sale.status);
    EXPECT_EQ(order.geo_zone, sale.zone);
    EXPECT_EQ(order.total_amount.ToString(), PriceText(sale.total));
    ASSERT_EQ(order.items.size(), sale.items.size());
    for (size_t i = 0; i < order.items.size(); ++i) {
      EXPECT_EQ(order.items[i].product_id, sale.items[i].product);
      EXPECT_EQ(order.items[i].qty, sale.items[i].qty);
    }
  }
  void ExpectStocks() {
    for (const auto& [id, goods] : model_->goods) {
      const auto card = shop_->Card(id);
      ASSERT_OK(card);
      EXPECT_EQ(card->price.ToString(), PriceText(goods.price));
      for (const auto& [zone, stock] : goods.zones) {
        const ZoneStock* found = card->StockIn(zone);
        const ZoneStock none;
        EXPECT_EQ((found != nullptr ? *found : none).qty, stock.qty) << id << " " << zone;
        EXPECT_EQ((found != nullptr ? *found : none).reserved, stock.reserved) << id << " " << zone;
      }
    }
  }
  void ExpectHistories() {
    std::map<std::string, size_t> orders;
    for (size_t i = 0; i < order_ids_.size(); ++i) {
      const auto order = shop_->GetOrder({.order_id = order_ids_[i]});
      ASSERT_OK(order);
      ExpectOrder(*order, model_->sales[i]);
      ++orders[order->user_id];
    }
    for (const auto& [user, count] : orders) {
      const auto history = shop_->History({.user_id = user, .limit = kPageMax});
      ASSERT_OK(history);
      EXPECT_EQ(history->orders.size(), count) << user;
    }
  }

  Random random_{braid::test::Seed()};
  std::optional<ShopModel> model_;
  std::vector<std::string> order_ids_;  // of the model's sales
};

TEST_P(ShopModelTest, RandomOperationsDoWhatTheModelDoes) {
  for (int i = 0; i < 20; ++i) PutSome();
  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    SCOPED_TRACE(StrCat("step ", step));
    Step();
    if (step % 50 == 0) ExpectStocks();
  }
  ExpectStocks();
  ExpectHistories();
  EXPECT_GT(order_ids_.size(), 10u);
}

INSTANTIATE_ON_STORES(ShopModelTest);

}  // namespace
}  // namespace braid::shop::testkit
