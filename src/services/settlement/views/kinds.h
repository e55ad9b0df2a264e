// The part that differs between views: which documents an output changes, and how. Everything else — marks, batches,
// generations, checking — is the same for all.
//
// A kind has
//   Row                  a document as a struct
//   ForEach(item, call)  calls call(key, id, effect) for each effect of an output; the key decides on the partition,
//                        and the id is only there during the call
//   Fold(effect, row)    the row after the effect; a new row is Row()
//   Write(row, fields)   the fields without _id;  Read(document) the row again
// and those whose documents change more than once
//   Sum                  the effects of some batches on one document; may point into them
//   EachEffect(item, call)  as ForEach, without the names
//   HashOf(effect), IsOf(effect, sum)  which document it is of, without making its id
//   Names(effect, id)    makes the id and returns the key that decides on the partition
//   Add(effect, sum), Apply(sum, row)  what Fold() does effect by effect. False where Fold() would fail, which is then
//                        asked for the reason
//   Write(sum, fields)   as Write() of the row after Apply() to a new one
//   kIsMetAgain          most documents of a batch are those of the batches before
// Trades are read and folded only by a recount: no document is ever changed twice.
#pragma once

#include <string>
#include <string_view>

#include "client/documents.h"
#include "client/fields.h"
#include "services/settlement/effects.h"
#include "services/settlement/views/amount.h"
#include "services/settlement/views/log_reader.h"

namespace braid::settlement::views {

struct Balances {
  static constexpr bool kIsMetAgain = true;
  struct Row {
    std::string user;
    std::string asset;
    Amount balance;
    Status problem;        // why the document's balance cannot be added to, if so
    int64_t sequence = 0;  // 0: new
    int64_t at_ms = 0;     // of the same output
  };
  struct Effect {
    const Item* item;
    const BalanceEffect* event;
  };
  struct Sum {
    std::string user;  // copies, because every event is compared with them: the texts in the batch are far apart
    std::string asset;
    Amount amount;
    int64_t sequence = 0;
    int64_t at_ms = 0;
  };
  template <typename Call>
  static void EachEffect(const Item& item, const Call& call) {
    for (const BalanceEffect& event : item.effects.balance_events) call(Effect{&item, &event});
  }
  static uint64_t HashOf(const Effect& effect);
  static bool IsOf(const Effect& effect, const Sum& sum) {
    return effect.event->user_id == sum.user && effect.event->asset == sum.asset;
  }
  static std::string_view Names(const Effect& effect, std::string& id) {
    MakeId(*effect.event, id);
    return effect.event->user_id;
  }
  static bool Add(const Effect& effect, Sum& sum);
  static bool Apply(const Sum& sum, Row& row);
  static void Write(const Sum& sum, client::Documents& fields);

  static void MakeId(const BalanceEffect& event, std::string& id);
  template <typename Call>
  static void ForEach(const Item& item, const Call& call) {
    std::string id;
    for (const BalanceEffect& event : item.effects.balance_events) {
      MakeId(event, id);
      call(event.user_id, id, Effect{&item, &event});
    }
  }
  static Status Fold(const Effect& effect, Row& row);
  static void Write(const Row& row, client::Documents& fields);
  static Row Read(const bson_t& document);
};

struct Trades {
  struct Row {
    Trade trade;
    int64_t sequence = 0;
    int64_t at_ms = 0;
  };
  struct Effect {
    const Item* item;
    const TradeEffect* trade;
  };
  /// By chain, not by symbol: two outputs of one sequence, which a source should not make, must not collide.
  static void MakeId(const Item& item, size_t index, std::string& id);
  /// The part of the ids that all trades of an output share, which decides on the partition.
  static void MakeKey(const Item& item, std::string& key);
  template <typename Call>
  static void ForEach(const Item& item, const Call& call) {
    const std::vector<TradeEffect>& trades = item.effects.trades;
    std::string id;
    for (size_t i = 0; i < trades.size(); ++i) {
      MakeId(item, i, id);
      call(std::string_view(id).substr(0, id.rfind(':')), id, Effect{&item, &trades[i]});
    }
  }
  static Status Fold(const Effect& effect, Row& row);
  static void Write(const TradeEffect& trade, const Item& item, client::Documents& fields);
  static void Write(const Row& row, client::Documents& fields);
};

struct Orders {
  static constexpr bool kIsMetAgain = false;
  struct Row {
    std::string user;
    int64_t symbol = 0;
    std::string status;
    int64_t sequence = 0;
    int64_t at_ms = 0;
  };
  struct Effect {
    const Item* item;
  };
  struct Sum {
    const Item* item = nullptr;  // that stays
  };
  template <typename Call>
  static void EachEffect(const Item& item, const Call& call) {
    if (item.effects.order_update) call(Effect{&item});
  }
  static uint64_t HashOf(const Effect& effect);
  static bool IsOf(const Effect& effect, const Sum& sum) {
    return effect.item->effects.order_update->order_id == sum.item->effects.order_update->order_id;
  }
  static std::string_view Names(const Effect& effect, std::string& id) {
    return id = effect.item->effects.order_update->order_id;
  }
  static bool Add(const Effect& effect, Sum& sum);
  static bool Apply(const Sum& sum, Row& row);
  static void Write(const Sum& sum, client::Documents& fields);

  template <typename Call>
  static void ForEach(const Item& item, const Call& call) {
    if (!item.effects.order_update) return;
    const std::string_view id = item.effects.order_update->order_id;
    call(id, id, Effect{&item});
  }
  static Status Fold(const Effect& effect, Row& row);
  static void Write(const Row& row, client::Documents& fields);
  static Row Read(const bson_t& document);
};

}  // namespace braid::settlement::views
