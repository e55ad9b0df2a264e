// Carts of users and guests: changes, limits, expiry, and merging.
#include "services/shop/testing/fixture.h"

namespace braid::shop::testkit {
namespace {

class ShopCartTest : public ShopTest {
 protected:
  void SetUp() override {
    ShopTest::SetUp();
    Put("P1", "199.90", 25);
    Put("P2", "0.10", 5);
    Put("P3", "7", 0);
  }
  Result<Merge> MergeIn(const std::string& user_id = "U1") {
    return shop_->MergeCarts({.session_id = "S1", .user_id = user_id});
  }
  std::string StoredStatuses() {
    std::string statuses;
    for (const std::string& cart : Documents(kCarts)) {
      for (const char* status : {"active", "ordered", "abandoned"}) {
        if (cart.find(StrCat("\"", status, "\"")) != std::string::npos) statuses += StrCat(" ", status);
      }
    }
    return statuses;
  }
};

TEST_P(ShopCartTest, LinesAreAddedSetAndRemoved) {
  for (const Owner& owner : {user_, guest_}) {
    ASSERT_OK(Add(owner, "P1", 2));
    ASSERT_OK(Add(owner, "P2", 1));
    auto cart = Add(owner, "P1", 1);
    ASSERT_OK(cart);
    EXPECT_EQ(LinesOf(*cart), "P1×3 P2×1");
    EXPECT_EQ(cart->total_amount.ToString(), "599.80");
    EXPECT_EQ(cart->currency, "RUB");
    EXPECT_EQ(cart->expires_at, clock_.NowMillis() + shop_->options().cart_lifetime_ms);
    cart = shop_->SetQuantity({.owner = owner, .product_id = "P2", .qty = 5, .cart_id = cart->id});
    ASSERT_OK(cart);
    EXPECT_EQ(LinesOf(*cart), "P1×3 P2×5");
    cart = shop_->RemoveFromCart({.owner = owner, .product_id = "P1"});
    ASSERT_OK(cart);
    const auto read = shop_->GetCart({.owner = owner});
    ASSERT_OK(read);
    EXPECT_EQ(LinesOf(*read), "P2×5");
    EXPECT_EQ(read->id, cart->id);
    EXPECT_EQ(read->owner, owner);
    EXPECT_EQ(read->status, "active");
    EXPECT_EQ(read->total_amount.ToString(), "0.50");
  }
}

TEST_P(ShopCartTest, LineKeepsThePriceItWasMadeWith) {
  ASSERT_OK(Add(user_, "P1", 1));
  Put("P1", "250", 25);
  const auto cart = Add(user_, "P1", 1);
  ASSERT_OK(cart);
  EXPECT_EQ(cart->total_amount.ToString(), "399.80");
  const auto order = Buy(user_, "k1");
  ASSERT_OK(order);
  EXPECT_EQ(order->total_amount.ToString(), "399.80");
  ASSERT_OK(Add(user_, "P1", 1));
  EXPECT_EQ(shop_->GetCart({.owner = user_})->total_amount.ToString(), "250");
}

TEST_P(ShopCartTest, BadChangesAreRefused) {
  Product dollars = Make("P4", "1", 1);
  dollars.currency = "USD";
  ASSERT_OK(shop_->PutProduct(dollars));
  ExpectRefused(Refused::kUnknownCart, [&] { return shop_->GetCart({.owner = user_}); });
  ASSERT_OK(Add(user_, "P1", 1));
  ASSERT_OK(Add(Owner::User("U2"), "P1", 1));
  const std::string foreign = shop_->GetCart({.owner = Owner::User("U2")})->id;
  ExpectRefused(Refused::kUnknownProduct, [&] { return Add(user_, "P9", 1); });
  for (int64_t qty : {int64_t{0}, int64_t{-1}, int64_t{1001}, INT64_MAX, INT64_MIN}) {
    ExpectRefused(Refused::kBadQuantity, [&] { return Add(user_, "P1", qty); });
    ExpectRefused(Refused::kBadQuantity,
                  [&] { return shop_->SetQuantity({.owner = user_, .product_id = "P1", .qty = qty}); });
  }
  ExpectRefused(Refused::kBadQuantity, [&] { return Add(user_, "P1", 1000); });
  ExpectRefused(Refused::kCurrencyMismatch, [&] { return Add(user_, "P4", 1); });
  ExpectRefused(Refused::kNotInCart,
                [&] { return shop_->SetQuantity({.owner = user_, .product_id = "P2", .qty = 1}); });
  ExpectRefused(Refused::kNotInCart, [&] { return shop_->RemoveFromCart({.owner = user_, .product_id = "P2"}); });
  ExpectRefused(Refused::kForeignCart, [&] { return shop_->GetCart({.owner = user_, .cart_id = foreign}); });
  ExpectRefused(Refused::kForeignCart,
                [&] { return shop_->AddToCart({.owner = user_, .product_id = "P1", .qty = 1, .cart_id = foreign}); });
  ExpectRefused(Refused::kForeignCart,
                [&] { return shop_->RemoveFromCart({.owner = user_, .product_id = "P1", .cart_id = foreign}); });
  ExpectRefused(Refused::kForeignCart, [&] {
    return shop_->Checkout({.owner = user_, .geo_zone = kZone, .idempotency_key = "k", .cart_id = foreign});
  });
  ExpectRefused(Refused::kBadRequest, [&] { return Add({}, "P1", 1); });
  ExpectRefused(Refused::kBadRequest, [&] { return Add({.user_id = "U1", .session_id = "S1"}, "P1", 1); });
  ExpectRefused(Refused::kBadRequest, [&] { return Add(Owner::User("guest:S1"), "P1", 1); });
  ExpectRefused(Refused::kBadRequest, [&] { return Add(Owner::Guest(std::string(129, 's')), "P1", 1); });
}

TEST_P(ShopCartTest, LimitsAreTheOptions) {
  Reopen({.cart_lines_max = 1, .line_qty_max = 3});
  ASSERT_OK(Add(user_, "P1", 3));
  ExpectRefused(Refused::kBadQuantity, [&] { return Add(user_, "P1", 1); });
  ExpectRefused(Refused::kCartFull, [&] { return Add(user_, "P2", 1); });
}

TEST_P(ShopCartTest, AmountThatWouldRoundIsRefused) {
  Put("P5", std::string(34, '9'), 5);
  ASSERT_OK(Add(user_, "P5", 1));
  ExpectRefused(Refused::kInexactAmount, [&] { return Add(user_, "P5", 1); });
  ExpectRefused(Refused::kInexactAmount, [&] { return Add(user_, "P2", 1); });
}

TEST_P(ShopCartTest, ExpiredCartIsInvisibleAtOnce) {
  for (const Owner& owner : {user_, guest_}) {
    ASSERT_OK(Add(owner, "P1", 1));
    clock_.Advance(std::chrono::milliseconds(shop_->options().cart_lifetime_ms - 1));
    ASSERT_OK(shop_->GetCart({.owner = owner}));
    clock_.Advance(std::chrono::milliseconds(1));
    ExpectRefused(Refused::kUnknownCart, [&] { return shop_->GetCart({.owner = owner}); });
    ExpectRefused(Refused::kUnknownCart, [&] { return Buy(owner, "k1"); });
    ExpectRefused(Refused::kUnknownCart,
                  [&] { return shop_->SetQuantity({.owner = owner, .product_id = "P1", .qty = 1}); });
    const auto cart = Add(owner, "P2", 1);
    ASSERT_OK(cart);
    EXPECT_EQ(LinesOf(*cart), "P2×1");
    EXPECT_EQ(LinesOf(*shop_->GetCart({.owner = owner})), "P2×1");
  }
  EXPECT_EQ(StoredStatuses(), " abandoned active abandoned active");
}

TEST_P(ShopCartTest, ParallelFirstAddsMakeOneCart) {
  for (const Owner& owner : {user_, guest_}) {
    SideBySide(8, [&](size_t) { EXPECT_OK(Add(owner, "P1", 1)); });
    EXPECT_EQ(LinesOf(*shop_->GetCart({.owner = owner})), "P1×8");
  }
  EXPECT_EQ(Documents(kCarts).size(), 2u);
  EXPECT_EQ(Documents(kCartSessions).size(), 1u);
}

TEST_P(ShopCartTest, MergeSumsAndAbandons) {
  ASSERT_OK(Add(guest_, "P1", 2));
  ASSERT_OK(Add(guest_, "P2", 1));
  ASSERT_OK(Add(user_, "P1", 1));
  const auto merge = MergeIn();
  ASSERT_OK(merge);
  EXPECT_TRUE(merge->merged);
  EXPECT_TRUE(merge->notes.empty());
  EXPECT_EQ(LinesOf(merge->cart), "P1×3 P2×1");
  EXPECT_EQ(merge->cart.owner, user_);
  ExpectRefused(Refused::kUnknownCart, [&] { return shop_->GetCart({.owner = guest_}); });
  // Again: nothing more happens.
  const auto before = Everything();
  const auto again = MergeIn();
  ASSERT_OK(again);
  EXPECT_FALSE(again->merged);
  EXPECT_EQ(LinesOf(again->cart), "P1×3 P2×1");
  EXPECT_EQ(Everything(), before);
  ExpectRefused(Refused::kForeignCart, [&] { return MergeIn("U2"); });
  // The guest goes on, and what is new is merged.
  ASSERT_OK(Add(guest_, "P1", 1));
  EXPECT_EQ(LinesOf(MergeIn()->cart), "P1×4 P2×1");
}

TEST_P(ShopCartTest, MergeIsCappedAtTheStock) {
  Reopen({.cart_lines_max = 3, .line_qty_max = 20});
  Put("P6", "1", 9);
  ASSERT_OK(shop_->SetStock({.product_id = "P2", .geo_zone = "RU-KGD", .qty = 2}));
  for (const char* id : {"P1", "P2", "P3"}) ASSERT_OK(Add(guest_, id, 15));
  ASSERT_OK(Add(user_, "P1", 15));
  const auto merge = MergeIn();
  ASSERT_OK(merge);
  EXPECT_EQ(LinesOf(merge->cart), "P1×20 P2×7");
  ASSERT_EQ(merge->notes.size(), 3u);
  EXPECT_EQ(merge->notes[0].reason, "bad_quantity");
  EXPECT_EQ(merge->notes[0].wanted, 30);
  EXPECT_EQ(merge->notes[0].kept, 20);
  EXPECT_EQ(merge->notes[1].reason, "out_of_stock");
  EXPECT_EQ(merge->notes[1].kept, 7);
  EXPECT_EQ(merge->notes[2].product_id, "P3");
  EXPECT_EQ(merge->notes[2].kept, 0);
  EXPECT_FALSE(merge->notes[2].message.empty());
  // By the stock of one zone, and a cart that is full.
  ASSERT_OK(Add(guest_, "P2", 1));
  ASSERT_OK(Add(guest_, "P6", 1));
  const auto zone = shop_->MergeCarts({.session_id = "S1", .user_id = "U1", .geo_zone = kZone});
  ASSERT_OK(zone);
  EXPECT_EQ(LinesOf(zone->cart), "P1×20 P2×5 P6×1");
  Put("P7", "1", 9);
  ASSERT_OK(Add(guest_, "P7", 1));
  const auto full = MergeIn();
  ASSERT_OK(full);
  EXPECT_EQ(LinesOf(full->cart), "P1×20 P2×5 P6×1");
  ASSERT_EQ(full->notes.size(), 1u);
  EXPECT_EQ(full->notes[0].reason, "cart_full");
}

TEST_P(ShopCartTest, BadMergesAreRefused) {
  ExpectRefused(Refused::kUnknownCart, [&] { return MergeIn(); });
  Product dollars = Make("P4", "1", 1);
  dollars.currency = "USD";
  ASSERT_OK(shop_->PutProduct(dollars));
  ASSERT_OK(Add(guest_, "P4", 1));
  ASSERT_OK(Add(user_, "P1", 1));
  ExpectRefused(Refused::kCurrencyMismatch, [&] { return MergeIn(); });
  ExpectRefused(Refused::kBadRequest, [&] { return MergeIn(""); });
  ExpectRefused(Refused::kBadRequest, [&] { return shop_->MergeCarts({.user_id = "U1"}); });
  ASSERT_OK(shop_->Checkout({.owner = guest_, .geo_zone = kZone, .idempotency_key = "k1"}));
  ExpectRefused(Refused::kUnknownCart, [&] { return MergeIn(); });
}

TEST_P(ShopCartTest, ParallelMergesMergeOnce) {
  for (int round = 0; round < 5; ++round) {
    const std::string session = StrCat("S", round);
    ASSERT_OK(Add(Owner::Guest(session), "P1", 2));
    std::atomic<int> merged = 0;
    SideBySide(6, [&](size_t) {
      const auto merge = shop_->MergeCarts({.session_id = session, .user_id = StrCat("U", round)});
      ASSERT_OK(merge);
      merged += merge->merged ? 1 : 0;
      EXPECT_EQ(LinesOf(merge->cart), "P1×2");
    });
    EXPECT_EQ(merged.load(), 1);
  }
}

INSTANTIATE_ON_STORES(ShopCartTest);

}  // namespace
}  // namespace braid::shop::testkit
