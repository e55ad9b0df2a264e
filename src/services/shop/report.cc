#include "services/shop/report.h"

#include <map>
#include <unordered_map>

#include "base/strings.h"
#include "braid/transaction.h"
#include "client/fields.h"
#include "client/handles.h"
#include "services/shop/collections.h"
#include "services/shop/report_pipelines.h"

namespace braid::shop {
namespace {

using client::Bson;
using client::IntegerOf;
using client::TextOf;

enum class ReportedOrders { kAll, kSold };

void FillIn(std::string& text, std::string_view name, const std::string& value) {
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size())) {
    text.replace(at, name.size(), value);
  }
}

std::string DateBound(const char* comparison, int64_t millis) {
  return StrCat("\"", comparison, "\": {\"$date\": {\"$numberLong\": \"", millis, "\"}}");
}

// With a bound every status is named, so that the index {status, created_at} finds the orders of the period; without
// one all orders are read anyway.
std::string MatchOf(const ReportOptions& options, ReportedOrders which) {
  const bool sold = which == ReportedOrders::kSold;
  if (!options.from_ms && !options.to_ms) return sold ? R"({"status": {"$ne": "canceled"}})" : "{}";
  std::string bounds;
  if (options.from_ms) bounds += DateBound("$gte", *options.from_ms);
  if (options.to_ms) bounds += StrCat(bounds.empty() ? "" : ", ", DateBound("$lt", *options.to_ms));
  return StrCat(R"({"status": {"$in": ["paid", "shipped", "delivered")", sold ? "" : R"(, "canceled")",
                R"(]}, "created_at": {)", bounds, "}}");
}

// The pipeline for the orders of the period, canceled ones among them or not.
std::string FillPipeline(std::string_view pipeline, const ReportOptions& options, ReportedOrders which) {
  std::string text(pipeline);
  FillIn(text, "$MATCH", MatchOf(options, which));
  FillIn(text, "$TOP", StrCat(options.top));
  return text;
}

// kSellersPipeline by `units` or `revenue`.
std::string FillSellersPipeline(const ReportOptions& options, const std::string& by) {
  std::string text = FillPipeline(kSellersPipeline, options, ReportedOrders::kSold);
  FillIn(text, "$BY", by);
  return text;
}

Status Aggregate(Transaction& transaction, const std::string& pipeline, const Transaction::OnDocument& each) {
  BRAID_TRY(const client::BsonPtr stages, client::ParseJson(StrCat("{\"pipeline\": ", pipeline, "}")));
  Bson opts;
  bson_error_t error{};
  if (!mongoc_client_session_append(transaction.session(), opts.get(), &error)) return client::FromError(error);
  const client::CollectionPtr orders = client::CollectionOf(transaction.client(), transaction.database(), kOrders);
  const client::CursorPtr cursor(
      mongoc_collection_aggregate(orders.get(), MONGOC_QUERY_NONE, stages.get(), opts.get(), nullptr));
  const bson_t* document = nullptr;
  while (mongoc_cursor_next(cursor.get(), &document)) BRAID_CHECK_OK(each(Document::View(*document)));
  const bson_t* reply = nullptr;
  if (mongoc_cursor_error_document(cursor.get(), &error, &reply)) return transaction.Failed(*reply, error);
  return {};
}

// Percentiles of values that come in ascending order, each with the number of its orders.
template <typename T>
class SpreadReader {
 public:
  SpreadReader(int64_t orders, Spread<T>& spread) : orders_(orders), spread_(&spread) {}
  void Add(const T& value, int64_t orders) {
    const int64_t before = seen_;
    seen_ += orders;
    const auto holds = [&](int64_t percent) {
      const int64_t rank = (orders_ * percent + 99) / 100;  // nearest rank, from 1
      return before < rank && rank <= seen_;
    };
    if (holds(50)) spread_->p50 = value;
    if (holds(90)) spread_->p90 = value;
    if (holds(99)) spread_->p99 = value;
    spread_->max = value;
  }

 private:
  const int64_t orders_;
  Spread<T>* spread_;
  int64_t seen_ = 0;
};

// The work of one transaction.
class ReportMaker {
 public:
  ReportMaker(Transaction& transaction, const ReportOptions& options) : transaction_(transaction), options_(options) {}

  Result<Report> Make() {
    BRAID_CHECK_OK(ReadMonths());
    BRAID_CHECK_OK(SumCancellations());
    BRAID_CHECK_OK(ReadSellers());
    BRAID_CHECK_OK(NameSellers());
    BRAID_CHECK_OK(ReadBaskets());
    BRAID_CHECK_OK(ReadSpreads());
    return std::move(report_);
  }

 private:
  Status ForEachRow(std::string_view pipeline, ReportedOrders which, const Transaction::OnDocument& each) {
    return Aggregate(transaction_, FillPipeline(pipeline, options_, which), each);
  }

  Status ReadMonths() {
    return ForEachRow(kRevenuePipeline, ReportedOrders::kAll, [&](const bson_t& row) -> Status {
      BRAID_TRY(const Money revenue, Money::FromDocument(&row, "revenue"));
      BRAID_TRY(const Money canceled, Money::FromDocument(&row, "canceled_amount"));
      report_.months.push_back({.month = std::string(TextOf(&row, "_id.month")),
                                .country = std::string(TextOf(&row, "_id.country")),
                                .currency = std::string(TextOf(&row, "_id.currency")),
                                .orders = IntegerOf(&row, "orders"),
                                .revenue = revenue,
                                .canceled_orders = IntegerOf(&row, "canceled_orders"),
                                .canceled_amount = canceled});
      return {};
    });
  }

  Status SumCancellations() {
    std::map<std::string, CancellationRow> by_currency;
    for (const RevenueRow& month : report_.months) {
      CancellationRow& row = by_currency[month.currency];
      row.currency = month.currency;
      row.orders += month.orders + month.canceled_orders;
      row.canceled += month.canceled_orders;
      BRAID_TRY(row.canceled_amount, row.canceled_amount.Plus(month.canceled_amount));
    }
    for (auto& [currency, row] : by_currency) {
      row.rate = static_cast<double>(row.canceled) / static_cast<double>(row.orders);
      report_.cancellations.push_back(std::move(row));
    }
    return {};
  }

  Status ReadSellers() {
    BRAID_CHECK_OK(ReadSellersBy("units", report_.by_units));
    return ReadSellersBy("revenue", report_.by_revenue);
  }

  Status ReadSellersBy(const char* by, std::vector<SellerRow>& rows) {
    return Aggregate(transaction_, FillSellersPipeline(options_, by), [&](const bson_t& row) -> Status {
      BRAID_TRY(const Money revenue, Money::FromDocument(&row, "revenue"));
      rows.push_back({.product_id = std::string(TextOf(&row, "_id.product_id")),
                      .currency = std::string(TextOf(&row, "_id.currency")),
                      .units = IntegerOf(&row, "units"),
                      .revenue = revenue});
      return {};
    });
  }

  Status NameSellers() {
    std::vector<std::string> ids;
    for (const auto* rows : {&report_.by_units, &report_.by_revenue}) {
      for (const SellerRow& row : *rows) ids.push_back(row.product_id);
    }
    std::unordered_map<std::string, std::string> names;
    BRAID_CHECK_OK(transaction_.FindIds(kProducts, ids, [&](const bson_t& product) -> Status {
      names.emplace(TextOf(&product, "_id"), TextOf(&product, "name"));
      return {};
    }));
    for (auto* rows : {&report_.by_units, &report_.by_revenue}) {
      for (SellerRow& row : *rows) row.name = names[row.product_id];
    }
    return {};
  }

  Status ReadBaskets() {
    return ForEachRow(kBasketsPipeline, ReportedOrders::kSold, [&](const bson_t& document) -> Status {
      BasketRow row{.currency = std::string(TextOf(&document, "_id")),
                    .orders = IntegerOf(&document, "orders"),
                    .lines = IntegerOf(&document, "lines"),
                    .units = IntegerOf(&document, "units")};
      BRAID_TRY(row.revenue, Money::FromDocument(&document, "revenue"));
      BRAID_TRY(row.mean_amount, Money::FromDocument(&document, "mean_amount"));
      row.mean_lines = static_cast<double>(row.lines) / static_cast<double>(row.orders);
      report_.baskets.push_back(std::move(row));
      return {};
    });
  }

  Status ReadSpreads() {
    std::unordered_map<std::string_view, SpreadReader<int64_t>> lines;
    std::unordered_map<std::string_view, SpreadReader<Money>> amounts;
    for (BasketRow& row : report_.baskets) {
      lines.try_emplace(row.currency, row.orders, row.lines_spread);
      amounts.try_emplace(row.currency, row.orders, row.amount_spread);
    }
    BRAID_CHECK_OK(ForEachRow(kLinesPipeline, ReportedOrders::kSold, [&](const bson_t& row) -> Status {
      lines.at(TextOf(&row, "_id.currency")).Add(IntegerOf(&row, "_id.value"), IntegerOf(&row, "orders"));
      return {};
    }));
    return ForEachRow(kAmountsPipeline, ReportedOrders::kSold, [&](const bson_t& row) -> Status {
      BRAID_TRY(const Money amount, Money::FromDocument(&row, "_id.value"));
      amounts.at(TextOf(&row, "_id.currency")).Add(amount, IntegerOf(&row, "orders"));
      return {};
    });
  }

  Transaction& transaction_;
  const ReportOptions& options_;
  Report report_;
};

}  // namespace

Result<Report> MakeReport(Clients& clients, const ReportOptions& options) {
  if (options.top < 1 || options.top > 1000)
    return Status(Code::kBadValue, "a list of best sellers has 1 to 1000 rows");
  if (options.from_ms && options.to_ms && *options.from_ms >= *options.to_ms) {
    return Status(Code::kBadValue, "the period ends before it begins");
  }
  Report report;
  BRAID_CHECK_OK(RunTransaction(clients, {.database = options.database}, [&](Transaction& transaction) -> Status {
    BRAID_TRY(report, ReportMaker(transaction, options).Make());
    return {};
  }));
  return report;
}

}  // namespace braid::shop
