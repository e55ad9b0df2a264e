// Payloads as EncodePayload() spells them, read without a JSON parser.
#include "services/settlement/json_fields.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace braid::settlement {
namespace {

constexpr size_t kPlainDigitsMax = 18;    // any integer of so many fits into 64 bits
constexpr size_t kDecimalDigitsMax = 34;  // of a Decimal

// Characters that stand for themselves in a string.
constexpr std::array<bool, 256> kPlainText = [] {
  std::array<bool, 256> plain{};
  for (size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

bool IsDigitChar(char c) { return c >= '0' && c <= '9'; }

/// Reads from left to right; after the first thing that is not as expected every call is false.
class PayloadReader {
 public:
  explicit PayloadReader(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool at_end() const { return at_ == end_; }
  bool Next(char c) const { return at_ < end_ && *at_ == c; }
  bool Literal(std::string_view text) {
    if (static_cast<size_t>(end_ - at_) < text.size() || std::string_view(at_, text.size()) != text) return false;
    at_ += text.size();
    return true;
  }

  bool Integer(int64_t& out) {
    std::string_view digits;
    if (!Digits(digits)) return false;
    out = 0;
    for (const char c : digits) out = out * 10 + (c - '0');
    return true;
  }

  // Texts are copied to a string, or pointed to by a view.
  template <typename To>
  bool Text(bool may_be_empty, To& out) {
    std::string_view text;
    if (!Quoted(text) || (text.empty() && !may_be_empty) || text.size() > kTextBytesMax) return false;
    out = text;
    return true;
  }

  bool Name(Id& out) {
    out.integer = !Next('"');
    return out.integer ? Integer(out.text) : Text(false, out.text);
  }
  bool Name(std::string_view& out) { return Next('"') ? Text(false, out) : Integer(out); }

  template <typename To>
  bool Number(bool must_be_positive, To& out) {
    std::string_view text;
    if (!Quoted(text)) return false;
    const bool negative = text.starts_with('-');
    const std::string_view digits = text.substr(negative ? 1 : 0);
    size_t count = 0;
    size_t points = 0;
    bool zero = true;
    for (const char c : digits) {
      if (c == '.') {
        if (++points > 1) return false;
        continue;
      }
      if (!IsDigitChar(c)) return false;
      ++count;
      zero = zero && c == '0';
    }
    if (digits.empty() || digits.front() == '.' || digits.back() == '.' || count > kDecimalDigitsMax) return false;
    if (must_be_positive && (negative || zero)) return false;
    out = text;
    return true;
  }

  /// An object of one level with its names in order.
  bool FlatObject(std::string_view& out) {
    const char* const begin = at_;
    if (!Literal("{")) return false;
    std::string_view before;
    for (bool first = true; !Literal("}"); first = false) {
      std::string_view name;
      if ((!first && !Literal(",")) || !Quoted(name) || !Literal(":") || (!first && name <= before)) return false;
      std::string_view value;
      const bool plain = Next('"') ? Quoted(value) : Literal("true") || Literal("false") || Literal("null");
      if (!plain && !Digits(value)) return false;
      before = name;
    }
    out = std::string_view(begin, static_cast<size_t>(at_ - begin));
    return true;
  }

  template <typename T, typename Read>
  bool List(size_t expected, std::vector<T>& out, const Read& read) {
    if (!Literal("[")) return false;
    if (!Next(']')) out.reserve(expected);
    for (bool first = true; !Literal("]"); first = false) {
      if ((!first && !Literal(",")) || out.size() >= kListMax || !read(*this, out.emplace_back())) return false;
    }
    return true;
  }

 private:
  template <typename To>
  bool Integer(To& out) {
    std::string_view digits;
    if (!Digits(digits)) return false;
    out = digits;
    return true;
  }

  // Without a sign and without zeros in front.
  bool Digits(std::string_view& out) {
    const char* const begin = at_;
    while (at_ < end_ && IsDigitChar(*at_)) ++at_;
    out = std::string_view(begin, static_cast<size_t>(at_ - begin));
    return !out.empty() && out.size() <= kPlainDigitsMax && (out.size() == 1 || out.front() != '0');
  }

  bool Quoted(std::string_view& out) {
    if (!Literal("\"")) return false;
    const char* const begin = at_;
    while (at_ < end_ && kPlainText[static_cast<unsigned char>(*at_)]) ++at_;
    out = std::string_view(begin, static_cast<size_t>(at_ - begin));
    return Literal("\"");
  }

  const char* at_;
  const char* const end_;
};

// Each of an Output, or of Effects, whose fields have the same names.

template <typename To>
bool ReadPlainTrade(PayloadReader& reader, To& trade) {
  return reader.Literal(R"({"trade_id":)") && reader.Name(trade.trade_id) && reader.Literal(R"(,"symbol_id":)") &&
         reader.Integer(trade.symbol_id) && reader.Literal(R"(,"price":)") && reader.Number(true, trade.price) &&
         reader.Literal(R"(,"qty":)") && reader.Number(true, trade.qty) && reader.Literal(R"(,"buyer_id":)") &&
         reader.Name(trade.buyer_id) && reader.Literal(R"(,"seller_id":)") && reader.Name(trade.seller_id) &&
         reader.Literal("}");
}

template <typename To>
bool ReadPlainEvent(PayloadReader& reader, To& event) {
  std::string_view ignored;
  const auto read_reason = [&] {
    if constexpr (requires { event.reason; }) return reader.Text(true, event.reason);
    return reader.Text(true, ignored);
  };
  return reader.Literal(R"({"user_id":)") && reader.Name(event.user_id) && reader.Literal(R"(,"asset":)") &&
         reader.Text(false, event.asset) && reader.Literal(R"(,"delta":)") && reader.Number(false, event.delta) &&
         reader.Literal(R"(,"reason":)") && read_reason() && reader.Literal("}");
}

template <typename To>
bool ReadPlainOrder(PayloadReader& reader, std::optional<To>& out) {
  if (reader.Literal("null")) return true;
  To& update = out.emplace();
  return reader.Literal(R"({"order_id":)") && reader.Name(update.order_id) && reader.Literal(R"(,"user_id":)") &&
         reader.Name(update.user_id) && reader.Literal(R"(,"symbol_id":)") && reader.Integer(update.symbol_id) &&
         reader.Literal(R"(,"status":)") && reader.Text(false, update.status) && reader.Literal("}");
}

template <typename To>
bool ReadPlain(std::string_view payload, To& to, std::string_view& input) {
  PayloadReader reader(payload);
  int64_t symbol = 0;
  const bool is_plain =
      reader.Literal(R"({"output_seq":)") && reader.Integer(to.output_seq) && to.output_seq >= 1 &&
      reader.Literal(R"(,"symbol_id":)") && reader.Integer(symbol) && reader.Literal(R"(,"input":)") &&
      reader.FlatObject(input) && reader.Literal(R"(,"order_update":)") && ReadPlainOrder(reader, to.order_update) &&
      reader.Literal(R"(,"trades":)") && reader.List(2, to.trades, [](auto&... of) { return ReadPlainTrade(of...); }) &&
      reader.Literal(R"(,"balance_events":)") &&
      reader.List(std::clamp<size_t>(4 * to.trades.size(), 4, kListMax), to.balance_events,
                  [](auto&... of) { return ReadPlainEvent(of...); }) &&
      reader.Literal("}") && reader.at_end();
  return is_plain && symbol == SymbolOf(to);
}

}  // namespace

bool ReadPlainPayload(std::string_view payload, Output& output) {
  std::string_view input;
  if (!ReadPlain(payload, output, input)) return false;
  output.input = input;
  return true;
}

bool ReadPlainEffects(std::string_view payload, Effects& effects) {
  std::string_view input;
  return ReadPlain(payload, effects, input);
}

}  // namespace braid::settlement
