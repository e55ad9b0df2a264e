// Effects: what an output does to the views, as views into the bytes of its payload. A replay reads millions of them,
// and copying their texts would cost more than reading them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "services/settlement/output.h"

namespace braid::settlement {

/// Fields as of Trade. Ids are only their texts: 7 and "7" are the same user.
struct TradeEffect {
  std::string_view trade_id;
  int64_t symbol_id = 0;
  std::string_view price;
  std::string_view qty;
  std::string_view buyer_id;
  std::string_view seller_id;
  bool operator==(const TradeEffect&) const = default;
};

/// Fields as of OrderUpdate.
struct OrderEffect {
  std::string_view order_id;
  std::string_view user_id;
  int64_t symbol_id = 0;
  std::string_view status;
  bool operator==(const OrderEffect&) const = default;
};

/// Fields as of BalanceEvent.
struct BalanceEffect {
  std::string_view user_id;
  std::string_view asset;
  std::string_view delta;
  bool operator==(const BalanceEffect&) const = default;
};

/// Must not outlive the bytes that it was read from.
struct Effects {
  int64_t output_seq = 0;
  std::optional<OrderEffect> order_update;
  std::vector<TradeEffect> trades;
  std::vector<BalanceEffect> balance_events;
  bool operator==(const Effects&) const = default;

  static Effects Of(const Output& output);
  static TradeEffect Of(const Trade& trade);
};

}  // namespace braid::settlement
