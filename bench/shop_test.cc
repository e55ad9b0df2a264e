// The weights of the storefront's mix, and its verification, which is fed lies.
#include "bench/shop.h"

#include "bench/ledger_runs.h"
#include "bench/shop_runs.h"
#include "client/handles.h"
#include "embedded/testing/stores.h"
#include "services/shop/collections.h"

namespace braid::bench {
namespace {

TEST(ShopMixTest, WeightsAreReadByName) {
  const auto mix = ParseShopMix("checkout=7,browse=2,cart=0");
  ASSERT_OK(mix);
  EXPECT_EQ(*mix, (ShopMix{2, 0, 0, 0, 7, 0}));
  for (const char* text : {"", "browse", "browse=", "browse=x", "browse=1x", "browse=-1", "browse=1000001", "buy=1",
                           "browse=1,,card=1", "browse=0,card=0"}) {
    const auto refused = ParseShopMix(text);
    ASSERT_FALSE(refused.ok()) << text;
    EXPECT_EQ(refused.error().code(), Code::kBadValue) << text;
  }
}

TEST(ShopMixTest, TargetedShareIsOfAllCollectionsTogether) {
  ShopMixRow row;
  EXPECT_EQ(row.targeted_share(), std::nullopt);
  row.routing = {{.collection = "products", .targeted = 2, .scattered = 1}, {.collection = "carts", .targeted = 1}};
  EXPECT_EQ(row.targeted_share(), 0.75);
}

class ShopVerifyTest : public test::StoreTest {
 protected:
  // Five products with ten units each, of the first of which two are sold.
  void SetUp() override {
    static const std::atomic<bool> stop = false;
    ASSERT_OK(shop::EnsureCollections(store_.clients(), store_.database()));
    ASSERT_OK(FillProducts(store_.clients(), store_.database(), {.from = 0, .to = 5, .stock = 10, .stop = &stop}));
    auto shop = shop::Shop::Open(store_.clients(), {.database = store_.database()});
    ASSERT_OK(shop);
    const shop::Owner owner = shop::Owner::User("U1");
    ASSERT_OK((*shop)->AddToCart({.owner = owner, .product_id = ShopProductId(0), .qty = 2}));
    ASSERT_OK((*shop)->Checkout({.owner = owner, .geo_zone = kShopZone, .idempotency_key = "k"}));
  }
  Result<StockFigures> Verify() { return VerifyStock(store_.clients(), store_.database(), 10); }
  // Sets the stock of a product past the service and its rules.
  void Tamper(uint64_t product, int64_t qty, int64_t reserved) {
    client::Bson filter;
    filter.Text("_id", ShopProductId(product));
    client::Bson fields;
    fields.Integer("stock_by_geo.0.qty", qty).Integer("stock_by_geo.0.reserved", reserved);
    client::Bson change;
    change.Document("$set", fields);
    client::Bson opts;
    opts.Bool("bypassDocumentValidation", true);
    const Client client = store_.clients().Acquire();
    const auto products = client::CollectionOf(client.get(), store_.database(), shop::kProducts);
    bson_error_t error{};
    ASSERT_TRUE(mongoc_collection_update_one(products.get(), filter.get(), change.get(), opts.get(), nullptr, &error))
        << error.message;
  }
};
INSTANTIATE_ON_STORES(ShopVerifyTest);

TEST_P(ShopVerifyTest, SoldAndLeftAreWhatWasThere) {
  const auto figures = Verify();
  ASSERT_OK(figures);
  EXPECT_EQ(figures->sold, 2);
  EXPECT_EQ(figures->left, 48);
  Tamper(1, 4, 6);  // reserved units are still there
  EXPECT_OK(Verify());
}

TEST_P(ShopVerifyTest, AUnitThatIsMissingOrTooManyIsFound) {
  for (const int64_t qty : {7, 9}) {
    Tamper(0, qty, 0);
    const auto figures = Verify();
    ASSERT_FALSE(figures.ok()) << qty;
    EXPECT_EQ(figures.error().code(), Code::kInternalError);
    EXPECT_NE(figures.error().message().find("stock of 1 products"), std::string_view::npos);
    EXPECT_NE(figures.error().message().find("P00000000 started with 10, sold 2"), std::string_view::npos);
  }
}

TEST_P(ShopVerifyTest, ANegativeStockIsFoundEvenIfTheSumIsRight) {
  Tamper(3, -1, 11);
  EXPECT_FALSE(Verify().ok());
}

using SeedSaleTest = test::StoreTest;
INSTANTIATE_ON_STORES(SeedSaleTest);

// What a sale of the seed's kind does by chance, step by step: the one unit is sold to both.
TEST_P(SeedSaleTest, TwoThatReadTheSameStockBothSell) {
  for (const bool increments : {false, true}) {
    const std::string database = store_.database() + (increments ? "_inc" : "_set");
    ASSERT_OK(SeedSeller::Prepare(store_.clients(), database, 1));
    SeedSeller first(store_.clients(), database, increments);
    SeedSeller second(store_.clients(), database, increments);
    const auto seen_by_first = first.ReadStock();
    const auto seen_by_second = second.ReadStock();
    ASSERT_OK(seen_by_first);
    ASSERT_OK(seen_by_second);
    ASSERT_OK(first.SellUnit(1, *seen_by_first));
    ASSERT_OK(second.SellUnit(2, *seen_by_second));
    EXPECT_EQ(first.CountOrders().value_or(-1), 2);
    EXPECT_EQ(first.ReadStock().value_or(-99), increments ? -1 : 0);
    EXPECT_EQ(first.Buy(3).value_or(true), false);
    ASSERT_OK(DropDatabase(store_.clients(), database));
  }
}

}  // namespace
}  // namespace braid::bench
