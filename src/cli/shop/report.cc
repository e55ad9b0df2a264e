// braid shop report: what was sold over a period, as tables or JSON.
#include "services/shop/report.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/common_options.h"
#include "cli/shop/actions.h"
#include "client/handles.h"
#include "services/shop/json.h"

namespace braid::cli::shop {
namespace {

using braid::shop::BasketRow;
using braid::shop::CancellationRow;
using braid::shop::MakeReport;
using braid::shop::Money;
using braid::shop::Report;
using braid::shop::RevenueRow;
using braid::shop::SellerRow;
using client::Bson;

struct ReportArgs {
  std::string store = "./data";
  braid::shop::ReportOptions options;
  braid::shop::Period period;
  bool json = false;
};

void AddReportOptions(CLI::App& app, ReportArgs& args) {
  AddStoreOption(app, args.store);
  app.add_option("-d,--db", args.options.database, "Database.")->type_name("NAME")->capture_default_str();
  app.add_option("--from", args.period.from, "The first day, as YYYY-MM-DD in UTC; all by default.")->type_name("DAY");
  app.add_option("--to", args.period.to, "The last day.")->type_name("DAY");
  app.add_option("--top", args.options.top, "Rows of each list of best sellers.")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--json", args.json, "One JSON object on standard output.");
}

// Tables are read by people: at least two digits behind the point.
std::string Amount(const Money& money) {
  std::string text = money.ToString();
  const size_t point = text.find('.');
  const size_t decimals = point == std::string::npos ? 0 : text.size() - point - 1;
  if (point == std::string::npos) text += '.';
  if (decimals < 2) text.append(2 - decimals, '0');
  return text;
}

void PrintMonths(const Report& report) {
  fmt::print("Revenue by month and country\n{:<7}  {:<22}  {:<3}  {:>8}  {:>16}  {:>8}  {:>16}\n", "month", "country",
             "", "orders", "revenue", "canceled", "amount");
  for (const RevenueRow& row : report.months) {
    fmt::print("{:<7}  {:<22}  {:<3}  {:>8}  {:>16}  {:>8}  {:>16}\n", row.month, row.country, row.currency, row.orders,
               Amount(row.revenue), row.canceled_orders, Amount(row.canceled_amount));
  }
}

void PrintSellers(const char* title, const std::vector<SellerRow>& rows) {
  fmt::print("\n{}\n{:<14}  {:<36}  {:<3}  {:>10}  {:>16}\n", title, "product", "name", "", "units", "revenue");
  for (const SellerRow& row : rows) {
    fmt::print("{:<14}  {:<36}  {:<3}  {:>10}  {:>16}\n", row.product_id, row.name, row.currency, row.units,
               Amount(row.revenue));
  }
}

void PrintBaskets(const Report& report) {
  fmt::print("\nBaskets (orders that are not canceled)\n{:<3}  {:<7}  {:>10}  {:>12}  {:>12}  {:>12}  {:>12}\n", "", "",
             "mean", "median", "p90", "p99", "max");
  for (const BasketRow& row : report.baskets) {
    fmt::print("{:<3}  {:<7}  {:>10.2f}  {:>12}  {:>12}  {:>12}  {:>12}\n", row.currency, "lines", row.mean_lines,
               row.lines_spread.p50, row.lines_spread.p90, row.lines_spread.p99, row.lines_spread.max);
    fmt::print("{:<3}  {:<7}  {:>10}  {:>12}  {:>12}  {:>12}  {:>12}\n", row.currency, "amount",
               Amount(row.mean_amount), Amount(row.amount_spread.p50), Amount(row.amount_spread.p90),
               Amount(row.amount_spread.p99), Amount(row.amount_spread.max));
    fmt::print("{:<3}  {} orders, {} lines, {} units, {} in all\n", row.currency, row.orders, row.lines, row.units,
               Amount(row.revenue));
  }
  fmt::print("\nCancellations\n");
  for (const CancellationRow& row : report.cancellations) {
    fmt::print("{:<3}  {} of {} orders ({:.2f} %), {} in all\n", row.currency, row.canceled, row.orders, row.rate * 100,
               Amount(row.canceled_amount));
  }
}

Status RunReport(ReportArgs& args) {
  BRAID_CHECK_OK(braid::shop::ReadPeriod(args.period, "--", args.options));
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStoreFor(args.store, StoreUse::kRead));
  BRAID_TRY(const Report report, MakeReport(*clients, args.options));
  if (args.json) {
    Bson json;
    AppendReport(report, json);
    client::PrintJson(json);
    return {};
  }
  if (report.months.empty()) {
    std::printf("no orders in this period\n");
    return {};
  }
  PrintMonths(report);
  PrintSellers("Best sellers by units", report.by_units);
  PrintSellers("Best sellers by revenue", report.by_revenue);
  PrintBaskets(report);
  return {};
}

}  // namespace

Action SetUpReport(CLI::App& app) {
  const auto args = std::make_shared<ReportArgs>();
  AddReportOptions(app, *args);
  return [args] { return RunReport(*args); };
}

}  // namespace braid::cli::shop
