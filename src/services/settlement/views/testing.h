// What the tests of views share: made-up outputs, a plain model of the views, and a store with a log.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "embedded/testing/stores.h"
#include "services/settlement/output.h"
#include "services/settlement/views/views.h"

namespace braid::settlement {

/// An amount of hundred-millionths as a decimal.
inline std::string Amount(int64_t units) {
  const uint64_t size = units < 0 ? 0 - static_cast<uint64_t>(units) : static_cast<uint64_t>(units);
  std::string fraction = StrCat(size % 100'000'000);
  fraction.insert(0, 8 - fraction.size(), '0');
  return StrCat(units < 0 ? "-" : "", size / 100'000'000, ".", fraction);
}

/// The views as plain maps, in one thread, with integers: "id" to what must be there.
struct Model {
  std::map<std::string, int64_t> balances;
  std::map<std::string, std::string> trades;
  std::map<std::string, std::string> orders;
  std::map<std::string, int64_t> order_sequences;

  /// `chain`: the smallest that carries it.
  void Add(const Output& output, int64_t chain) {
    for (const BalanceEvent& event : output.balance_events) {
      std::string digits = event.delta;
      std::erase(digits, '.');
      balances[StrCat(event.user_id.text, ":", event.asset)] += std::stoll(digits);
    }
    for (size_t i = 0; i < output.trades.size(); ++i) {
      std::string sequence = StrCat(output.output_seq);
      sequence.insert(0, 19 - sequence.size(), '0');
      trades[StrCat(chain, ":", sequence, ":", i)] = output.trades[i].trade_id.text;
    }
    if (!output.order_update) return;
    int64_t& newest = order_sequences[output.order_update->order_id.text];
    if (output.output_seq < newest) return;
    newest = output.output_seq;
    orders[output.order_update->order_id.text] = output.order_update->status;
  }
};

/// Outputs of a few symbols, users and orders, some of several symbols.
class OutputMaker {
 public:
  explicit OutputMaker(Random& random) : random_(random) {}

  Output Next() {
    Output output;
    output.output_seq = ++sequence_;
    const int64_t symbol = 1 + static_cast<int64_t>(random_.Below(5));
    if (random_.Chance(4, 5)) {
      const std::string order = StrCat("o", random_.Below(40));
      output.order_update =
          OrderUpdate{.order_id = {order}, .user_id = User(), .symbol_id = symbol, .status = Status()};
    }
    for (uint64_t i = random_.Below(3); i > 0; --i) {
      const bool other = !output.trades.empty() && random_.Chance(1, 4);
      const int64_t traded = other ? 1 + static_cast<int64_t>(random_.Below(5)) : symbol;
      output.trades.push_back({.trade_id = {StrCat("t", sequence_, "-", i)},
                               .symbol_id = traded,
                               .price = "12.50",
                               .qty = "0.001",
                               .buyer_id = User(),
                               .seller_id = User()});
    }
    for (uint64_t i = random_.Below(5); i > 0; --i) {
      const auto units = static_cast<int64_t>(random_.Below(2'000'000'000)) - 1'000'000'000;
      output.balance_events.push_back(
          {.user_id = User(), .asset = random_.Chance(1, 2) ? "USDT" : "BTC", .delta = Amount(units), .reason = "x"});
    }
    return output;
  }

 private:
  Id User() { return {StrCat(random_.Below(30)), random_.Chance(1, 2)}; }
  std::string Status() { return StrCat("status", random_.Below(1000)); }

  Random& random_;
  int64_t sequence_ = 0;
};

inline int64_t SmallestChain(const Output& output) {
  const std::vector<int64_t> others = output.other_symbols();
  return others.empty() ? output.symbol_id() : std::min(output.symbol_id(), others.front());
}

class ViewsStoreTest : public test::StoreTest {
 protected:
  ViewsOptions Options(uint32_t workers = 4) const {
    ViewsOptions options;
    options.database = store_.database();
    options.workers = workers;
    return options;
  }
  std::unique_ptr<Views> Open(const ViewsOptions& options) {
    auto opened = Views::Open(store_.clients(), options);
    EXPECT_OK(opened);
    return *std::move(opened);
  }
  std::unique_ptr<Views> Open() { return Open(Options()); }

  /// Appends and adds to the model.
  static void Append(Chains& chains, const std::vector<Output>& outputs, Model& model) {
    std::vector<ChainRecord> records;
    for (const Output& output : outputs) {
      records.push_back(ToRecord(output));
      model.Add(output, SmallestChain(output));
    }
    AppendRecords(chains, records);
  }
  static void AppendRecords(Chains& chains, const std::vector<ChainRecord>& records) {
    const auto appended = chains.Append(records);
    ASSERT_OK(appended);
    for (const Appended& one : *appended) ASSERT_OK(one.status);
  }
  static void FollowAll(Views& views) {
    const auto report = views.Follow();
    ASSERT_OK(report);
    for (const ChainDamage& damage : report->damage) {
      ADD_FAILURE() << "symbol " << damage.chain << ", output " << damage.sequence << ": " << damage.what;
    }
  }

  /// "id" to a field's text, of every document of a view.
  std::map<std::string, std::string> Read(Views& views, View view, const char* field) {
    std::map<std::string, std::string> values;
    EXPECT_OK(views.Read(view, [&](const std::string& collection) {
      values.clear();
      const Client client = store_.clients().Acquire();
      const auto handle = client::CollectionOf(client.get(), store_.database(), collection);
      const client::Bson all;
      const client::CursorPtr cursor(mongoc_collection_find_with_opts(handle.get(), all.get(), nullptr, nullptr));
      const bson_t* document = nullptr;
      while (mongoc_cursor_next(cursor.get(), &document)) {
        bson_iter_t value;
        bson_decimal128_t decimal;
        char text[BSON_DECIMAL128_STRING] = "";
        if (bson_iter_init_find(&value, document, field) && bson_iter_decimal128(&value, &decimal)) {
          bson_decimal128_to_string(&decimal, text);
        }
        const std::string id(client::TextOf(document, "_id"));
        values[id] = text[0] != 0 ? text : std::string(client::TextOf(document, field));
      }
      return Status();
    }));
    return values;
  }

  void ExpectModel(Views& views, const Model& model) {
    const auto balances = Read(views, View::kBalances, "balance");
    EXPECT_EQ(balances.size(), model.balances.size());
    for (const auto& [id, units] : model.balances) {
      const auto place = balances.find(id);
      ASSERT_NE(place, balances.end()) << id;
      EXPECT_EQ(Units(place->second), units) << id;
    }
    EXPECT_EQ(Read(views, View::kTrades, "trade_id"), model.trades);
    EXPECT_EQ(Read(views, View::kOrders, "status"), model.orders);
    const auto check = views.Check();
    ASSERT_OK(check);
    EXPECT_TRUE(check->damage.empty());
    EXPECT_EQ(check->differences_total, 0);
    for (const ViewDifference& one : check->differences) {
      ADD_FAILURE() << NameOf(one.view) << " " << one.id << ": expected " << one.expected << ", found " << one.found;
    }
  }

  /// Changes one document of a collection directly.
  void Tamper(const std::string& collection, const std::string& id, const char* change_json) {
    const Client client = store_.clients().Acquire();
    const auto handle = client::CollectionOf(client.get(), store_.database(), collection);
    client::Bson filter;
    filter.Text("_id", id);
    const auto change = client::ParseJson(change_json);
    ASSERT_OK(change);
    bson_error_t error{};
    client::Bson reply;
    ASSERT_TRUE(mongoc_collection_update_one(handle.get(), filter.get(), change->get(), nullptr, reply.get(), &error))
        << error.message;
    ASSERT_EQ(client::IntegerOf(reply.get(), "modifiedCount"), 1);
  }

 private:
  // "1.5" or "-1E-8" as hundred-millionths.
  static int64_t Units(const std::string& text) {
    return static_cast<int64_t>(std::stold(text) * 100'000'000.0L + (text.front() == '-' ? -0.5L : 0.5L));
  }
};

}  // namespace braid::settlement
