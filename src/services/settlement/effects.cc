#include "services/settlement/effects.h"

namespace braid::settlement {

TradeEffect Effects::Of(const Trade& trade) {
  return {.trade_id = trade.trade_id.text,
          .symbol_id = trade.symbol_id,
          .price = trade.price,
          .qty = trade.qty,
          .buyer_id = trade.buyer_id.text,
          .seller_id = trade.seller_id.text};
}

Effects Effects::Of(const Output& output) {
  Effects effects{.output_seq = output.output_seq};
  if (const auto& update = output.order_update; update) {
    effects.order_update = {.order_id = update->order_id.text,
                            .user_id = update->user_id.text,
                            .symbol_id = update->symbol_id,
                            .status = update->status};
  }
  for (const Trade& trade : output.trades) effects.trades.push_back(Of(trade));
  for (const BalanceEvent& event : output.balance_events) {
    effects.balance_events.push_back({.user_id = event.user_id.text, .asset = event.asset, .delta = event.delta});
  }
  return effects;
}

}  // namespace braid::settlement
