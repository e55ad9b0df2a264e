#include "services/settlement/views/look_up.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/strings.h"
#include "client/fields.h"

namespace braid::settlement {
namespace {

using client::Bson;

constexpr ViewColumn kBalanceColumns[] = {
    {"user_id", "user_id"}, {"asset", "asset"}, {"balance", "balance"}, {"seq", "output_seq"}, {"at", "at"}};
constexpr ViewColumn kTradeColumns[] = {
    {"trade_id", "trade_id"}, {"symbol_id", "symbol_id"}, {"seq", "output_seq"},     {"at", "at"}, {"price", "price"},
    {"qty", "qty"},           {"buyer_id", "buyer_id"},   {"seller_id", "seller_id"}};
constexpr ViewColumn kOrderColumns[] = {{"_id", "order_id"},  {"user_id", "user_id"}, {"symbol_id", "symbol_id"},
                                        {"status", "status"}, {"seq", "output_seq"},  {"at", "at"}};

// Where a page ends: "<output_seq>/<_id>".
struct LookUpCursor {
  int64_t sequence = 0;
  std::string id;
};

Result<LookUpCursor> LookUpCursorOf(const std::string& text) {
  const size_t slash = text.find('/');
  LookUpCursor cursor;
  const auto [end, error] = std::from_chars(text.data(), text.data() + std::min(slash, text.size()), cursor.sequence);
  if (slash == std::string::npos || error != std::errc() || end != text.data() + slash) {
    return Status(Code::kBadValue, StrCat("'", text, "' is not what a page before has ended with"));
  }
  cursor.id = text.substr(slash + 1);
  return cursor;
}

void AppendAfter(const LookUp& look_up, const LookUpCursor& cursor, Bson& conditions) {
  Bson later_id;
  later_id.Text("$gt", cursor.id);
  if (!look_up.by_sequence()) {
    Bson by_id;
    conditions.Document("1", by_id.Document("_id", later_id));
    return;
  }
  Bson later;
  later.Integer("$gt", cursor.sequence);
  Bson next;
  next.Document("seq", later);
  Bson same;
  same.Integer("seq", cursor.sequence).Document("_id", later_id);
  Bson either;
  either.Document("0", next).Document("1", same);
  Bson condition;
  conditions.Document("1", condition.Array("$or", either));
}

Status AppendFilter(const LookUp& look_up, Bson& filter) {
  Bson conditions;
  Bson fields;
  if (look_up.symbol) fields.Integer("symbol_id", *look_up.symbol);
  if (look_up.asset) fields.Text("asset", *look_up.asset);
  if (look_up.status) fields.Text("status", *look_up.status);
  if (look_up.user && look_up.view == View::kTrades) {
    Bson buyer;
    buyer.Text("buyer_id", *look_up.user);
    Bson seller;
    seller.Text("seller_id", *look_up.user);
    Bson either;
    fields.Array("$or", either.Document("0", buyer).Document("1", seller));
  } else if (look_up.user) {
    fields.Text("user_id", *look_up.user);
  }
  if (!look_up.after.empty()) {
    BRAID_TRY(const LookUpCursor cursor, LookUpCursorOf(look_up.after));
    AppendAfter(look_up, cursor, conditions);
    if (look_up.by_sequence()) {  // for the index: $or alone would not begin there
      Bson begin;
      fields.Document("seq", begin.Integer("$gte", cursor.sequence));
    }
  }
  Bson range;
  if (look_up.from_ms) range.Date("$gte", *look_up.from_ms);
  if (look_up.to_ms) range.Date("$lt", *look_up.to_ms);
  if (look_up.by_time()) fields.Document("at", range);
  filter.Array("$and", conditions.Document("0", fields));
  return {};
}

Result<ViewProgress> FindView(Clients& clients, const std::string& database, const LookUp& look_up) {
  BRAID_TRY(const std::vector<ViewProgress> views, ReadProgress(clients, database, {}));
  for (const ViewProgress& view : views) {
    if (view.view != look_up.view) continue;
    if (view.has_times || !look_up.by_time()) return view;
    return Status(Code::kOperationFailed, StrCat("the view ", NameOf(look_up.view),
                                                 " was made by an earlier version, whose rows had no times: ",
                                                 "`braid settlement recover --rebuild` rebuilds it"));
  }
  return Status(Code::kNamespaceNotFound, StrCat("there is no view ", NameOf(look_up.view), " in the database ",
                                                 database, ": `braid settlement follow --once` makes it from the log"));
}

// One more than the page has, so that it is known whether there is a next one.
Result<std::vector<client::BsonPtr>> ReadPage(Clients& clients, const std::string& database, const LookUp& look_up) {
  Bson filter;
  BRAID_CHECK_OK(AppendFilter(look_up, filter));
  Bson sort;
  if (look_up.by_sequence()) sort.Integer("seq", 1);
  sort.Integer("_id", 1);
  Bson opts;
  opts.Document("sort", sort).Integer("limit", look_up.limit + 1);
  for (;;) {
    BRAID_TRY(const ViewProgress view, FindView(clients, database, look_up));
    const Client client = clients.Acquire();
    const auto handle = client::CollectionOf(client.get(), database, view.collection);
    const client::CursorPtr cursor(mongoc_collection_find_with_opts(handle.get(), filter.get(), opts.get(), nullptr));
    std::vector<client::BsonPtr> page;
    const bson_t* document = nullptr;
    while (mongoc_cursor_next(cursor.get(), &document)) page.emplace_back(bson_copy(document));
    bson_error_t error{};
    const bool failed = mongoc_cursor_error(cursor.get(), &error);
    // A rebuilt view has replaced it meanwhile: what was read may be incomplete.
    BRAID_TRY(const ViewProgress now, FindView(clients, database, look_up));
    if (now.generation == view.generation && now.moving == view.moving)
      return failed ? Result<std::vector<client::BsonPtr>>(client::FromError(error)) : std::move(page);
  }
}

}  // namespace

std::span<const ViewColumn> ColumnsOf(View view) {
  if (view == View::kBalances) return kBalanceColumns;
  return view == View::kTrades ? std::span<const ViewColumn>(kTradeColumns) : kOrderColumns;
}

Status CheckLookUpCursor(const std::string& after) { return LookUpCursorOf(after).status(); }

Result<LookUpPage> ReadRows(Clients& clients, const std::string& database, const LookUp& look_up) {
  LookUpPage page;
  BRAID_TRY(page.rows, ReadPage(clients, database, look_up));
  if (page.rows.size() <= static_cast<size_t>(look_up.limit)) return page;
  page.rows.pop_back();
  const bson_t* last = page.rows.back().get();
  page.next = StrCat(client::IntegerOf(last, "seq"), "/", client::TextOf(last, "_id"));
  return page;
}

std::string ValueText(const bson_t& document, const char* field) {
  bson_iter_t value;
  if (!bson_iter_init_find(&value, &document, field)) return "";
  bson_decimal128_t decimal;
  if (bson_iter_decimal128(&value, &decimal)) {
    char text[BSON_DECIMAL128_STRING];
    bson_decimal128_to_string(&decimal, text);
    return text;
  }
  if (BSON_ITER_HOLDS_DATE_TIME(&value)) return UtcText(bson_iter_date_time(&value));
  if (BSON_ITER_HOLDS_NUMBER(&value)) return StrCat(bson_iter_as_int64(&value));
  return std::string(client::TextOf(&document, field));
}

void AppendRow(View view, const bson_t& row, Bson& json) {
  for (const ViewColumn& column : ColumnsOf(view)) {
    const std::string_view name = column.field;
    if (name == "seq" || name == "symbol_id") {
      json.Integer(column.name, client::IntegerOf(&row, column.field));
    } else {
      json.Text(column.name, ValueText(row, column.field));
    }
  }
}

void AppendRows(View view, const LookUpPage& page, Bson& json) {
  Bson rows;
  for (size_t i = 0; i < page.rows.size(); ++i) {
    Bson row;
    AppendRow(view, *page.rows[i], row);
    rows.Document(StrCat(i).c_str(), row);
  }
  json.Array(NameOf(view), rows);
  if (!page.next.empty()) json.Text("next", page.next);
}

}  // namespace braid::settlement
