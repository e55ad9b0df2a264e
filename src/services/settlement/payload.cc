// Outputs as text: the payload, the record, the line.
#include <algorithm>

#include "base/strings.h"
#include "patterns/chains/hash.h"
#include "services/settlement/json_fields.h"
#include "services/settlement/output.h"

namespace braid::settlement {
namespace {

// Writes `"name":` before each value, with the comma between fields.
class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}
  Writer& Name(std::string_view name) {
    if (out_.back() != '{') out_ += ',';
    ((out_ += '"') += name) += "\":";
    return *this;
  }
  Writer& Integer(std::string_view name, int64_t value) {
    Name(name);
    out_ += Piece(value).text();
    return *this;
  }
  Writer& Text(std::string_view name, std::string_view value) {
    Name(name);
    AppendText(value, out_);
    return *this;
  }
  Writer& Name(std::string_view name, const Id& id) {
    if (!id.integer) return Text(name, id.text);
    Name(name);
    out_ += id.text;
    return *this;
  }

 private:
  std::string& out_;
};

void AppendTrade(const Trade& trade, std::string& out) {
  out += '{';
  Writer(out)
      .Name("trade_id", trade.trade_id)
      .Integer("symbol_id", trade.symbol_id)
      .Text("price", trade.price)
      .Text("qty", trade.qty)
      .Name("buyer_id", trade.buyer_id)
      .Name("seller_id", trade.seller_id);
  out += '}';
}

void AppendBalanceEvent(const BalanceEvent& event, std::string& out) {
  out += '{';
  Writer(out)
      .Name("user_id", event.user_id)
      .Text("asset", event.asset)
      .Text("delta", event.delta)
      .Text("reason", event.reason);
  out += '}';
}

void AppendOrderUpdate(const OrderUpdate& update, std::string& out) {
  out += '{';
  Writer(out)
      .Name("order_id", update.order_id)
      .Name("user_id", update.user_id)
      .Integer("symbol_id", update.symbol_id)
      .Text("status", update.status);
  out += '}';
}

template <typename T, typename Append>
void AppendList(const std::vector<T>& values, Append append, std::string& out) {
  out += '[';
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out += ',';
    append(values[i], out);
  }
  out += ']';
}

// What the engine made of the input: the fields after it.
void AppendData(const Output& output, std::string& out) {
  Writer writer(out);
  writer.Name("order_update");
  output.order_update ? AppendOrderUpdate(*output.order_update, out) : void(out += "null");
  writer.Name("trades");
  AppendList(output.trades, AppendTrade, out);
  writer.Name("balance_events");
  AppendList(output.balance_events, AppendBalanceEvent, out);
}

}  // namespace

int64_t Output::symbol_id() const { return SymbolOf(*this); }

std::vector<int64_t> Output::other_symbols() const {
  std::vector<int64_t> symbols;
  for (const Trade& trade : trades) {
    if (trade.symbol_id != symbol_id()) symbols.push_back(trade.symbol_id);
  }
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  return symbols;
}

std::string EncodePayload(const Output& output) {
  std::string out;
  out.reserve(256 + output.input.size() + 160 * (output.trades.size() + output.balance_events.size()));
  out += '{';
  Writer(out).Integer("output_seq", output.output_seq).Integer("symbol_id", output.symbol_id()).Name("input");
  out += output.input;
  AppendData(output, out);
  out += '}';
  return out;
}

std::string EncodeOutputData(const Output& output) {
  std::string out = "{";
  AppendData(output, out);
  return out + "}";
}

ChainRecord ToRecord(const Output& output) {
  ChainRecord record;
  record.chain = output.symbol_id();
  record.sequence = output.output_seq;
  record.payload = EncodePayload(output);
  record.also = output.other_symbols();
  record.prev_hash = output.prev_hash;
  record.hash = output.hash;
  return record;
}

std::string ToJson(const Output& output) {
  std::string out = EncodePayload(output);
  out.pop_back();
  Writer writer(out);
  if (output.prev_hash) writer.Text("prev_hash", chains::HexOf(*output.prev_hash));
  if (output.hash) writer.Text("hash", chains::HexOf(*output.hash));
  return out + "}";
}

}  // namespace braid::settlement
