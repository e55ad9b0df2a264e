// The products and zones of the demo's shop.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "services/shop/shop.h"

namespace braid::cli::demo {

/// Where stock is kept.
constexpr std::array<const char*, 3> kZones = {"DE-BER", "FR-PAR", "NL-AMS"};
/// Units of a product that a zone has at first, and that are delivered to it when it is sold out.
constexpr int64_t kDelivery = 500;
/// The attribute of a product that counts all units ever delivered. So sold units and those in stock can be checked at
/// any moment: together they are as many.
constexpr const char* kUnits = "units";

struct Article {
  const char* id;
  const char* name;
  const char* category;
  const char* price;
};
std::span<const Article> Articles();

/// A product with `units` in each of these zones.
Result<shop::Product> NewProduct(const Article& article, std::span<const char* const> zones, int64_t units);

/// Creates the products that the shop does not have yet. Nothing else is changed.
Status FillCatalogue(shop::Shop& shop);

/// Brings kDelivery units to a zone. For one caller at a time.
Status Deliver(shop::Shop& shop, const std::string& product_id, const std::string& zone);

}  // namespace braid::cli::demo
