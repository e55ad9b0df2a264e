#include "services/settlement/views/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/strings.h"
#include "services/settlement/views/exact.h"

namespace braid::settlement::views {
namespace {

std::string Text(const bson_t& document, const char* field) { return std::string(client::TextOf(&document, field)); }

bson_decimal128_t DecimalOf(const bson_t& document, const char* field) {
  bson_iter_t iterator;
  bson_decimal128_t value = Zero();
  if (bson_iter_init_find(&iterator, &document, field)) bson_iter_decimal128(&iterator, &value);
  return value;
}

// Prices and quantities as they were given: 1.50 is not 1.5. The log has no others, see Decimal.
void AppendDecimal(client::Bson& fields, const char* name, const Decimal& text) {
  bson_decimal128_t value = Zero();
  bson_decimal128_from_string_w_len(text.data(), static_cast<int>(text.size()), &value);
  BSON_APPEND_DECIMAL128(fields.get(), name, &value);
}

// The update with the highest rank stays, in whatever order chains are applied. A source should not give two outputs
// one sequence; of two that have it, which one stays does not matter, but it must be the same one every time.
auto Rank(int64_t sequence, const OrderUpdate& update) {
  return std::tuple(sequence, update.symbol_id, std::string_view(update.user_id.text), std::string_view(update.status));
}

}  // namespace

std::string Balances::IdOf(const BalanceEvent& event) {
  std::string id;
  id.reserve(event.user_id.text.size() + 1 + event.asset.size());
  for (const char c : event.user_id.text) c == ':' ? id += "%3A" : c == '%' ? id += "%25" : id += c;
  (id += ':') += event.asset;
  return id;
}

Status Balances::Fold(const Effect& effect, Row& row) {
  if (row.sequence == 0) {
    row.user = effect.event->user_id.text;
    row.asset = effect.event->asset;
    row.balance = Zero();
  }
  const auto where = [&] {
    return StrCat("balance of user ", row.user, " in ", row.asset, " after output ", effect.item->sequence,
                  " of symbol ", effect.item->chain);
  };
  const auto delta = ParseExactly(effect.event->delta);
  if (!delta.ok()) return delta.error().CausedBy(where());
  const auto sum = AddExactly(row.balance, *delta);
  if (!sum.ok()) return sum.error().CausedBy(where());
  row.balance = *sum;
  row.sequence = std::max(row.sequence, effect.item->sequence);
  return {};
}

void Balances::Write(const Row& row, client::Bson& fields) {
  fields.Text("user_id", row.user).Text("asset", row.asset);
  BSON_APPEND_DECIMAL128(fields.get(), "balance", &row.balance);
  fields.Integer("seq", row.sequence);
}

Balances::Row Balances::Read(const bson_t& document) {
  return {.user = Text(document, "user_id"),
          .asset = Text(document, "asset"),
          .balance = DecimalOf(document, "balance"),
          .sequence = client::IntegerOf(&document, "seq")};
}

std::string Trades::IdOf(const Item& item, size_t index) {
  return fmt::format("{}:{:019}:{}", item.chain, item.sequence, index);
}

Status Trades::Fold(const Effect& effect, Row& row) {
  row = {.trade = *effect.trade, .sequence = effect.item->sequence};
  return {};
}

void Trades::Write(const Row& row, client::Bson& fields) {
  fields.Text("trade_id", row.trade.trade_id.text)
      .Integer("symbol_id", row.trade.symbol_id)
      .Integer("seq", row.sequence);
  AppendDecimal(fields, "price", row.trade.price);
  AppendDecimal(fields, "qty", row.trade.qty);
  fields.Text("buyer_id", row.trade.buyer_id.text).Text("seller_id", row.trade.seller_id.text);
}

Trades::Row Trades::Read(const bson_t& document) {
  return {.trade = {.trade_id = {Text(document, "trade_id")},
                    .symbol_id = client::IntegerOf(&document, "symbol_id"),
                    .price = TextOf(DecimalOf(document, "price")),
                    .qty = TextOf(DecimalOf(document, "qty")),
                    .buyer_id = {Text(document, "buyer_id")},
                    .seller_id = {Text(document, "seller_id")}},
          .sequence = client::IntegerOf(&document, "seq")};
}

Status Orders::Fold(const Effect& effect, Row& row) {
  const OrderUpdate& update = *effect.item->output.order_update;
  if (Rank(effect.item->sequence, update) > Rank(row.sequence, row.update)) {
    row = {.update = update, .sequence = effect.item->sequence};
  }
  return {};
}

void Orders::Write(const Row& row, client::Bson& fields) {
  fields.Text("user_id", row.update.user_id.text)
      .Integer("symbol_id", row.update.symbol_id)
      .Text("status", row.update.status)
      .Integer("seq", row.sequence);
}

Orders::Row Orders::Read(const bson_t& document) {
  return {.update = {.order_id = {Text(document, "_id")},
                     .user_id = {Text(document, "user_id")},
                     .symbol_id = client::IntegerOf(&document, "symbol_id"),
                     .status = Text(document, "status")},
          .sequence = client::IntegerOf(&document, "seq")};
}

}  // namespace braid::settlement::views
