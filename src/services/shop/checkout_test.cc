// Checkout, orders and their status.
#include <set>

#include "services/shop/testing/fixture.h"

namespace braid::shop::testkit {
namespace {

class ShopCheckoutTest : public ShopTest {
 protected:
  void SetUp() override {
    ShopTest::SetUp();
    Put("P1", "199.90", 25);
    Put("P2", "0.10", 5);
  }
  Order Bought(const Owner& owner, const std::string& product_id, int64_t qty, const std::string& key) {
    EXPECT_OK(Add(owner, product_id, qty));
    const auto order = Buy(owner, key);
    EXPECT_OK(order);
    return order.value_or(Order());
  }
  Result<Order> Move(const Order& order, const std::string& status) {
    return shop_->Transition({.order_id = order.order_id, .status = status});
  }
};

TEST_P(ShopCheckoutTest, MakesAnOrderTakesStockAndEndsTheCart) {
  ASSERT_OK(Add(user_, "P2", 3));
  ASSERT_OK(Add(user_, "P1", 2));
  const auto order = Buy(user_, "k1");
  ASSERT_OK(order);
  EXPECT_TRUE(order->order_id.starts_with("ORD-2096-")) << order->order_id;
  EXPECT_EQ(order->status, "paid");
  EXPECT_EQ(order->user_id, "U1");
  EXPECT_EQ(order->geo_zone, kZone);
  EXPECT_EQ(order->total_amount.ToString(), "400.10");
  EXPECT_EQ(order->currency, "RUB");
  ASSERT_EQ(order->items.size(), 2u);
  EXPECT_EQ(order->items[1].product_id, "P1");
  EXPECT_EQ(order->items[1].price.ToString(), "199.90");
  EXPECT_EQ(StockOf("P1").qty, 23);
  EXPECT_EQ(StockOf("P2").qty, 2);
  ExpectRefused(Refused::kUnknownCart, [&] { return shop_->GetCart({.owner = user_}); });
  for (const OrderRequest& request : std::vector<OrderRequest>{{.order_id = order->order_id},
                                                               {.order_id = order->order_id, .user_id = "U1"},
                                                               {.id = order->id},
                                                               {.id = order->id, .user_id = "U1"}}) {
    const auto found = shop_->GetOrder(request);
    ASSERT_OK(found);
    EXPECT_EQ(found->order_id, order->order_id);
    EXPECT_EQ(found->id, order->id);
    EXPECT_EQ(found->total_amount.ToString(), "400.10");
    EXPECT_EQ(found->created_at, clock_.NowMillis());
  }
}

TEST_P(ShopCheckoutTest, GuestsOrderToo) {
  const Order order = Bought(guest_, "P1", 1, "k1");
  EXPECT_EQ(order.user_id, "guest:S1");
  const auto history = shop_->History({.user_id = "guest:S1"});
  ASSERT_OK(history);
  ASSERT_EQ(history->orders.size(), 1u);
  EXPECT_EQ(history->orders[0].order_id, order.order_id);
}

TEST_P(ShopCheckoutTest, SameKeyGivesTheSameOrder) {
  const Order order = Bought(user_, "P1", 2, "k1");
  const auto before = Everything();
  const auto again = Buy(user_, "k1");
  ASSERT_OK(again);
  EXPECT_EQ(again->order_id, order.order_id);
  EXPECT_EQ(again->id, order.id);
  EXPECT_EQ(again->total_amount.ToString(), order.total_amount.ToString());
  EXPECT_EQ(Everything(), before);
  // A new cart does not matter to an old key, nor does a restart.
  ASSERT_OK(Add(user_, "P2", 1));
  EXPECT_EQ(Buy(user_, "k1")->order_id, order.order_id);
  shop_.reset();
  store_.Restart();
  Reopen({});
  EXPECT_EQ(Buy(user_, "k1")->order_id, order.order_id);
  EXPECT_EQ(StockOf("P1").qty, 23);
  EXPECT_EQ(LinesOf(*shop_->GetCart({.owner = user_})), "P2×1");
}

TEST_P(ShopCheckoutTest, KeyOfAnotherCheckoutIsAConflict) {
  Bought(user_, "P1", 1, "k1");
  ASSERT_OK(Add(user_, "P1", 1));
  ASSERT_OK(Add(Owner::User("U2"), "P1", 1));
  ExpectRefused(Refused::kConflict, [&] { return Buy(Owner::User("U2"), "k1"); });
  ExpectRefused(Refused::kConflict,
                [&] { return shop_->Checkout({.owner = user_, .geo_zone = "RU-KGD", .idempotency_key = "k1"}); });
}

TEST_P(ShopCheckoutTest, OutOfStockNamesEveryLineAndChangesNothing) {
  Put("P3", "1", 0);
  ASSERT_OK(Add(user_, "P3", 1));
  ASSERT_OK(Add(user_, "P1", 1));
  ASSERT_OK(Add(user_, "P2", 6));
  ExpectRefused(Refused::kOutOfStock, [&] { return Buy(user_, "k1"); });
  const auto refusal = RefusalOf(Buy(user_, "k1").status());
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->lines, (std::vector<ShortLine>{{"P2", 6, 5}, {"P3", 1, 0}}));
  ExpectRefused(Refused::kOutOfStock,
                [&] { return shop_->Checkout({.owner = user_, .geo_zone = "nowhere", .idempotency_key = "k1"}); });
  // The key is still good once there is enough.
  ASSERT_OK(shop_->SetStock({.product_id = "P3", .geo_zone = kZone, .qty = 1}));
  ASSERT_OK(shop_->SetStock({.product_id = "P2", .geo_zone = kZone, .qty = 6}));
  ASSERT_OK(Buy(user_, "k1"));
}

TEST_P(ShopCheckoutTest, BadCheckoutsAreRefused) {
  ExpectRefused(Refused::kUnknownCart, [&] { return Buy(user_, "k1"); });
  ASSERT_OK(Add(user_, "P1", 1));
  ExpectRefused(Refused::kBadRequest, [&] { return Buy(user_, ""); });
  ExpectRefused(Refused::kBadRequest, [&] { return Buy(user_, std::string(129, 'k')); });
  ExpectRefused(Refused::kBadRequest, [&] { return shop_->Checkout({.owner = user_, .idempotency_key = "k1"}); });
  ExpectRefused(Refused::kBadRequest, [&] { return Buy({}, "k1"); });
  ASSERT_OK(shop_->RemoveFromCart({.owner = user_, .product_id = "P1"}));
  ExpectRefused(Refused::kEmptyCart, [&] { return Buy(user_, "k1"); });
}

TEST_P(ShopCheckoutTest, UnknownOrdersAreRefused) {
  const Order order = Bought(user_, "P1", 1, "k1");
  const auto code = [&](const OrderRequest& request) { return CodeOf(shop_->GetOrder(request)); };
  EXPECT_EQ(code({.order_id = "ORD-2096-000000000000"}), "unknown_order");
  EXPECT_EQ(code({.order_id = "key:k1"}), "unknown_order");
  EXPECT_EQ(code({.order_id = order.order_id, .user_id = "U2"}), "unknown_order");
  EXPECT_EQ(code({.id = order.id, .user_id = "U2"}), "unknown_order");
  EXPECT_EQ(code({.id = "not an id"}), "unknown_order");
  EXPECT_EQ(code({}), "bad_request");
  EXPECT_EQ(CodeOf(shop_->Transition({.order_id = order.order_id, .status = "shipped", .user_id = "U2"})),
            "unknown_order");
}

TEST_P(ShopCheckoutTest, HistoryIsPagedNewestFirst) {
  std::vector<std::string> newest_first;
  for (int i = 0; i < 7; ++i) {
    if (i % 3 == 0) clock_.Advance(std::chrono::seconds(1));  // several in one millisecond
    newest_first.insert(newest_first.begin(), Bought(user_, "P1", 1, StrCat("k", i)).order_id);
  }
  Bought(Owner::User("U2"), "P1", 1, "other");
  for (int64_t limit : {1, 2, 3, 7, 100}) {
    std::vector<std::string> seen;
    HistoryRequest request{.user_id = "U1", .limit = limit};
    int64_t newest = INT64_MAX;
    do {
      const auto page = shop_->History(request);
      ASSERT_OK(page);
      for (const Order& order : page->orders) {
        EXPECT_LE(order.created_at, newest);
        newest = order.created_at;
        seen.push_back(order.order_id);
      }
      request.after = page->next;
    } while (!request.after.empty());
    EXPECT_EQ(seen.size(), 7u) << limit;
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()),
              std::set<std::string>(newest_first.begin(), newest_first.end()));
  }
  EXPECT_EQ(CodeOf(shop_->History({.user_id = "U1", .after = "00"})), "bad_request");
  EXPECT_EQ(CodeOf(shop_->History({.user_id = "U1", .limit = 0})), "bad_request");
  EXPECT_EQ(CodeOf(shop_->History({})), "bad_request");
}

TEST_P(ShopCheckoutTest, StatusFollowsTheTable) {
  const char* statuses[] = {"paid", "shipped", "delivered", "canceled"};
  const std::set<std::pair<std::string, std::string>> allowed = {
      {"paid", "shipped"}, {"paid", "canceled"}, {"shipped", "delivered"}, {"shipped", "canceled"}};
  int key = 0;
  for (const std::string from : statuses) {
    for (const std::string to : statuses) {
      const Order order = Bought(user_, "P1", 1, StrCat("k", ++key));
      if (from == "shipped" || from == "delivered") ASSERT_OK(Move(order, "shipped"));
      if (from == "delivered") ASSERT_OK(Move(order, "delivered"));
      if (from == "canceled") ASSERT_OK(Move(order, "canceled"));
      if (allowed.contains({from, to})) {
        const auto moved = Move(order, to);
        ASSERT_OK(moved);
        EXPECT_EQ(moved->status, to);
        EXPECT_EQ(shop_->GetOrder({.order_id = order.order_id})->status, to);
      } else {
        ExpectRefused(Refused::kForbiddenTransition, [&] { return Move(order, to); });
      }
    }
  }
  ExpectRefused(Refused::kBadRequest, [&] { return shop_->Transition({.order_id = "x", .status = "lost"}); });
  ExpectRefused(Refused::kUnknownOrder, [&] { return shop_->Transition({.order_id = "x", .status = "shipped"}); });
}

TEST_P(ShopCheckoutTest, CancelGivesTheStockBackOnce) {
  ASSERT_OK(Add(user_, "P2", 5));
  const Order order = Bought(user_, "P1", 3, "k1");
  EXPECT_EQ(StockOf("P1").qty, 22);
  std::atomic<int> canceled = 0;
  SideBySide(8, [&](size_t) {
    const auto moved = Move(order, "canceled");
    if (moved.ok()) ++canceled;
    if (!moved.ok()) {
      EXPECT_EQ(CodeOf(moved), "forbidden_transition");
    }
  });
  EXPECT_EQ(canceled.load(), 1);
  EXPECT_EQ(StockOf("P1").qty, 25);
  EXPECT_EQ(StockOf("P2").qty, 5);
}

TEST_P(ShopCheckoutTest, LastUnitsAreSoldOnce) {
  Put("A", "1", 10);
  Put("B", "1", 12);
  constexpr size_t kBuyers = 24;
  for (size_t i = 0; i < kBuyers; ++i) {
    const Owner owner = i % 2 == 0 ? Owner::User(StrCat("U", i)) : Owner::Guest(StrCat("S", i));
    // In either order, so that the locks' order would matter.
    ASSERT_OK(Add(owner, i % 3 == 0 ? "A" : "B", 1));
    ASSERT_OK(Add(owner, i % 3 == 0 ? "B" : "A", 1));
  }
  std::atomic<int> sold = 0;
  SideBySide(8, [&](size_t thread) {
    for (size_t i = thread; i < kBuyers; i += 8) {
      const auto order = Buy(i % 2 == 0 ? Owner::User(StrCat("U", i)) : Owner::Guest(StrCat("S", i)), StrCat("k", i));
      if (order.ok()) ++sold;
      if (!order.ok()) {
        EXPECT_EQ(CodeOf(order), "out_of_stock");
      }
    }
  });
  EXPECT_EQ(sold.load(), 10);
  EXPECT_EQ(StockOf("A").qty, 0);
  EXPECT_EQ(StockOf("B").qty, 2);
  EXPECT_EQ(Documents(kOrders).size(), 10u);
  EXPECT_EQ(Documents(kOrderIds).size(), 20u);
}

TEST_P(ShopCheckoutTest, OneKeyFromManyThreadsMakesOneOrder) {
  ASSERT_OK(Add(user_, "P1", 2));
  std::vector<std::string> ids(8);
  SideBySide(8, [&](size_t i) {
    const auto order = Buy(user_, "k1");
    ASSERT_OK(order);
    ids[i] = order->order_id;
  });
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 1u);
  EXPECT_EQ(StockOf("P1").qty, 23);
  EXPECT_EQ(Documents(kOrders).size(), 1u);
}

TEST_P(ShopCheckoutTest, OneCartIsOrderedOnceWhateverTheKeys) {
  ASSERT_OK(Add(user_, "P1", 2));
  std::atomic<int> sold = 0;
  SideBySide(8, [&](size_t i) {
    const auto order = Buy(user_, StrCat("k", i));
    if (order.ok()) ++sold;
    if (!order.ok()) {
      EXPECT_EQ(CodeOf(order), "unknown_cart");
    }
  });
  EXPECT_EQ(sold.load(), 1);
  EXPECT_EQ(StockOf("P1").qty, 23);
}

// Units that were in carts are in an order or in the user's cart afterwards: none twice, none lost.
TEST_P(ShopCheckoutTest, CheckoutAndMergeSideBySideLoseNothing) {
  for (int round = 0; round < 12; ++round) {
    const Owner user = Owner::User(StrCat("U", round));
    const Owner guest = Owner::Guest(StrCat("S", round));
    const Owner buyer = round % 2 == 0 ? user : guest;
    Put("P1", "1", 100);
    ASSERT_OK(Add(user, "P1", 1));
    ASSERT_OK(Add(guest, "P1", 2));
    int64_t ordered = 0;
    std::string merge_code;
    SideBySide(2, [&](size_t i) {
      if (i == 0) {
        const auto order = Buy(buyer, StrCat("key", round));
        if (order.ok()) ordered = order->items[0].qty;
        if (!order.ok()) {
          EXPECT_EQ(CodeOf(order), "unknown_cart");
        }
      } else {
        merge_code = CodeOf(shop_->MergeCarts({.session_id = guest.session_id, .user_id = user.user_id}));
      }
    });
    const auto cart = shop_->GetCart({.owner = user});
    const int64_t left = cart.ok() ? cart->lines[0].qty : 0;
    EXPECT_EQ(ordered + left, 3) << round;
    EXPECT_EQ(merge_code, buyer == guest && ordered > 0 ? "unknown_cart" : "") << round;
    EXPECT_EQ(CodeOf(shop_->GetCart({.owner = guest})), "unknown_cart");
    EXPECT_EQ(StockOf("P1").qty, 100 - ordered);
  }
}

INSTANTIATE_ON_STORES(ShopCheckoutTest);

}  // namespace
}  // namespace braid::shop::testkit
