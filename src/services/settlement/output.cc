#include "services/settlement/output.h"

#include <simdjson.h>

#include <algorithm>

#include "base/strings.h"
#include "services/settlement/json_fields.h"

namespace braid::settlement {
namespace {

// Readers of one field each, into `out`.
auto IntegerInto(int64_t& out, int64_t least) {
  return [&out, least](json::element value, const Where& where) { return ReadInteger(value, where, least, out); };
}
auto TextInto(std::string& out, bool may_be_empty) {
  return [&out, may_be_empty](json::element value, const Where& where) {
    return ReadText(value, where, may_be_empty, out);
  };
}
auto IdInto(Id& out) {
  return [&out](json::element value, const Where& where) { return ReadId(value, where, out); };
}
auto DecimalInto(Decimal& out, bool must_be_positive) {
  return [&out, must_be_positive](json::element value, const Where& where) {
    return ReadDecimal(value, where, must_be_positive, out);
  };
}
auto HashInto(std::optional<ChainHash>& out) {
  return [&out](json::element value, const Where& where) {
    return value.is_null() ? Status() : ReadHash(value, where, out.emplace());
  };
}

Status ReadTrade(json::element value, const Where& where, Trade& trade) {
  return ReadObject(value, where, Needed("trade_id", IdInto(trade.trade_id)),
                    Needed("symbol_id", IntegerInto(trade.symbol_id, 0)),
                    Needed("price", DecimalInto(trade.price, true)), Needed("qty", DecimalInto(trade.qty, true)),
                    Needed("buyer_id", IdInto(trade.buyer_id)), Needed("seller_id", IdInto(trade.seller_id)));
}

Status ReadBalanceEvent(json::element value, const Where& where, BalanceEvent& event) {
  return ReadObject(value, where, Needed("user_id", IdInto(event.user_id)),
                    Needed("asset", TextInto(event.asset, false)), Needed("delta", DecimalInto(event.delta, false)),
                    Needed("reason", TextInto(event.reason, true)));
}

Status ReadOrderUpdate(json::element value, const Where& where, std::optional<OrderUpdate>& out) {
  if (value.is_null()) return {};
  OrderUpdate& update = out.emplace();
  return ReadObject(value, where, Needed("order_id", IdInto(update.order_id)),
                    Needed("user_id", IdInto(update.user_id)), Needed("symbol_id", IntegerInto(update.symbol_id, 0)),
                    Needed("status", TextInto(update.status, false)));
}

template <typename T>
auto ListInto(std::vector<T>& out, Status (*read)(json::element, const Where&, T&)) {
  return [&out, read](json::element value, const Where& where) -> Status {
    json::array array;
    if (value.get_array().get(array) != simdjson::SUCCESS) return Bad(where, "is not a list");
    out.reserve(std::min(array.size(), kListMax));
    for (const json::element element : array) {
      if (out.size() >= kListMax) return Bad(where, StrCat("has more than ", kListMax, " elements"));
      const Where here{&where, {}, out.size()};
      BRAID_CHECK_OK(read(element, here, out.emplace_back()));
    }
    return {};
  };
}

Status ReadInput(json::element value, const Where& where, std::string& out) {
  if (!value.is_object()) return Bad(where, "is not an object");
  out.clear();
  return AppendCanonical(value, where, 0, out);
}

Status ReadOutput(json::element document, Output& output) {
  std::optional<int64_t> symbol;
  BRAID_CHECK_OK(ReadObject(
      document, Where(), Needed("output_seq", IntegerInto(output.output_seq, 1)),
      Optional("symbol_id",
               [&](json::element value, const Where& where) {
                 return value.is_null() ? Status() : ReadInteger(value, where, 0, symbol.emplace());
               }),
      Needed("input", [&](json::element value, const Where& where) { return ReadInput(value, where, output.input); }),
      Optional("order_update", [&](json::element value,
                                   const Where& where) { return ReadOrderUpdate(value, where, output.order_update); }),
      Optional("trades", ListInto(output.trades, ReadTrade)),
      Optional("balance_events", ListInto(output.balance_events, ReadBalanceEvent)),
      Optional("prev_hash", HashInto(output.prev_hash)), Optional("hash", HashInto(output.hash))));
  if (output.output_seq > kOutputSeqMax) {
    return Bad(Where{nullptr, "output_seq"}, StrCat("is ", output.output_seq, "; nothing could come after it"));
  }
  if (symbol && *symbol != output.symbol_id()) {
    return Bad(Where{nullptr, "symbol_id"},
               StrCat("is ", *symbol, ", but the output is of symbol ", output.symbol_id(), ": the ",
                      !output.trades.empty() ? "first trade's"
                      : output.order_update  ? "order update's"
                                             : "system's, as there is no trade and no order update"));
  }
  return {};
}

constexpr std::string_view kKnownFields[] = {"output_seq", "symbol_id",      "input",     "order_update",
                                             "trades",     "balance_events", "prev_hash", "hash"};

std::optional<int64_t> IntegerIn(json::object object, std::string_view name, int64_t least) {
  json::element value;
  int64_t number = 0;
  if (object.at_key(name).get(value) != simdjson::SUCCESS || !value.is_int64()) return std::nullopt;
  return ReadInteger(value, Where(), least, number).ok() ? std::optional(number) : std::nullopt;
}

// A duplicate or unknown name might be the one that determines the symbol.
bool HasOddNames(json::object object) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : object) names.push_back(name);
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end()) return true;
  return !std::all_of(names.begin(), names.end(), [](std::string_view name) {
    return std::find(std::begin(kKnownFields), std::end(kKnownFields), name) != std::end(kKnownFields);
  });
}

bool AddSymbolOf(json::element value, std::vector<int64_t>& symbols) {
  json::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return false;
  const std::optional<int64_t> symbol = IntegerIn(object, "symbol_id", 0);
  if (!symbol) return false;
  if (std::find(symbols.begin(), symbols.end(), *symbol) == symbols.end()) symbols.push_back(*symbol);
  return true;
}

// The symbols by the rule of C1; false if they cannot be determined with certainty.
bool AddSymbols(json::object object, std::vector<int64_t>& symbols) {
  json::element value;
  if (object.at_key("trades").get(value) == simdjson::SUCCESS) {
    json::array trades;
    if (value.get_array().get(trades) != simdjson::SUCCESS) return false;
    for (const json::element trade : trades) {
      if (!AddSymbolOf(trade, symbols)) return false;
    }
    if (!symbols.empty()) return true;
  }
  if (object.at_key("order_update").get(value) == simdjson::SUCCESS && !value.is_null()) {
    return AddSymbolOf(value, symbols);
  }
  if (HasOddNames(object)) return false;
  symbols.push_back(0);
  return true;
}

}  // namespace

struct OutputParser::Parser {
  json::parser parser;
};

OutputParser::OutputParser() : parser_(std::make_unique<Parser>()) {}
OutputParser::~OutputParser() = default;

Result<Output> OutputParser::Parse(std::string_view line) {
  json::element document;
  if (const auto error = parser_->parser.parse(line.data(), line.size()).get(document); error != simdjson::SUCCESS) {
    return Status(Code::kBadValue, StrCat("not valid JSON: ", simdjson::error_message(error)));
  }
  Output output;
  BRAID_CHECK_OK(ReadOutput(document, output));
  return output;
}

std::optional<Located> OutputParser::Locate(std::string_view line) {
  json::element document;
  if (parser_->parser.parse(line.data(), line.size()).get(document) != simdjson::SUCCESS) return std::nullopt;
  return LocateOutput(document);
}

std::optional<int64_t> OutputParser::LocateSequence(std::string_view line) {
  json::element document;
  if (parser_->parser.parse(line.data(), line.size()).get(document) != simdjson::SUCCESS) return std::nullopt;
  return LocateSequenceOf(document);
}

// Most payloads are plain, and reading these without a parser takes a fraction of its time.
Result<Output> OutputParser::Decode(std::string_view payload) {
  if (Output plain; ReadPlainPayload(payload, plain)) return plain;
  return DecodeAny(payload);
}

Result<Effects> OutputParser::DecodeEffects(std::string_view payload, std::shared_ptr<const Output>& room) {
  room.reset();
  if (Effects plain; ReadPlainEffects(payload, plain)) return plain;
  BRAID_TRY(Output output, DecodeAny(payload));
  room = std::make_shared<const Output>(std::move(output));
  return Effects::Of(*room);
}

Result<Output> OutputParser::DecodeAny(std::string_view payload) {
  Result<Output> output = Parse(payload);
  if (!output.ok()) {
    return Status(Code::kRecordDamaged, StrCat("the payload is not an output: ", output.error().message()));
  }
  if (EncodePayload(*output) != payload) {
    return Status(Code::kRecordDamaged, "the payload is an output, but not spelled as payloads are");
  }
  return output;
}

// Identifies a line that is not a valid output as far as possible: its sequence and symbols decide what has to wait for
// it (C4).

std::optional<int64_t> LocateSequenceOf(json::element document) {
  json::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) return std::nullopt;
  const std::optional<int64_t> sequence = IntegerIn(object, "output_seq", 1);
  return sequence && *sequence <= kOutputSeqMax ? sequence : std::nullopt;
}

std::optional<Located> LocateOutput(json::element document) {
  const std::optional<int64_t> sequence = LocateSequenceOf(document);
  if (!sequence) return std::nullopt;
  const json::object object = document.get_object().value_unsafe();
  Located located{.output_seq = *sequence};
  const bool told = AddSymbols(object, located.symbols);
  if (const std::optional<int64_t> named = IntegerIn(object, "symbol_id", 0)) {
    const bool known = std::find(located.symbols.begin(), located.symbols.end(), *named) != located.symbols.end();
    if (!known) located.symbols.push_back(*named);
    return located;
  }
  return told ? std::optional(std::move(located)) : std::nullopt;
}

}  // namespace braid::settlement
