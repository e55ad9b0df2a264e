// Numbers in keys: one exact form per value, whatever its type; common values are short. For the key encoding only.
//
//   class  +  magnitude, inverted if negative
//
//   class (one byte, kNumber +)       magnitude
//    0        NaN                      nothing
//    1        <= -2^63, -Infinity      far
//    2 … 9    integer part 8 … 1 bytes near
//    10       between -1 and 0         close
//    11       0                        nothing
//    12       between 0 and 1          close
//    13 … 20  integer part 1 … 8 bytes near
//    21       >= 2^63, Infinity        far
//
//   near of n bytes:  I << 1 | f  (n bytes)  [ F << 1 | m  (8 - n bytes) ]  [ decimal ]
//                     I the integer part, f whether anything follows, F the first bits of the fraction; if n is 8, F is
//                     left out and a decimal always follows f
//   close:            bits << 1 | m  (8 bytes)  [ decimal ]     bits: of the greatest double not above the magnitude
//   far:              (bits - those of 2^63) << 1 | m  (8 bytes)  [ decimal ]
//   decimal, if m:    exponent + 32768 (2 bytes), 34 digits as an integer (15 bytes); see decimal::Scale
//
// Doubles and integers never need the decimal: with n bytes of I, the 53 bits of a double leave no more than 61 - 8n
// for its fraction. So an int takes 2 to 9 bytes, a double at most 9, a decimal that is no double at most 26.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/bson/key_bytes.h"
#include "engine/bson/value.h"

namespace braid::bson::key {

constexpr bool IsNumber(uint8_t first_byte) { return first_byte >= kNumber && first_byte <= kNumberLast; }

/// Appends the number with its class.
void PutNumber(std::string* out, const Value& number);

/// The size of the number at the start of `key`, whose bytes are inverted if `mask` is ff.
size_t NumberSize(std::string_view key, uint8_t mask);

}  // namespace braid::bson::key
