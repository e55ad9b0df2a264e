// Summation: adds numbers of all four types as $add, $sum and $avg do. Doubles are summed with compensation, integers
// exactly, decimals separately; the result has the widest type of the inputs.
#pragma once

#include "engine/bson/number.h"

namespace braid::query {

class Summation {
 public:
  void Add(const bson::Number& number);

  bson::Type type() const { return type_; }  ///< the widest type of the inputs; int32 if there are none
  double ToDouble() const;                   ///< of all but the decimals
  bson::Decimal128 ToDecimal() const;        ///< of everything
  bool FitsInt64() const;
  int64_t ToInt64() const;  ///< only if it fits
  /// In the widest type; integers that do not fit go up to int64 and then to double.
  bson::Value ToValue(bson::Arena& arena) const;

 private:
  void AddDouble(double x);

  bson::Type type_ = bson::Type::kInt32;
  double sum_ = 0;    // rounded, and
  double lost_ = 0;   // what rounding lost
  double plain_ = 0;  // the plain sum, which is the result once there are infinities or NaN
  bson::Decimal128 decimals_ = {0, 0x3040000000000000};  // 0
};

/// The double with all the 34 digits a decimal can hold, not rounded to 15 first.
bson::Decimal128 ExactDecimal(double v);

}  // namespace braid::query
