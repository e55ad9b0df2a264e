#include "services/settlement/views/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
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

auto Rank(const Item& item) { return Rank(item.sequence, *item.output.order_update); }

void WriteOrder(const OrderUpdate& update, int64_t sequence, int64_t at_ms, client::Bson& fields) {
  fields.Text("user_id", update.user_id.text)
      .Integer("symbol_id", update.symbol_id)
      .Text("status", update.status)
      .Integer("seq", sequence)
      .Date("at", at_ms);
}

struct BalanceFields {
  std::string_view user;
  std::string_view asset;
  const Amount& balance;
  int64_t sequence;
  int64_t at_ms;
};

void WriteBalance(const BalanceFields& row, client::Bson& fields) {
  fields.Text("user_id", row.user).Text("asset", row.asset);
  row.balance.AppendTo(fields, "balance");
  fields.Integer("seq", row.sequence).Date("at", row.at_ms);
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
  WriteBalance({row.user, row.asset, row.balance, row.sequence, row.at_ms}, fields);
}

uint64_t Balances::HashOf(const Effect& effect) {
  const std::hash<std::string_view> hash;
  return hash(effect.event->user_id.text) * 31 + hash(effect.event->asset);
}

// Sums are exact, so that it does not matter in which order the deltas are added.
bool Balances::Add(const Effect& effect, Sum& sum) {
  if (sum.event == nullptr) sum.event = effect.event;
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
    row.user = sum.event->user_id.text;
    row.asset = sum.event->asset;
  }
  row.balance += sum.amount;
  std::tie(row.sequence, row.at_ms) = std::max(std::tuple(row.sequence, row.at_ms), {sum.sequence, sum.at_ms});
  return true;
}

void Balances::Write(const Sum& sum, client::Bson& fields) {
  WriteBalance({sum.event->user_id.text, sum.event->asset, sum.amount, sum.sequence, sum.at_ms}, fields);
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
  fmt::format_to(std::back_inserter(id), ":{}", index);
}

void Trades::MakeKey(const Item& item, std::string& key) {
  key.clear();
  fmt::format_to(std::back_inserter(key), "{}:{:019}", item.chain, item.sequence);
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

void Orders::Write(const Row& row, client::Bson& fields) { WriteOrder(row.update, row.sequence, row.at_ms, fields); }

uint64_t Orders::HashOf(const Effect& effect) {
  return std::hash<std::string_view>()(effect.item->output.order_update->order_id.text);
}

bool Orders::Add(const Effect& effect, Sum& sum) {
  if (sum.item == nullptr || Rank(*effect.item) > Rank(*sum.item)) sum.item = effect.item;
  return true;
}

bool Orders::Apply(const Sum& sum, Row& row) { return Fold({sum.item}, row).ok(); }

void Orders::Write(const Sum& sum, client::Bson& fields) {
  WriteOrder(*sum.item->output.order_update, sum.item->sequence, sum.item->at_ms, fields);
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
