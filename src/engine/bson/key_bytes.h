// The first byte of each encoded value, and how bytes are written. For the files of the key encoding only.
#pragma once

#include <cstdint>
#include <string>

#include "engine/bson/value.h"

namespace braid::bson::key {

/// In the order of the types. None is 00 or ff, nor is its inverse, so that kBelowAll and kAboveAll are outside.
enum TypeByte : uint8_t {
  kEnd = 0x00,  // not a value: ends an object or array, below every value
  kMinKey = 0x04,
  kUndefined = 0x08,
  kNull = 0x0c,
  kNumber = 0x10,  // 0x10 … 0x2f: key_number.h
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

}  // namespace braid::bson::key
