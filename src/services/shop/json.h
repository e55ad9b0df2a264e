// The shop as JSON: operations, one object in and one object out (docs/shop.md lists them), results, reports (F4), and
// the shop at a glance. Amounts are strings, times are ISO 8601, field names are those of the documents (B1).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "braid/clients.h"
#include "client/handles.h"
#include "services/shop/report.h"
#include "services/shop/shop.h"

namespace braid::shop {

struct Answer {
  std::string json;      // {"ok": …}, on one line
  Status store_failure;  // not OK if the store failed, rather than that the request was refused
};

/// Runs {"op": "checkout", …}. Any thread.
Answer AnswerRequest(Shop& shop, std::string_view request);

/// The same for callers that report success and failure in their own way: the result as JSON, or the refusal.
Result<std::string> ResultOf(Shop& shop, std::string_view request);

/// An object whose requests must keep their order: a user, a session, a product or an order.
struct Touched {
  std::string key;
  bool shared = false;  // requests that share it may run side by side
};

/// Users and sessions whose requests keep their order, and the product that a request writes or, shared, looks at.
/// Empty if the text is not a request.
std::vector<Touched> TouchedBy(std::string_view request);

void AppendResult(const Product& product, client::Bson& out);
void AppendResult(const CataloguePage& page, client::Bson& out);
void AppendResult(const Cart& cart, client::Bson& out);
/// The cart's fields, `merged`, and `messages` on the lines that were not merged in full.
void AppendResult(const Merge& merge, client::Bson& out);
void AppendResult(const Order& order, client::Bson& out);
void AppendResult(const HistoryPage& page, client::Bson& out);

/// {"ok": true, "result": {…}}
std::string SuccessJson(const client::Bson& result);
/// {"error": {"code": …, "message": …, "lines": […]}}
std::string RefusalJson(const Refusal& refusal);
/// {"ok": false, "error": {"code": …, "message": …, "lines": […]}}; the code of a store's error is "store_error".
std::string FailureJson(const Status& status);

/// The period of a report: the first and the last day as YYYY-MM-DD in UTC; empty: no bound.
struct Period {
  std::string from;
  std::string to;
};
/// kBadValue if one is no day, or the first is after the last; `prefix` goes before the names in the message: "--".
Status ReadPeriod(const Period& period, std::string_view prefix, ReportOptions& options);

void AppendReport(const Report& report, client::Bson& json);

/// The shop at a glance, for operators, not for shoppers. orders: the newest `limit`; stock: per geo zone, `oversold`
/// being the products of which more was sold than there was (none, ever); lowest: where least is left; carts: how many
/// by status. Reads every product and cart.
Status AppendStorefront(Clients& clients, const std::string& database, int64_t limit, client::Bson& json);

}  // namespace braid::shop
