#include "services/settlement/generator.h"

#include <algorithm>

#include "base/strings.h"

namespace braid::settlement {
namespace {

constexpr const char* kAssets[] = {"BTC", "ETH", "SOL", "BNB", "XRP", "ADA", "DOT", "LTC"};

std::string AssetOf(int64_t symbol) {
  const auto i = static_cast<size_t>(symbol - 1);
  return i < std::size(kAssets) ? kAssets[i] : StrCat("A", symbol);
}

// `units` of 10^-places, such as 150 and 2: "1.50".
Decimal DecimalOf(int64_t units, size_t places) {
  std::string digits = StrCat(units < 0 ? -units : units);
  if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
  if (places > 0) digits.insert(digits.size() - places, ".");
  return units < 0 ? "-" + digits : digits;
}

Id IdOf(int64_t number) { return {StrCat(number), true}; }

// From one user to another, so that the sum is zero.
void Move(Output& output, const Id& from, const Id& to, const std::string& asset, const Decimal& amount,
          const char* reason) {
  output.balance_events.push_back({from, asset, "-" + amount, reason});
  output.balance_events.push_back({to, asset, amount, reason});
}

}  // namespace

Generator::Generator(const GeneratorOptions& options)
    : options_(options), random_(options.seed), sequence_(options.first_sequence) {
  for (uint32_t i = 0; i < options.symbols; ++i) {
    prices_.push_back(static_cast<int64_t>(1000 + random_.Below(5'000'000)));
  }
}

int64_t Generator::PickSymbol() {
  if (random_.Chance(options_.hot_percent, 100)) return 1;
  return static_cast<int64_t>(1 + random_.Below(options_.symbols));
}

Id Generator::PickUser() { return IdOf(static_cast<int64_t>(1 + random_.Below(options_.users))); }

void Generator::AddTrade(Output& output, int64_t symbol) {
  int64_t& price = prices_[static_cast<size_t>(symbol - 1)];
  price = std::max<int64_t>(
      1, price + static_cast<int64_t>(random_.Below(2 * static_cast<uint64_t>(price / 1000) + 3)) - price / 1000 - 1);
  const auto qty = static_cast<int64_t>(1 + random_.Below(1'000'000));  // ten-thousandths
  Trade trade{.trade_id = IdOf(++trade_), .symbol_id = symbol, .price = DecimalOf(price, 2), .qty = DecimalOf(qty, 4)};
  trade.buyer_id = output.order_update->user_id;
  do trade.seller_id = PickUser();
  while (trade.seller_id == trade.buyer_id && options_.users > 1);
  Move(output, trade.seller_id, trade.buyer_id, AssetOf(symbol), trade.qty, "trade");
  Move(output, trade.buyer_id, trade.seller_id, "USDT", DecimalOf(price * qty, 6), "trade");
  output.trades.push_back(std::move(trade));
}

void Generator::AddTransfer(Output& output) {
  const Id from = PickUser();
  const Id to = PickUser();
  output.input = StrCat(R"({"from":)", from.text, R"(,"to":)", to.text, R"(,"type":"transfer"})");
  Move(output, from, to, "USDT", DecimalOf(static_cast<int64_t>(1 + random_.Below(100'000'00)), 2), "transfer");
}

Output Generator::Next() {
  Output output;
  output.output_seq = sequence_++;
  if (random_.Chance(1, 100) && !random_.Chance(options_.hot_percent, 100)) {
    AddTransfer(output);
    return output;
  }
  const int64_t symbol = PickSymbol();
  const uint64_t kind = random_.Below(10);  // 0 to 5 trades, 6 to 8 rests, 9 is cancelled
  OrderUpdate& order = output.order_update.emplace();
  order.order_id = IdOf(++order_);
  order.user_id = PickUser();
  order.symbol_id = symbol;
  order.status = kind < 3 ? "FILLED" : kind < 6 ? "PARTIALLY_FILLED" : kind < 9 ? "NEW" : "CANCELLED";
  output.input = StrCat(R"({"order_id":)", order_, R"(,"side":"buy","symbol_id":)", symbol, R"(,"type":")",
                        kind < 9 ? "limit" : "cancel", R"(","user_id":)", order.user_id.text, "}");
  if (kind >= 6) return output;
  for (uint64_t i = 0; i <= random_.Below(3); ++i) AddTrade(output, symbol);
  if (options_.symbols > 1 && random_.Chance(options_.cross_percent, 100))
    AddTrade(output, symbol % options_.symbols + 1);
  return output;
}

}  // namespace braid::settlement
