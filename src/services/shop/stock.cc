// Every decrement is one conditional update, {stock_by_geo: {$elemMatch: {geo_zone, qty: {$gte: n}}}}, so that no stock
// goes below zero, whatever runs concurrently.
#include "services/shop/documents.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>

#include "base/assert.h"
#include "base/strings.h"
#include "client/handles.h"
#include "services/shop/checks.h"
#include "services/shop/collections.h"

namespace braid::shop {
namespace {

using client::Bson;

// Updates of products that are sent together; owns their documents.
class StockUpdates {
 public:
  /// A zone of the product that has at least so much of both.
  void Add(const Units& units, const std::string& geo_zone, int64_t qty_by, int64_t reserved_by, int64_t now_ms) {
    Bson zone;
    zone.Text("geo_zone", geo_zone);
    AppendAtLeast(zone, "qty", -qty_by);
    AppendAtLeast(zone, "reserved", -reserved_by);
    Bson element;
    element.Document("$elemMatch", zone);
    Bson& filter = documents_.emplace_back();
    filter.Text("_id", units.product_id).Document("stock_by_geo", element);
    Bson by;
    if (qty_by != 0) by.Integer("stock_by_geo.$.qty", qty_by);
    if (reserved_by != 0) by.Integer("stock_by_geo.$.reserved", reserved_by);
    Bson set;
    set.Date("updated_at", now_ms);
    Bson& change = documents_.emplace_back();
    change.Document("$inc", by).Document("$set", set);
    updates_.push_back({.filter = filter.get(), .change = change.get()});
  }
  /// A zone that the product does not have yet.
  void AddZone(const Units& units, const std::string& geo_zone, int64_t now_ms) {
    Bson other;
    other.Text("$ne", geo_zone);
    Bson& filter = documents_.emplace_back();
    filter.Text("_id", units.product_id).Document("stock_by_geo.geo_zone", other);
    Bson zone;
    zone.Text("geo_zone", geo_zone).Integer("qty", units.qty).Integer("reserved", 0);
    Bson push;
    push.Document("stock_by_geo", zone);
    Bson set;
    set.Date("updated_at", now_ms);
    Bson& change = documents_.emplace_back();
    change.Document("$push", push).Document("$set", set);
    updates_.push_back({.filter = filter.get(), .change = change.get()});
  }
  /// How many products were changed.
  Result<int64_t> Send(Transaction& transaction) {
    BRAID_ASSERT(documents_.size() == 2 * updates_.size());
    BRAID_TRY(const Transaction::Matched matched, transaction.UpdateOnes(kProducts, updates_));
    return matched.matched;
  }

 private:
  static void AppendAtLeast(Bson& zone, const char* field, int64_t least) {
    if (least <= 0) return;
    Bson bound;
    bound.Integer("$gte", least);
    zone.Document(field, bound);
  }

  std::deque<Bson> documents_;
  std::vector<Transaction::Update> updates_;
};

// Sets what can be sold, in a zone that the product has.
Result<int64_t> SetZone(Transaction& transaction, const StockRequest& request, int64_t now_ms) {
  Bson filter;
  filter.Text("_id", request.product_id).Text("stock_by_geo.geo_zone", request.geo_zone);
  Bson set;
  set.Integer("stock_by_geo.$.qty", request.qty).Date("updated_at", now_ms);
  Bson change;
  change.Document("$set", set);
  const Transaction::Update update{.filter = filter.get(), .change = change.get()};
  BRAID_TRY(const Transaction::Matched matched, transaction.UpdateOnes(kProducts, {&update, 1}));
  return matched.matched;
}

// Each product once, in the order in which all transactions ask for them.
bool IsInOrder(std::span<const Units> units) {
  return std::ranges::adjacent_find(units, std::greater_equal<>(), &Units::product_id) == units.end();
}

Status CheckStockRequest(const StockRequest& request) {
  BRAID_CHECK_OK(CheckId("product_id", request.product_id));
  return CheckId("geo_zone", request.geo_zone);
}

}  // namespace

std::vector<Units> UnitsOf(std::span<const OrderLine> lines) {
  std::map<std::string, int64_t> sums;
  for (const OrderLine& line : lines) sums[line.product_id] += line.qty;
  std::vector<Units> units;
  units.reserve(sums.size());
  for (const auto& [product_id, qty] : sums) units.push_back({.product_id = product_id, .qty = qty});
  return units;
}

Status CheckUnits(Transaction& transaction, const std::string& geo_zone, std::span<const Units> units) {
  BRAID_ASSERT(IsInOrder(units));
  std::vector<std::string> ids;
  ids.reserve(units.size());
  for (const Units& one : units) ids.push_back(one.product_id);
  Reads reads(transaction);
  BRAID_TRY(const auto products, FindProducts(reads, ids));
  Refusal refusal{.code = Refused::kOutOfStock, .message = StrCat("not enough in ", geo_zone, ":")};
  for (const Units& one : units) {
    const auto product = products.find(one.product_id);
    const ZoneStock* stock = product == products.end() ? nullptr : product->second.StockIn(geo_zone);
    const int64_t available = stock == nullptr ? 0 : stock->qty;
    if (available >= one.qty) continue;
    refusal.message += StrCat(refusal.lines.empty() ? " " : ", ", one.product_id, " (", one.qty, " wanted, ", available,
                              " available)");
    refusal.lines.push_back({.product_id = one.product_id, .wanted = one.qty, .available = available});
  }
  return refusal.lines.empty() ? Status() : Refuse(refusal);
}

Status TakeUnits(Transaction& transaction, const std::string& geo_zone, std::span<const Units> units, int64_t now_ms) {
  BRAID_ASSERT(IsInOrder(units));
  StockUpdates updates;
  for (const Units& one : units) updates.Add(one, geo_zone, -one.qty, 0, now_ms);
  BRAID_TRY(const int64_t taken, updates.Send(transaction));
  if (taken == static_cast<int64_t>(units.size())) return {};
  return Status(Code::kInternalError, StrCat("stock of ", geo_zone, " changed inside a snapshot"));
}

Status ReturnUnits(Transaction& transaction, const std::string& geo_zone, std::span<const Units> units,
                   int64_t now_ms) {
  BRAID_ASSERT(IsInOrder(units));
  StockUpdates updates;
  for (const Units& one : units) updates.Add(one, geo_zone, one.qty, 0, now_ms);
  BRAID_TRY(const int64_t returned, updates.Send(transaction));
  if (returned == static_cast<int64_t>(units.size())) return {};
  StockUpdates zones;
  for (const Units& one : units) zones.AddZone(one, geo_zone, now_ms);
  return zones.Send(transaction).status();
}

Result<Product> Shop::SetStock(const StockRequest& request) {
  BRAID_CHECK_OK(CheckStockRequest(request));
  if (request.qty < 0 || request.qty > kStockMax) {
    return Refuse(Refused::kBadQuantity, StrCat("qty is ", request.qty, "; a stock has 0 to ", kStockMax));
  }
  Product product;
  BRAID_CHECK_OK(Change([&](Transaction& transaction) -> Status {
    const int64_t now = NowMillis();
    BRAID_TRY(int64_t changed, SetZone(transaction, request, now));
    if (changed == 0) {
      StockUpdates zone;
      zone.AddZone({.product_id = request.product_id, .qty = request.qty}, request.geo_zone, now);
      BRAID_CHECK_OK(zone.Send(transaction));
    }
    Reads reads(transaction);
    BRAID_TRY(product, FindProduct(reads, request.product_id));
    return {};
  }));
  return product;
}

Result<Product> Shop::MoveStock(const StockRequest& request, int64_t qty_by, int64_t reserved_by) {
  BRAID_CHECK_OK(CheckStockRequest(request));
  BRAID_CHECK_OK(CheckQuantity(request.qty, kStockMax));
  Product product;
  BRAID_CHECK_OK(Change([&](Transaction& transaction) -> Status {
    StockUpdates updates;
    updates.Add({.product_id = request.product_id}, request.geo_zone, qty_by, reserved_by, NowMillis());
    BRAID_TRY(const int64_t changed, updates.Send(transaction));
    Reads reads(transaction);
    BRAID_TRY(product, FindProduct(reads, request.product_id));
    if (changed == 1) return {};
    const ZoneStock* stock = product.StockIn(request.geo_zone);
    const bool reserving = qty_by < 0;
    const int64_t available = stock == nullptr ? 0 : reserving ? stock->qty : stock->reserved;
    return Refuse({.code = reserving ? Refused::kOutOfStock : Refused::kNotReserved,
                   .message = StrCat(request.qty, " of ", request.product_id, " wanted in ", request.geo_zone, ", ",
                                     available, reserving ? " available" : " reserved"),
                   .lines = {{request.product_id, request.qty, available}}});
  }));
  return product;
}

Result<Product> Shop::ReserveStock(const StockRequest& request) {
  return MoveStock(request, -request.qty, request.qty);
}
Result<Product> Shop::ReleaseStock(const StockRequest& request) {
  return MoveStock(request, request.qty, -request.qty);
}
Result<Product> Shop::CommitStock(const StockRequest& request) { return MoveStock(request, 0, -request.qty); }

}  // namespace braid::shop
