// Look-ups in the views, in pages (C8): balances, trades and orders.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/handles.h"
#include "services/settlement/views/views.h"

namespace braid::settlement {

/// A field of a view's documents and the name it is shown under.
struct ViewColumn {
  const char* field;
  const char* name;
};
std::span<const ViewColumn> ColumnsOf(View view);

/// The filter of rows; empty fields match everything. `asset` is for balances, `status` for orders.
struct LookUp {
  View view = View::kBalances;
  std::optional<std::string> user;  // for trades: the buyer or the seller
  std::optional<std::string> asset;
  std::optional<std::string> status;
  std::optional<int64_t> symbol;
  std::optional<int64_t> from_ms;  // when the log stored it, inclusive
  std::optional<int64_t> to_ms;    // exclusive
  int64_t limit = 100;
  std::string after;  // `next` of the page before; empty: the first page

  bool by_time() const { return from_ms || to_ms; }
  /// An index gives them in the order of outputs; else they come in that of their _id.
  bool by_sequence() const { return view == View::kTrades ? symbol.has_value() : view == View::kOrders && user; }
};

struct LookUpPage {
  std::vector<client::BsonPtr> rows;  // as they are stored
  std::string next;                   // empty: the last page
};

/// kBadValue if `after` is not the `next` of a page.
Status CheckLookUpCursor(const std::string& after);

/// kNamespaceNotFound if there is no such view yet.
Result<LookUpPage> ReadRows(Clients& clients, const std::string& database, const LookUp& look_up);

/// A value as text: a Decimal128 with all of its digits, a time as 2024-05-01T12:00:00.000Z.
std::string ValueText(const bson_t& document, const char* field);

/// One row with the names of the columns.
void AppendRow(View view, const bson_t& row, client::Bson& json);
/// The rows by the view's name, and next if there is a next page.
void AppendRows(View view, const LookUpPage& page, client::Bson& json);

}  // namespace braid::settlement
