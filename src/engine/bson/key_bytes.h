// The bytes of the key encoding: the first byte of each encoded value, how bytes are written, and the form of numbers.
// For the files of the key encoding only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/bson/value.h"

namespace braid::bson::key {

/// In the order of the types. None is 00 or ff, nor is its inverse, so that kBelowAll and kAboveAll are outside.
enum TypeByte : uint8_t {
  kEnd = 0x00,  // not a value: ends an object or array, below every value
  kMinKey = 0x04,
  kUndefined = 0x08,
  kNull = 0x0c,
  kNumber = 0x10,  // 0x10 … 0x2f: see IsNumber() below
  kNumberLast = 0x2f,
  kString = 0x30,
  kObject = 0x34,
  kArray = 0x38,
  kBinary = 0x3c,
  kObjectId = 0x40,
  kBool = 0x44,
  kDate = 0x48,
  kTimestamp = 0x4c,
  kRegex = 0x50,
  kDbPointer = 0x54,
  kCode = 0x58,
  kCodeWScope = 0x5c,
  kMaxKey = 0xf0,
};

/// The byte of a type; kNumber for every kind of number.
constexpr uint8_t ByteOf(Type type) {
  switch (type) {
    case Type::kMinKey: return kMinKey;
    case Type::kMissing:
    case Type::kUndefined: return kUndefined;
    case Type::kNull: return kNull;
    case Type::kDouble:
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDecimal128: return kNumber;
    case Type::kString:
    case Type::kSymbol: return kString;
    case Type::kObject: return kObject;
    case Type::kArray: return kArray;
    case Type::kBinary: return kBinary;
    case Type::kObjectId: return kObjectId;
    case Type::kBool: return kBool;
    case Type::kDate: return kDate;
    case Type::kTimestamp: return kTimestamp;
    case Type::kRegex: return kRegex;
    case Type::kDbPointer: return kDbPointer;
    case Type::kCode: return kCode;
    case Type::kCodeWScope: return kCodeWScope;
    case Type::kMaxKey: return kMaxKey;
  }
  return kMaxKey;
}

inline void Put(std::string* out, uint8_t byte) { out->push_back(static_cast<char>(byte)); }

/// The lowest `bytes` bytes of v, the highest of them first.
inline void PutBigEndian(std::string* out, uint64_t v, size_t bytes) {
  const uint64_t swapped = __builtin_bswap64(v);
  out->append(reinterpret_cast<const char*>(&swapped) + sizeof(swapped) - bytes, bytes);
}

// Numbers: one exact form per value, whatever its type; common values are short.
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

constexpr bool IsNumber(uint8_t first_byte) { return first_byte >= kNumber && first_byte <= kNumberLast; }

/// Appends the number with its class.
void PutNumber(std::string* out, const Value& number);

/// The size of the number at the start of `key`, whose bytes are inverted if `mask` is ff.
size_t NumberSize(std::string_view key, uint8_t mask);

}  // namespace braid::bson::key
