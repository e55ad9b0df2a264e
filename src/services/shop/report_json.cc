// A report as JSON, and the period that it is asked for.
#include "services/shop/json.h"

#include <charconv>
#include <chrono>
#include <optional>
#include <vector>

#include "base/strings.h"

namespace braid::shop {
namespace {

using client::Bson;

// Digits only, all of them.
std::optional<int> ReadDigits(std::string_view text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stopped != end || number < 0) return std::nullopt;
  return number;
}

// Milliseconds since 1970 of a day's beginning.
Result<int64_t> ReadDay(std::string_view prefix, std::string_view name, const std::string& text) {
  namespace chrono = std::chrono;
  if (text.size() == 10 && text[4] == '-' && text[7] == '-') {
    const std::string_view view(text);
    const auto year = ReadDigits(view.substr(0, 4));
    const auto month = ReadDigits(view.substr(5, 2));
    const auto day = ReadDigits(view.substr(8));
    if (year && month && day) {
      const chrono::year_month_day date(chrono::year(*year), chrono::month(static_cast<unsigned>(*month)),
                                        chrono::day(static_cast<unsigned>(*day)));
      if (date.ok()) return chrono::milliseconds(chrono::sys_days(date).time_since_epoch()).count();
    }
  }
  return Status(Code::kBadValue, StrCat(prefix, name, " ", text, ": not a day; write it as 2011-03-31"));
}

template <typename Row>
void AppendReportRows(Bson& json, const char* name, const std::vector<Row>& rows, void (*fill)(Bson&, const Row&)) {
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

}  // namespace

Status ReadPeriod(const Period& period, std::string_view prefix, ReportOptions& options) {
  constexpr int64_t kDayMs = 24LL * 3600 * 1000;
  if (!period.from.empty()) {
    BRAID_TRY(options.from_ms, ReadDay(prefix, "from", period.from));
  }
  if (!period.to.empty()) {
    BRAID_TRY(const int64_t last, ReadDay(prefix, "to", period.to));
    options.to_ms = last + kDayMs;
  }
  if (options.from_ms && options.to_ms && *options.from_ms >= *options.to_ms) {
    return Status(Code::kBadValue, StrCat(prefix, "from ", period.from, " is after ", prefix, "to ", period.to));
  }
  return {};
}

void AppendReport(const Report& report, Bson& json) {
  AppendReportRows(json, "months", report.months, FillMonth);
  Bson sellers;
  AppendReportRows(sellers, "by_units", report.by_units, FillSeller);
  AppendReportRows(sellers, "by_revenue", report.by_revenue, FillSeller);
  json.Document("best_sellers", sellers);
  AppendReportRows(json, "baskets", report.baskets, FillBasket);
  AppendReportRows(json, "cancellations", report.cancellations, FillCancellation);
}

}  // namespace braid::shop
