#include "services/settlement/views/kinds.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
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
void AppendDecimal(client::Documents& fields, std::string_view name, std::string_view text) {
  bson_decimal128_t value{};
  bson_decimal128_from_string_w_len(text.data(), static_cast<int>(text.size()), &value);
  fields.Decimal(name, value);
}

uint64_t HashOfText(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

// With zeros in front, if it has fewer digits. Formatting by a pattern takes several times as long.
void AppendNumber(std::string& text, uint64_t number, size_t digits_min) {
  char digits[20];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
  const auto length = static_cast<size_t>(end - digits);
  if (length < digits_min) text.append(digits_min - length, '0');
  text.append(digits, length);
}

// The update with the highest rank stays, in whatever order chains are applied. A source should not give two outputs
// the same sequence; if it does, either may stay, but it must be the same one every time.
struct OrderFields {
  std::string_view user;
  int64_t symbol;
  std::string_view status;
  int64_t sequence;
  int64_t at_ms;
};

OrderFields FieldsOf(const Item& item) {
  BRAID_ASSERT(item.effects.order_update.has_value());
  const OrderEffect& update = *item.effects.order_update;
  return {update.user_id, update.symbol_id, update.status, item.sequence, item.at_ms};
}

OrderFields FieldsOf(const Orders::Row& row) { return {row.user, row.symbol, row.status, row.sequence, row.at_ms}; }

auto Rank(const OrderFields& order) { return std::tuple(order.sequence, order.symbol, order.user, order.status); }

void WriteOrder(const OrderFields& order, client::Documents& fields) {
  fields.Text("user_id", order.user)
      .Integer("symbol_id", order.symbol)
      .Text("status", order.status)
      .Integer("seq", order.sequence)
      .Date("at", order.at_ms);
}

struct BalanceFields {
  std::string_view user;
  std::string_view asset;
  const Amount& balance;
  int64_t sequence;
  int64_t at_ms;
};

void WriteBalance(const BalanceFields& row, client::Documents& fields) {
  fields.Text("user_id", row.user).Text("asset", row.asset);
  row.balance.AppendTo(fields, "balance");
  fields.Integer("seq", row.sequence).Date("at", row.at_ms);
}

}  // namespace

void Balances::MakeId(const BalanceEffect& event, std::string& id) {
  id.clear();
  for (const char c : event.user_id) c == ':' ? id += "%3A" : c == '%' ? id += "%25" : id += c;
  (id += ':') += event.asset;
}

Status Balances::Fold(const Effect& effect, Row& row) {
  if (row.sequence == 0) {
    row.user = effect.event->user_id;
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

void Balances::Write(const Row& row, client::Documents& fields) {
  WriteBalance({row.user, row.asset, row.balance, row.sequence, row.at_ms}, fields);
}

uint64_t Balances::HashOf(const Effect& effect) {
  return HashOfText(effect.event->user_id) * 31 + HashOfText(effect.event->asset);
}

// Sums are exact, so that it does not matter in which order the deltas are added.
bool Balances::Add(const Effect& effect, Sum& sum) {
  if (sum.sequence == 0) {
    sum.user = effect.event->user_id;
    sum.asset = effect.event->asset;
  }
  const auto delta = Amount::Parse(effect.event->delta);
  if (!delta.ok()) return false;
  sum.amount += *delta;
  const Item& item = *effect.item;
  std::tie(sum.sequence, sum.at_ms) = std::max(std::tuple(sum.sequence, sum.at_ms), {item.sequence, item.at_ms});
  return true;
}

bool Balances::Apply(const Sum& sum, Row& row) {
  if (!row.problem.ok()) return false;
  if (row.sequence == 0) {
    row.user = sum.user;
    row.asset = sum.asset;
  }
  row.balance += sum.amount;
  std::tie(row.sequence, row.at_ms) = std::max(std::tuple(row.sequence, row.at_ms), {sum.sequence, sum.at_ms});
  return true;
}

void Balances::Write(const Sum& sum, client::Documents& fields) {
  WriteBalance({sum.user, sum.asset, sum.amount, sum.sequence, sum.at_ms}, fields);
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
  MakeKey(item, id);
  id += ':';
  AppendNumber(id, index, 1);
}

void Trades::MakeKey(const Item& item, std::string& key) {
  key.clear();
  if (item.chain < 0) key += '-';
  AppendNumber(key, item.chain < 0 ? -static_cast<uint64_t>(item.chain) : static_cast<uint64_t>(item.chain), 1);
  key += ':';
  BRAID_ASSERT(item.sequence >= 0);
  AppendNumber(key, static_cast<uint64_t>(item.sequence), 19);
}

Status Trades::Fold(const Effect& effect, Row& row) {
  const TradeEffect& trade = *effect.trade;
  row = {.trade = {.trade_id = {std::string(trade.trade_id)},
                   .symbol_id = trade.symbol_id,
                   .price = std::string(trade.price),
                   .qty = std::string(trade.qty),
                   .buyer_id = {std::string(trade.buyer_id)},
                   .seller_id = {std::string(trade.seller_id)}},
         .sequence = effect.item->sequence,
         .at_ms = effect.item->at_ms};
  return {};
}

namespace {

void WriteTrade(const TradeEffect& trade, int64_t sequence, int64_t at_ms, client::Documents& fields) {
  fields.Text("trade_id", trade.trade_id).Integer("symbol_id", trade.symbol_id).Integer("seq", sequence);
  fields.Date("at", at_ms);
  AppendDecimal(fields, "price", trade.price);
  AppendDecimal(fields, "qty", trade.qty);
  fields.Text("buyer_id", trade.buyer_id).Text("seller_id", trade.seller_id);
}

}  // namespace

void Trades::Write(const TradeEffect& trade, const Item& item, client::Documents& fields) {
  WriteTrade(trade, item.sequence, item.at_ms, fields);
}

void Trades::Write(const Row& row, client::Documents& fields) {
  WriteTrade(Effects::Of(row.trade), row.sequence, row.at_ms, fields);
}

Status Orders::Fold(const Effect& effect, Row& row) {
  const OrderFields order = FieldsOf(*effect.item);
  if (Rank(order) > Rank(FieldsOf(row))) {
    row = {.user = std::string(order.user),
           .symbol = order.symbol,
           .status = std::string(order.status),
           .sequence = order.sequence,
           .at_ms = order.at_ms};
  }
  return {};
}

void Orders::Write(const Row& row, client::Documents& fields) { WriteOrder(FieldsOf(row), fields); }

uint64_t Orders::HashOf(const Effect& effect) { return HashOfText(effect.item->effects.order_update->order_id); }

bool Orders::Add(const Effect& effect, Sum& sum) {
  if (sum.item == nullptr || Rank(FieldsOf(*effect.item)) > Rank(FieldsOf(*sum.item))) sum.item = effect.item;
  return true;
}

bool Orders::Apply(const Sum& sum, Row& row) { return Fold({sum.item}, row).ok(); }

void Orders::Write(const Sum& sum, client::Documents& fields) { WriteOrder(FieldsOf(*sum.item), fields); }

Orders::Row Orders::Read(const bson_t& document) {
  return {.user = Text(document, "user_id"),
          .symbol = client::IntegerOf(&document, "symbol_id"),
          .status = Text(document, "status"),
          .sequence = client::IntegerOf(&document, "seq"),
          .at_ms = TimeOf(document)};
}

}  // namespace braid::settlement::views
