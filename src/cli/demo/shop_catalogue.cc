#include "cli/demo/shop_catalogue.h"

#include <algorithm>

namespace braid::cli::demo {
namespace {

constexpr Article kArticles[] = {
    {"beans-house", "House blend, 1 kg", "coffee", "18.90"},
    {"beans-decaf", "Decaf, 500 g", "coffee", "12.40"},
    {"espresso-pot", "Espresso pot", "coffee", "34.00"},
    {"hand-mill", "Hand mill", "coffee", "89.00"},
    {"filters", "Paper filters, 100", "coffee", "4.50"},
    {"earl-grey", "Earl Grey, 250 g", "tea", "9.80"},
    {"sencha", "Sencha, 100 g", "tea", "14.20"},
    {"tea-pot", "Tea pot, cast iron", "tea", "49.00"},
    {"strainer", "Strainer", "tea", "7.90"},
    {"mug-blue", "Mug, blue", "tableware", "11.00"},
    {"mug-white", "Mug, white", "tableware", "11.00"},
    {"plate-large", "Plate, 27 cm", "tableware", "15.50"},
    {"plate-small", "Plate, 19 cm", "tableware", "9.50"},
    {"bowl", "Bowl", "tableware", "12.75"},
    {"carafe", "Carafe, 1 l", "tableware", "27.30"},
    {"desk-lamp", "Desk lamp", "home", "64.00"},
    {"candles", "Candles, 12", "home", "8.20"},
    {"blanket", "Wool blanket", "home", "119.00"},
    {"cushion", "Cushion", "home", "24.90"},
    {"wall-clock", "Wall clock", "home", "39.00"},
};

}  // namespace

std::span<const Article> Articles() { return kArticles; }

Result<shop::Product> NewProduct(const Article& article, std::span<const char* const> zones, int64_t units) {
  BRAID_TRY(const shop::Money price, shop::Money::Parse(article.price));
  shop::Product product{
      .id = article.id, .name = article.name, .category = article.category, .price = price, .currency = "EUR"};
  product.stock_by_geo.reserve(zones.size());
  for (const char* zone : zones) product.stock_by_geo.push_back({.geo_zone = zone, .qty = units});
  product.attrs[kUnits] = units * static_cast<int64_t>(zones.size());
  return product;
}

Status FillCatalogue(shop::Shop& shop) {
  for (const Article& article : kArticles) {
    const Result<shop::Product> known = shop.Card(article.id);
    if (known.ok()) continue;
    if (!shop::RefusalOf(known.error())) return known.error();
    BRAID_TRY(const shop::Product product, NewProduct(article, kZones, kDelivery));
    BRAID_CHECK_OK(shop.PutProduct(product));
  }
  return {};
}

Status Deliver(shop::Shop& shop, const std::string& product_id, const std::string& zone) {
  BRAID_TRY(shop::Product product, shop.Card(product_id));
  // Only the zone that is named gets another stock.
  std::erase_if(product.stock_by_geo, [&](const shop::ZoneStock& stock) { return stock.geo_zone != zone; });
  for (shop::ZoneStock& stock : product.stock_by_geo) stock.qty += kDelivery;
  if (auto* units = std::get_if<int64_t>(&product.attrs[kUnits])) *units += kDelivery;
  return shop.PutProduct(product).status();
}

}  // namespace braid::cli::demo
