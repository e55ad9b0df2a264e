// braid shop report: what was sold over a period, as tables or JSON.
#include "services/shop/report.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/strings.h"
#include "cli/shop/actions.h"
#include "cli/store_option.h"
#include "cli/transfer/date_layout.h"
#include "client/handles.h"

namespace braid::cli::shop {
namespace {

using braid::shop::BasketRow;
using braid::shop::CancellationRow;
using braid::shop::MakeReport;
using braid::shop::Money;
using braid::shop::Report;
using braid::shop::RevenueRow;
using braid::shop::SellerRow;
using braid::shop::Spread;
using client::Bson;

struct ReportArgs {
  std::string store = "./data";
  braid::shop::ReportOptions options;
  std::string from;
  std::string to;
  bool json = false;
};

void AddReportOptions(CLI::App& app, ReportArgs& args) {
  AddStoreOption(app, args.store);
  app.add_option("-d,--db", args.options.database, "Database.")->type_name("NAME")->capture_default_str();
  app.add_option("--from", args.from, "The first day, as YYYY-MM-DD in UTC; all by default.")->type_name("DAY");
  app.add_option("--to", args.to, "The last day.")->type_name("DAY");
  app.add_option("--top", args.options.top, "Rows of each list of best sellers.")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--json", args.json, "One JSON object on standard output.");
}

Result<int64_t> ReadDay(const char* option, const std::string& text) {
  static const transfer::DateLayout layout =
      *transfer::DateLayout::Parse("yyyy-MM-dd", transfer::DateLayout::Notation::kMs);
  const std::optional<int64_t> day = layout.Read(text);
  if (!day) return Status(Code::kBadValue, StrCat(option, " ", text, ": not a day; write it as 2011-03-31"));
  return *day;
}

Status ReadPeriod(ReportArgs& args) {
  constexpr int64_t kDayMs = 24LL * 3600 * 1000;
  if (!args.from.empty()) {
    BRAID_TRY(args.options.from_ms, ReadDay("--from", args.from));
  }
  if (!args.to.empty()) {
    BRAID_TRY(const int64_t last, ReadDay("--to", args.to));
    args.options.to_ms = last + kDayMs;
  }
  if (!args.from.empty() && !args.to.empty() && *args.options.from_ms >= *args.options.to_ms) {
    return Status(Code::kBadValue, StrCat("--from ", args.from, " is after --to ", args.to));
  }
  return {};
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

template <typename Row>
void AppendRows(Bson& json, const char* name, const std::vector<Row>& rows, void (*fill)(Bson&, const Row&)) {
  Bson list;
  for (size_t i = 0; i < rows.size(); ++i) {
    Bson row;
    fill(row, rows[i]);
    list.Document(StrCat(i).c_str(), row);
  }
  json.Array(name, list);
}

void FillMonth(Bson& json, const RevenueRow& row) {
  json.Text("month", row.month)
      .Text("country", row.country)
      .Text("currency", row.currency)
      .Integer("orders", row.orders)
      .Text("revenue", row.revenue.ToString())
      .Integer("canceled_orders", row.canceled_orders)
      .Text("canceled_amount", row.canceled_amount.ToString());
}

void FillSeller(Bson& json, const SellerRow& row) {
  json.Text("product_id", row.product_id)
      .Text("name", row.name)
      .Text("currency", row.currency)
      .Integer("units", row.units)
      .Text("revenue", row.revenue.ToString());
}

void FillBasket(Bson& json, const BasketRow& row) {
  Bson lines;
  lines.Double("mean", row.mean_lines)
      .Integer("median", row.lines_spread.p50)
      .Integer("p90", row.lines_spread.p90)
      .Integer("p99", row.lines_spread.p99)
      .Integer("max", row.lines_spread.max);
  Bson amount;
  amount.Text("mean", row.mean_amount.ToString())
      .Text("median", row.amount_spread.p50.ToString())
      .Text("p90", row.amount_spread.p90.ToString())
      .Text("p99", row.amount_spread.p99.ToString())
      .Text("max", row.amount_spread.max.ToString());
  json.Text("currency", row.currency)
      .Integer("orders", row.orders)
      .Integer("lines", row.lines)
      .Integer("units", row.units)
      .Text("revenue", row.revenue.ToString())
      .Document("lines_per_order", lines)
      .Document("amount_per_order", amount);
}

void FillCancellation(Bson& json, const CancellationRow& row) {
  json.Text("currency", row.currency)
      .Integer("orders", row.orders)
      .Integer("canceled", row.canceled)
      .Text("canceled_amount", row.canceled_amount.ToString())
      .Double("rate", row.rate);
}

Status RunReport(ReportArgs& args) {
  BRAID_CHECK_OK(ReadPeriod(args));
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(args.store));
  BRAID_TRY(const Report report, MakeReport(*clients, args.options));
  if (args.json) {
    Bson json;
    AppendRows(json, "months", report.months, FillMonth);
    Bson sellers;
    AppendRows(sellers, "by_units", report.by_units, FillSeller);
    AppendRows(sellers, "by_revenue", report.by_revenue, FillSeller);
    json.Document("best_sellers", sellers);
    AppendRows(json, "baskets", report.baskets, FillBasket);
    AppendRows(json, "cancellations", report.cancellations, FillCancellation);
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
