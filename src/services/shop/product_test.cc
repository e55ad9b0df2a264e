// Products, their stock, and the catalogue, on every kind of store.
#include <algorithm>

#include "services/shop/testing/fixture.h"

namespace braid::shop::testkit {
namespace {

class ShopProductTest : public ShopTest {
 protected:
  StockRequest Units(int64_t qty) { return {.product_id = "P1", .geo_zone = kZone, .qty = qty}; }
  // Ids of all pages of so many rows.
  std::vector<std::string> Pages(CatalogueQuery query) {
    std::vector<std::string> ids;
    do {
      const auto page = shop_->Catalogue(query);
      EXPECT_OK(page);
      if (!page.ok()) break;
      EXPECT_LE(page->products.size(), static_cast<size_t>(query.limit));
      for (const Product& product : page->products) ids.push_back(product.id);
      query.after = page->next;
    } while (!query.after.empty());
    return ids;
  }
};

TEST_P(ShopProductTest, CardIsWhatWasPut) {
  Product product = Make("P1", "199.90", 25);
  product.attrs = {{"color", "black"}, {"ram", int64_t{8}}, {"weight", 0.5}, {"new", true}};
  ASSERT_OK(shop_->PutProduct(product));
  const auto card = shop_->Card("P1");
  ASSERT_OK(card);
  EXPECT_EQ(card->name, "Name of P1");
  EXPECT_EQ(card->price.ToString(), "199.90");
  EXPECT_EQ(card->attrs, product.attrs);
  EXPECT_EQ(card->stock_by_geo, product.stock_by_geo);
  EXPECT_EQ(card->updated_at, clock_.NowMillis());
}

TEST_P(ShopProductTest, PutAgainKeepsOtherZonesAndReserved) {
  Put("P1", "1", 10);
  ASSERT_OK(shop_->SetStock({.product_id = "P1", .geo_zone = "RU-KGD", .qty = 4}));
  ASSERT_OK(shop_->ReserveStock(Units(3)));
  Put("P1", "2", 20);
  const auto card = shop_->Card("P1");
  ASSERT_OK(card);
  EXPECT_EQ(card->price.ToString(), "2");
  EXPECT_EQ(card->stock_by_geo, (std::vector<ZoneStock>{{kZone, 20, 3}, {"RU-KGD", 4, 0}}));
}

TEST_P(ShopProductTest, BadProductsAreRefused) {
  const auto refused = [&](Refused code, const std::function<void(Product&)>& spoil) {
    Product product = Make("P1", "1", 1);
    spoil(product);
    ExpectRefused(code, [&] { return shop_->PutProduct(product); });
  };
  refused(Refused::kBadRequest, [](Product& product) { product.id = ""; });
  refused(Refused::kBadRequest, [](Product& product) { product.id = std::string(129, 'x'); });
  refused(Refused::kBadRequest, [](Product& product) { product.name = "\xff"; });
  refused(Refused::kBadRequest, [](Product& product) { product.category = ""; });
  refused(Refused::kBadRequest, [](Product& product) { product.currency = "rub"; });
  refused(Refused::kBadRequest, [](Product& product) { product.attrs["$where"] = true; });
  refused(Refused::kBadRequest, [](Product& product) { product.attrs["a.b"] = true; });
  refused(Refused::kBadQuantity, [](Product& product) { product.stock_by_geo[0].qty = -1; });
  refused(Refused::kBadRequest, [](Product& product) { product.stock_by_geo.push_back({kZone, 1, 0}); });
  ExpectRefused(Refused::kUnknownProduct, [&] { return shop_->Card("P1"); });
}

TEST_P(ShopProductTest, StockMovesBetweenQtyAndReserved) {
  Put("P1", "1", 10);
  ASSERT_OK(shop_->ReserveStock(Units(4)));
  EXPECT_EQ(StockOf("P1"), (ZoneStock{kZone, 6, 4}));
  ASSERT_OK(shop_->ReleaseStock(Units(1)));
  EXPECT_EQ(StockOf("P1"), (ZoneStock{kZone, 7, 3}));
  const auto committed = shop_->CommitStock(Units(3));
  ASSERT_OK(committed);
  EXPECT_EQ(*committed->StockIn(kZone), (ZoneStock{kZone, 7, 0}));
  ASSERT_OK(shop_->SetStock(Units(0)));
  EXPECT_EQ(StockOf("P1"), (ZoneStock{kZone, 0, 0}));
}

TEST_P(ShopProductTest, StockNeverGoesBelowZero) {
  Put("P1", "1", 2);
  ExpectRefused(Refused::kOutOfStock, [&] { return shop_->ReserveStock(Units(3)); });
  const auto refusal = RefusalOf(shop_->ReserveStock(Units(3)).status());
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->lines, (std::vector<ShortLine>{{"P1", 3, 2}}));
  ExpectRefused(Refused::kNotReserved, [&] { return shop_->ReleaseStock(Units(1)); });
  ExpectRefused(Refused::kNotReserved, [&] { return shop_->CommitStock(Units(1)); });
  ExpectRefused(Refused::kBadQuantity, [&] { return shop_->ReserveStock(Units(0)); });
  ExpectRefused(Refused::kBadQuantity, [&] { return shop_->SetStock(Units(-1)); });
  ExpectRefused(Refused::kOutOfStock,
                [&] { return shop_->ReserveStock({.product_id = "P1", .geo_zone = "elsewhere", .qty = 1}); });
  ExpectRefused(Refused::kUnknownProduct,
                [&] { return shop_->SetStock({.product_id = "P9", .geo_zone = kZone, .qty = 1}); });
  ExpectRefused(Refused::kUnknownProduct,
                [&] { return shop_->CommitStock({.product_id = "P9", .geo_zone = kZone, .qty = 1}); });
}

TEST_P(ShopProductTest, ConcurrentReservationsShareWhatIsThere) {
  Put("P1", "1", 20);
  std::atomic<int64_t> reserved = 0;
  SideBySide(8, [&](size_t) {
    for (int i = 0; i < 5; ++i) {
      const auto product = shop_->ReserveStock(Units(1));
      if (product.ok()) ++reserved;
      if (!product.ok()) {
        EXPECT_EQ(CodeOf(product), "out_of_stock");
      }
    }
  });
  EXPECT_EQ(reserved.load(), 20);
  EXPECT_EQ(StockOf("P1"), (ZoneStock{kZone, 0, 20}));
}

TEST_P(ShopProductTest, CatalogueIsPagedInOrder) {
  // Many of one price, so that pages end among equals; names go the other way.
  const char* prices[] = {"10", "10.00", "10.0", "9.5", "200", "10", "0"};
  for (int i = 0; i < 7; ++i) {
    Product product = Make(StrCat("P", i), prices[i], 1);
    product.name = StrCat("name ", i < 4 ? 9 - i : 1);
    product.attrs["color"] = i % 2 == 0 ? "black" : "white";
    ASSERT_OK(shop_->PutProduct(product));
  }
  Product other = Make("Q1", "10", 1);
  other.category = "books";
  ASSERT_OK(shop_->PutProduct(other));
  using Ids = std::vector<std::string>;
  for (int64_t limit : {1, 2, 3, 7, 100}) {
    CatalogueQuery query{.category = "phones", .limit = limit};
    EXPECT_EQ(Pages(query), (Ids{"P6", "P3", "P0", "P1", "P2", "P5", "P4"})) << limit;
    query.descending = true;
    EXPECT_EQ(Pages(query), (Ids{"P4", "P5", "P2", "P1", "P0", "P3", "P6"})) << limit;
    query = {.category = "phones", .sort = CatalogueSort::kName, .limit = limit};
    EXPECT_EQ(Pages(query), (Ids{"P4", "P5", "P6", "P3", "P2", "P1", "P0"})) << limit;
    query = {.category = "phones", .price_min = Amount("9.50"), .price_max = Amount("10"), .limit = limit};
    EXPECT_EQ(Pages(query), (Ids{"P3", "P0", "P1", "P2", "P5"})) << limit;
    query.attrs["color"] = "black";
    EXPECT_EQ(Pages(query), (Ids{"P0", "P2"})) << limit;
    query.sort = CatalogueSort::kName;
    query.descending = true;
    EXPECT_EQ(Pages(query), (Ids{"P0", "P2"})) << limit;
  }
  EXPECT_EQ(Pages({.category = "none"}), Ids());
}

TEST_P(ShopProductTest, CatalogueRefusesBadPages) {
  Put("P1", "1", 1);
  Put("P2", "2", 1);
  const auto page = shop_->Catalogue({.category = "phones", .limit = 1});
  ASSERT_OK(page);
  ASSERT_FALSE(page->next.empty());
  const auto code = [&](const CatalogueQuery& query) { return CodeOf(shop_->Catalogue(query)); };
  EXPECT_EQ(code({.category = "phones", .limit = 0}), "bad_request");
  EXPECT_EQ(code({.category = "phones", .limit = kPageMax + 1}), "bad_request");
  EXPECT_EQ(code({.category = "phones", .after = "zz"}), "bad_request");
  EXPECT_EQ(code({.category = "phones", .sort = CatalogueSort::kName, .after = page->next}), "bad_request");
  EXPECT_EQ(code({.category = "phones", .descending = true, .after = page->next}), "bad_request");
  EXPECT_EQ(code({}), "bad_request");
}

INSTANTIATE_ON_STORES(ShopProductTest);

}  // namespace
}  // namespace braid::shop::testkit
