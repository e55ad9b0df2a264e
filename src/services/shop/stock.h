// Stock: units of products per geo zone, taken and given back inside a transaction.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "braid/transaction.h"
#include "services/shop/shop.h"

namespace braid::shop {

/// Units of a product; a list of them names a product once and is sorted by product.
struct Units {
  std::string product_id;
  int64_t qty = 0;
};

/// The units of each product, sums of lines, sorted by product: transactions that want the same products ask for them
/// in the same order, so that they cannot wait for each other in a cycle.
std::vector<Units> UnitsOf(std::span<const OrderLine> lines);

/// OK, or Refused::kOutOfStock with every product of which the zone has less, as the transaction sees it.
Status CheckUnits(Transaction& transaction, const std::string& geo_zone, std::span<const Units> units);

/// Sells units that CheckUnits() found in the same transaction.
Status TakeUnits(Transaction& transaction, const std::string& geo_zone, std::span<const Units> units, int64_t now_ms);

/// Gives them back; a zone that no longer exists is created again. Units of a deleted product are dropped.
Status ReturnUnits(Transaction& transaction, const std::string& geo_zone, std::span<const Units> units, int64_t now_ms);

}  // namespace braid::shop
