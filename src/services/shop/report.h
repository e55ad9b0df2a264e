// Reports over a period (B3): what was sold when, where and most, how large baskets are, how many orders are canceled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "braid/clients.h"
#include "services/shop/money.h"

namespace braid::shop {

struct ReportOptions {
  std::string database = "shop";
  /// Orders created from here (inclusive) to there (exclusive), in milliseconds since 1970; nothing: no bound.
  std::optional<int64_t> from_ms;
  std::optional<int64_t> to_ms;
  /// Rows of each list of best sellers. Default 10, 1..1000.
  int64_t top = 10;
};

/// Orders of one month and country. Revenue is that of orders that are not canceled.
struct RevenueRow {
  std::string month;  // 2011-03
  std::string country;
  std::string currency;
  int64_t orders = 0;  // not canceled
  Money revenue;
  int64_t canceled_orders = 0;
  Money canceled_amount;
};

struct SellerRow {
  std::string product_id;
  std::string name;  // empty if the product is gone
  std::string currency;
  int64_t units = 0;
  Money revenue;
};

/// How values are spread: p50 is the median. Percentiles are by nearest rank, so each is a value that occurs.
template <typename T>
struct Spread {
  T p50{};
  T p90{};
  T p99{};
  T max{};
};

/// Of all orders of one currency that are not canceled.
struct BasketRow {
  std::string currency;
  int64_t orders = 0;
  int64_t lines = 0;
  int64_t units = 0;
  Money revenue;
  double mean_lines = 0;
  Money mean_amount;  // rounded to the cent
  Spread<int64_t> lines_spread;
  Spread<Money> amount_spread;
};

struct CancellationRow {
  std::string currency;
  int64_t orders = 0;  // canceled ones among them
  int64_t canceled = 0;
  Money canceled_amount;
  double rate = 0;  // canceled of orders
};

struct Report {
  std::vector<RevenueRow> months;              // by month, then by revenue, highest first
  std::vector<SellerRow> by_units;             // highest first
  std::vector<SellerRow> by_revenue;           // highest first
  std::vector<BasketRow> baskets;              // one for each currency
  std::vector<CancellationRow> cancellations;  // one for each currency
};

/// Computed by the store, in pipelines over `orders` that ask every shard. All of it is of one moment: one snapshot.
/// Sums of Decimal128 are exact; amounts of different currencies are never added up.
Result<Report> MakeReport(Clients& clients, const ReportOptions& options);

}  // namespace braid::shop
