// An output of a matching engine: the line of JSON it comes as (F2), and the bytes that its chain keeps (C1).
//
// Payload: the bytes that are chained are JSON too, with one spelling for each output, so that the same output has the
// same hash wherever it comes from:
//   {"output_seq":N,"symbol_id":N,"input":{…},"order_update":null|{"order_id":I,"user_id":I,"symbol_id":N,"status":S},
//    "trades":[{"trade_id":I,"symbol_id":N,"price":S,"qty":S,"buyer_id":I,"seller_id":I},…],
//    "balance_events":[{"user_id":I,"asset":S,"delta":S,"reason":S},…]}
//   - no white space; the fields above all there, in this order (an order_update that was absent is null, an absent
//     list is []); symbol_id by the rule of C1; prev_hash and hash are not part of it;
//   - in `input`, at every depth, the names of an object in ascending order of their UTF-8 bytes;
//   - strings in UTF-8, where only these are escaped: " and \ with \, the control characters U+0008, 9, A, C and D as
//     \b \t \n \f \r, the others below U+0020 as \u00xx with lower-case digits;
//   - integers of 64 bits (signed or unsigned) in decimal, other numbers as the shortest text that reads back as the
//     same double, with .0 if it would be an integer's otherwise;
//   - decimals are strings and stay as they were given, digit for digit: 1.50 is not 1.5.
// So a payload is itself a line of F2.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/chains.h"
#include "braid/status.h"

namespace braid::settlement {

/// The name of an order, user or trade: a JSON integer or a string of 1 to kTextBytesMax bytes. Which of the two it
/// was is kept for the payload; `text` alone identifies the user, so 7 and "7" are the same user.
struct Id {
  std::string text;
  bool integer = false;
  bool operator==(const Id&) const = default;
};

/// A number in decimal with an optional minus sign and at most 34 digits, such as "-0.00125", without an exponent: what
/// fits into a Decimal128 without rounding. Kept as it was given.
using Decimal = std::string;

struct Trade {
  Id trade_id;
  int64_t symbol_id = 0;
  Decimal price;  ///< above zero
  Decimal qty;    ///< above zero
  Id buyer_id;
  Id seller_id;
  bool operator==(const Trade&) const = default;
};

struct OrderUpdate {
  Id order_id;
  Id user_id;
  int64_t symbol_id = 0;
  std::string status;  ///< not empty
  bool operator==(const OrderUpdate&) const = default;
};

struct BalanceEvent {
  Id user_id;
  std::string asset;  ///< not empty
  Decimal delta;
  std::string reason;
  bool operator==(const BalanceEvent&) const = default;
};

struct Output {
  int64_t output_seq = 0;
  std::string input = "{}";  ///< a JSON object, spelled as in the payload
  std::optional<OrderUpdate> order_update;
  std::vector<Trade> trades;
  std::vector<BalanceEvent> balance_events;
  std::optional<ChainHash> prev_hash;  ///< as given; never from a payload
  std::optional<ChainHash> hash;
  bool operator==(const Output&) const = default;

  /// As SymbolOf().
  int64_t symbol_id() const;
  /// The symbols of the trades other than symbol_id(), ascending: the chains that carry the output too (C9).
  std::vector<int64_t> other_symbols() const;
};

/// The first trade's symbol, else the order update's, else 0 (C1). Of an Output, or of Effects.
template <typename Of>
int64_t SymbolOf(const Of& output) {
  if (!output.trades.empty()) return output.trades.front().symbol_id;
  return output.order_update ? output.order_update->symbol_id : 0;
}

/// The highest output_seq: one less than the maximum of int64_t, so that there is always a next one.
inline constexpr int64_t kOutputSeqMax = INT64_MAX - 1;
inline constexpr size_t kTextBytesMax = 256;  ///< of an id, a status, an asset or a reason
inline constexpr size_t kListMax = 10'000;    ///< trades, and balance events, of one output
inline constexpr int kDepthMax = 64;          ///< of `input`

/// The sequence and symbols of a line that is not a valid output.
struct Located {
  int64_t output_seq = 0;
  std::vector<int64_t>
      symbols;  ///< every symbol that it may belong to, by C1 or by its symbol_id; the first is its own
};

struct Effects;  // effects.h

/// Reads outputs; reuse it, because it keeps its memory. One thread at a time.
class OutputParser {
 public:
  OutputParser();
  ~OutputParser();
  /// A line of F2. kBadValue: the message is for people and names the field. An unknown field is an error, as it would
  /// be missing from the log. A given symbol_id must be that of C1; given hashes are for the chain to check.
  Result<Output> Parse(std::string_view line);
  /// Identifies a line that Parse() refuses, if its sequence and all of its symbols can be determined.
  std::optional<Located> Locate(std::string_view line);
  /// The same of its sequence alone.
  std::optional<int64_t> LocateSequence(std::string_view line);
  /// What EncodePayload() made. kRecordDamaged if it is anything else.
  Result<Output> Decode(std::string_view payload);
  /// The effects of the same. They point into the payload or, if it is spelled in a way that few are, into `room`,
  /// which is made for them and null otherwise.
  Result<Effects> DecodeEffects(std::string_view payload, std::shared_ptr<const Output>& room);

 private:
  struct Parser;
  Result<Output> DecodeAny(std::string_view payload);
  std::unique_ptr<Parser> parser_;
};

/// The payload as described above.
std::string EncodePayload(const Output& output);

/// The output_data of C1, what the engine made of the input: {"order_update":…,"trades":…,"balance_events":…}, each as
/// in the payload.
std::string EncodeOutputData(const Output& output);

/// The record that is appended to the output's chains.
ChainRecord ToRecord(const Output& output);

/// The output as a line of F2 without its end, with the hashes it has.
std::string ToJson(const Output& output);

}  // namespace braid::settlement
