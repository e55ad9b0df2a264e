// Sums of decimals without rounding, of any length that outputs can make: a balance is exact.
#pragma once

#include <bson/bson.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "braid/status.h"
#include "client/documents.h"

namespace braid::settlement::views {

/// A multiple of 10^-34. Deltas have at most 34 digits, and an int64_t counts all that there can be of them, so that a
/// sum has at most 34 digits behind the point and 53 before it: 384 bits hold any.
class Amount {
 public:
  Amount() = default;
  /// "-12.50": digits with an optional point, as of a Decimal. kBadValue if it is anything else.
  static Result<Amount> Parse(std::string_view text);
  /// As AppendTo() writes it. kOverflow if it is no number, or one that no sum of outputs can be.
  static Result<Amount> Read(const bson_t& document, const char* field);

  Amount& operator+=(const Amount& other);
  bool operator==(const Amount&) const = default;

  /// All digits, with a point if needed and no exponent.
  std::string ToString() const;
  /// One spelling for each value, so that equal balances are equal bytes: a Decimal128 if that has it exactly, with no
  /// zeros at the end of a fraction, no exponent for an integer of up to 34 digits and no negative zero; else a string
  /// as of ToString().
  void AppendTo(client::Documents& fields, std::string_view name) const;

 private:
  static constexpr size_t kWords = 6;
  using Words = std::array<uint64_t, kWords>;
  __extension__ typedef unsigned __int128 Wide;

  static bool Multiply(Words& words, uint64_t factor);
  static bool Scale(Words& words, int power);
  static std::string DigitsOf(Words words);
  static Result<Amount> FromDecimal(const bson_decimal128_t& value);
  static Amount Of(const Words& size, bool negative);
  bool negative() const { return words_.back() >> 63 != 0; }
  void Negate();
  Words Size() const;

  Words words_{};  // two's complement, the lowest first
};

}  // namespace braid::settlement::views
