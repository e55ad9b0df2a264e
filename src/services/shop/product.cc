// Products: as documents, putting them, and the product card.
#include "services/shop/documents.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/strings.h"
#include "client/fields.h"
#include "services/shop/checks.h"
#include "services/shop/collections.h"

namespace braid::shop {
namespace {

using client::Bson;

constexpr size_t kNameBytesMax = 512;
constexpr size_t kAttrsMax = 100;
constexpr size_t kAttrNameBytesMax = 64;
constexpr size_t kAttrBytesMax = 1024;
constexpr size_t kZonesMax = 1000;

Status CheckStocks(const std::vector<ZoneStock>& stocks) {
  if (stocks.size() > kZonesMax) {
    return Refuse(Refused::kBadRequest, StrCat("stock_by_geo has more than ", kZonesMax, " zones"));
  }
  std::set<std::string_view> zones;
  for (const ZoneStock& stock : stocks) {
    BRAID_CHECK_OK(CheckId("geo_zone", stock.geo_zone));
    if (!zones.insert(stock.geo_zone).second) {
      return Refuse(Refused::kBadRequest, StrCat("geo_zone ", stock.geo_zone, " is there twice"));
    }
    if (stock.qty < 0 || stock.qty > kStockMax) {
      return Refuse(Refused::kBadQuantity, StrCat("qty is ", stock.qty, "; a stock has 0 to ", kStockMax));
    }
  }
  return {};
}

Status CheckProduct(const Product& product) {
  BRAID_CHECK_OK(CheckId("_id", product.id));
  if (product.name.empty()) return Refuse(Refused::kBadRequest, "name is missing");
  BRAID_CHECK_OK(CheckText("name", product.name, kNameBytesMax));
  BRAID_CHECK_OK(CheckId("category", product.category));
  if (product.price < Money()) return Refuse(Refused::kBadPrice, "price is below zero");
  BRAID_CHECK_OK(CheckCurrency(product.currency));
  BRAID_CHECK_OK(CheckStocks(product.stock_by_geo));
  return CheckAttrs(product.attrs);
}

// Zones that are named get their quantity; the others stay unchanged.
std::vector<ZoneStock> MergedStocks(std::vector<ZoneStock> stocks, const std::vector<ZoneStock>& named) {
  for (const ZoneStock& one : named) {
    const auto found = std::find_if(stocks.begin(), stocks.end(),
                                    [&](const ZoneStock& stock) { return stock.geo_zone == one.geo_zone; });
    if (found == stocks.end()) {
      stocks.push_back({.geo_zone = one.geo_zone, .qty = one.qty});
    } else {
      found->qty = one.qty;
    }
  }
  return stocks;
}

void AppendProduct(const Product& product, Bson& fields) {
  fields.Text("name", product.name).Text("category", product.category);
  BSON_APPEND_DECIMAL128(fields.get(), "price", &product.price.value());
  fields.Text("currency", product.currency);
  Bson stocks;
  for (size_t i = 0; i < product.stock_by_geo.size(); ++i) {
    const ZoneStock& stock = product.stock_by_geo[i];
    Bson zone;
    zone.Text("geo_zone", stock.geo_zone).Integer("qty", stock.qty).Integer("reserved", stock.reserved);
    stocks.Document(StrCat(i).c_str(), zone);
  }
  Bson attrs;
  for (const auto& [name, value] : product.attrs) AppendAttr(attrs, name.c_str(), value);
  fields.Array("stock_by_geo", stocks).Document("attrs", attrs).Date("updated_at", product.updated_at);
}

std::vector<ZoneStock> StocksOf(const bson_t& document) {
  std::vector<ZoneStock> stocks;
  ForEachElement(document, "stock_by_geo", [&](const bson_t& stock) {
    stocks.push_back({.geo_zone = std::string(client::TextOf(&stock, "geo_zone")),
                      .qty = client::IntegerOf(&stock, "qty"),
                      .reserved = client::IntegerOf(&stock, "reserved")});
    return Status();
  }).Ignore("no stock is refused");
  return stocks;
}

// Values of other types, which the shop never writes, are left out.
Attrs AttrsOf(const bson_t& document) {
  Attrs attrs;
  bson_iter_t field;
  bson_iter_t attr;
  if (!bson_iter_init_find(&field, &document, "attrs") || !BSON_ITER_HOLDS_DOCUMENT(&field)) return attrs;
  if (!bson_iter_recurse(&field, &attr)) return attrs;
  while (bson_iter_next(&attr)) {
    const char* name = bson_iter_key(&attr);
    if (BSON_ITER_HOLDS_UTF8(&attr)) {
      uint32_t length = 0;
      const char* text = bson_iter_utf8(&attr, &length);
      attrs[name] = std::string(text, length);
    } else if (BSON_ITER_HOLDS_INT(&attr)) {
      attrs[name] = bson_iter_as_int64(&attr);
    } else if (BSON_ITER_HOLDS_DOUBLE(&attr)) {
      attrs[name] = bson_iter_double(&attr);
    } else if (BSON_ITER_HOLDS_BOOL(&attr)) {
      attrs[name] = bson_iter_bool(&attr);
    }
  }
  return attrs;
}

}  // namespace

Status CheckAttrs(const Attrs& attrs) {
  if (attrs.size() > kAttrsMax) {
    return Refuse(Refused::kBadRequest, StrCat("there are more than ", kAttrsMax, " attributes"));
  }
  for (const auto& [name, value] : attrs) {
    BRAID_CHECK_OK(CheckText("an attribute's name", name, kAttrNameBytesMax));
    if (name.empty() || name.starts_with('$') || name.find('.') != std::string::npos) {
      return Refuse(Refused::kBadRequest, StrCat("an attribute may not be called '", name, "'"));
    }
    if (const auto* text = std::get_if<std::string>(&value)) BRAID_CHECK_OK(CheckText(name, *text, kAttrBytesMax));
    if (const auto* number = std::get_if<double>(&value); number != nullptr && !std::isfinite(*number)) {
      return Refuse(Refused::kBadRequest, StrCat("the attribute ", name, " is not a finite number"));
    }
  }
  return {};
}

void AppendAttr(Bson& document, const char* key, const AttrValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) document.Text(key, *text);
  if (const auto* integer = std::get_if<int64_t>(&value)) document.Integer(key, *integer);
  if (const auto* number = std::get_if<double>(&value)) document.Double(key, *number);
  if (const auto* flag = std::get_if<bool>(&value)) document.Bool(key, *flag);
}

Result<Product> ProductOf(const bson_t& document) {
  Product product;
  product.id = client::TextOf(&document, "_id");
  product.name = client::TextOf(&document, "name");
  product.category = client::TextOf(&document, "category");
  BRAID_TRY(product.price, Money::FromDocument(&document, "price"));
  product.currency = client::TextOf(&document, "currency");
  product.stock_by_geo = StocksOf(document);
  product.attrs = AttrsOf(document);
  product.updated_at = client::DateOf(&document, "updated_at").value_or(0);
  return product;
}

Result<Product> FindProduct(Reads& reads, const std::string& product_id) {
  Bson filter;
  filter.Text("_id", product_id);
  BRAID_TRY(const client::BsonPtr document, reads.FindOne(kProducts, filter.get()));
  if (document == nullptr) return Refuse(Refused::kUnknownProduct, StrCat("there is no product ", product_id));
  return ProductOf(*document);
}

Result<std::map<std::string, Product>> FindProducts(Reads& reads, std::span<const std::string> ids) {
  Bson among;
  among.Texts("$in", ids);
  Bson filter;
  filter.Document("_id", among);
  std::map<std::string, Product> products;
  BRAID_CHECK_OK(reads.Find(kProducts, filter.get(), {}, [&](const bson_t& document) -> Status {
    BRAID_TRY(Product product, ProductOf(document));
    std::string id = product.id;
    products.emplace(std::move(id), std::move(product));
    return {};
  }));
  return products;
}

Result<Product> Shop::PutProduct(const Product& product) {
  BRAID_CHECK_OK(CheckProduct(product));
  Product put;
  BRAID_CHECK_OK(Change([&](Transaction& transaction) -> Status {
    put = product;
    put.updated_at = NowMillis();
    Bson filter;
    filter.Text("_id", product.id);
    BRAID_TRY(const client::BsonPtr before, Reads(transaction).FindOne(kProducts, filter.get()));
    put.stock_by_geo = MergedStocks(before ? StocksOf(*before) : std::vector<ZoneStock>(), product.stock_by_geo);
    if (put.stock_by_geo.size() > kZonesMax) {
      return Refuse(Refused::kBadRequest, StrCat("the product has more than ", kZonesMax, " zones"));
    }
    Bson fields;
    AppendProduct(put, fields);
    Bson change;
    change.Document("$set", fields);
    const Transaction::Update update{.filter = filter.get(), .change = change.get(), .upsert = true};
    return transaction.UpdateOnes(kProducts, {&update, 1}).status();
  }));
  return put;
}

Result<Product> Shop::Card(const std::string& product_id) {
  BRAID_CHECK_OK(CheckId("product_id", product_id));
  const Client client = clients_.Acquire();
  Reads reads(client, options_.database);
  return FindProduct(reads, product_id);
}

}  // namespace braid::shop
