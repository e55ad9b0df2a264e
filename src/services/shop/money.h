// Money: exact amounts. A Decimal128 in documents, a string in JSON.
#pragma once

#include <bson/bson.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "braid/status.h"

namespace braid::shop {

/// A finite decimal of at most 34 digits. Keeps the digits behind the point that it was given ("199.90" × 2 is
/// "399.80"). Nothing is rounded: an amount that does not fit is refused.
class Money {
 public:
  /// 0.
  Money();
  /// From a Decimal128 of a document. The value must be finite: see FromDocument().
  explicit Money(const bson_decimal128_t& value) : value_(value) {}

  /// Digits with perhaps a point and digits behind it, such as "0.25"; never below zero. Refused::kBadPrice.
  static Result<Money> Parse(std::string_view text);
  /// The field of a stored document; kBadValue if it is not a finite Decimal128.
  static Result<Money> FromDocument(const bson_t* document, const char* path);

  /// Refused::kInexactAmount if the result has more than 34 digits.
  Result<Money> Plus(const Money& other) const;
  Result<Money> Times(int64_t count) const;

  /// Without an exponent: "0.0000001".
  std::string ToString() const;
  const bson_decimal128_t& value() const { return value_; }

  /// Equal numbers are equal whatever their spelling: 1.0 is 1.00.
  bool operator==(const Money& other) const;
  bool operator<(const Money& other) const;

 private:
  bson_decimal128_t value_;
};

}  // namespace braid::shop
