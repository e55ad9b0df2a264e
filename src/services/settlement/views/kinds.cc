#include "services/settlement/views/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/assert.h"
#include "base/strings.h"

namespace braid::settlement::views {
namespace {

std::string Text(const bson_t& document, const char* field) { return std::string(client::TextOf(&document, field)); }

int64_t TimeOf(const bson_t& document) {
  bson_iter_t iterator;
  return bson_iter_init_find(&iterator, &document, "at") && BSON_ITER_HOLDS_DATE_TIME(&iterator)
             ? bson_iter_date_time(&iterator)
             : 0;
}

// Prices and quantities keep their spelling: 1.50 is not 1.5. The log has only values that fit, see Decimal.
void AppendDecimal(client::Bson& fields, const char* name, const Decimal& text) {
  bson_decimal128_t value{};
  bson_decimal128_from_string_w_len(text.data(), static_cast<int>(text.size()), &value);
  BSON_APPEND_DECIMAL128(fields.get(), name, &value);
}

// The update with the highest rank stays, in whatever order chains are applied. A source should not give two outputs
// the same sequence; if it does, either may stay, but it must be the same one every time.
auto Rank(int64_t sequence, const OrderUpdate& update) {
  return std::tuple(sequence, update.symbol_id, std::string_view(update.user_id.text), std::string_view(update.status));
}

}  // namespace

void Balances::MakeId(const BalanceEvent& event, std::string& id) {
  id.clear();
  for (const char c : event.user_id.text) c == ':' ? id += "%3A" : c == '%' ? id += "%25" : id += c;
  (id += ':') += event.asset;
}

Status Balances::Fold(const Effect& effect, Row& row) {
  if (row.sequence == 0) {
    row.user = effect.event->user_id.text;
    row.asset = effect.event->asset;
  }
  const auto where = [&] {
    return StrCat("balance of user ", row.user, " in ", row.asset, " after output ", effect.item->sequence,
                  " of symbol ", effect.item->chain);
  };
  if (!row.problem.ok()) return row.problem.CausedBy(where());
  const auto delta = Amount::Parse(effect.event->delta);
  if (!delta.ok()) return delta.error().CausedBy(where());
  row.balance += *delta;
  const Item& item = *effect.item;
  std::tie(row.sequence, row.at_ms) = std::max(std::tuple(row.sequence, row.at_ms), {item.sequence, item.at_ms});
  return {};
}

void Balances::Write(const Row& row, client::Bson& fields) {
  fields.Text("user_id", row.user).Text("asset", row.asset);
  row.balance.AppendTo(fields, "balance");
  fields.Integer("seq", row.sequence).Date("at", row.at_ms);
}

Balances::Row Balances::Read(const bson_t& document) {
  const auto balance = Amount::Read(document, "balance");
  return {.user = Text(document, "user_id"),
          .asset = Text(document, "asset"),
          .balance = balance.value_or(Amount()),
          .problem = balance.status(),
          .sequence = client::IntegerOf(&document, "seq"),
          .at_ms = TimeOf(document)};
}

void Trades::MakeId(const Item& item, size_t index, std::string& id) {
  id.clear();
  fmt::format_to(std::back_inserter(id), "{}:{:019}:{}", item.chain, item.sequence, index);
}

Status Trades::Fold(const Effect& effect, Row& row) {
  row = {.trade = *effect.trade, .sequence = effect.item->sequence, .at_ms = effect.item->at_ms};
  return {};
}

namespace {

void WriteTrade(const Trade& trade, int64_t sequence, int64_t at_ms, client::Bson& fields) {
  fields.Text("trade_id", trade.trade_id.text).Integer("symbol_id", trade.symbol_id).Integer("seq", sequence);
  fields.Date("at", at_ms);
  AppendDecimal(fields, "price", trade.price);
  AppendDecimal(fields, "qty", trade.qty);
  fields.Text("buyer_id", trade.buyer_id.text).Text("seller_id", trade.seller_id.text);
}

}  // namespace

void Trades::Write(const Trade& trade, const Item& item, client::Bson& fields) {
  WriteTrade(trade, item.sequence, item.at_ms, fields);
}

void Trades::Write(const Row& row, client::Bson& fields) { WriteTrade(row.trade, row.sequence, row.at_ms, fields); }

Status Orders::Fold(const Effect& effect, Row& row) {
  BRAID_ASSERT(effect.item->output.order_update.has_value());
  const OrderUpdate& update = *effect.item->output.order_update;
  if (Rank(effect.item->sequence, update) > Rank(row.sequence, row.update)) {
    row = {.update = update, .sequence = effect.item->sequence, .at_ms = effect.item->at_ms};
  }
  return {};
}

void Orders::Write(const Row& row, client::Bson& fields) {
  fields.Text("user_id", row.update.user_id.text)
      .Integer("symbol_id", row.update.symbol_id)
      .Text("status", row.update.status)
      .Integer("seq", row.sequence)
      .Date("at", row.at_ms);
}

Orders::Row Orders::Read(const bson_t& document) {
  return {.update = {.order_id = {Text(document, "_id")},
                     .user_id = {Text(document, "user_id")},
                     .symbol_id = client::IntegerOf(&document, "symbol_id"),
                     .status = Text(document, "status")},
          .sequence = client::IntegerOf(&document, "seq"),
          .at_ms = TimeOf(document)};
}

}  // namespace braid::settlement::views
