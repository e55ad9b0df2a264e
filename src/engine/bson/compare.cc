#include "engine/bson/compare.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "engine/bson/collation.h"
#include "engine/bson/decimal.h"
#include "engine/bson/number.h"

namespace braid::bson {
namespace {

template <typename T>
int Order(T a, T b) {
  return static_cast<int>(a > b) - static_cast<int>(a < b);
}

int CompareBytes(std::string_view a, std::string_view b) {
  const int order = std::memcmp(a.data(), b.data(), std::min(a.size(), b.size()));
  return order != 0 ? order : Order(a.size(), b.size());
}

int CompareDoubles(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(b)) - static_cast<int>(std::isnan(a));
  return Order(a, b);
}

/// Exact: compares the integer parts first, then the fraction of the double.
int CompareInt64Double(int64_t a, double b) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  if (std::isnan(b)) return 1;
  if (b >= kTwoTo63) return -1;
  if (b < -kTwoTo63) return 1;
  const int64_t whole = static_cast<int64_t>(b);
  if (a != whole) return Order(a, whole);
  return Order(0.0, b - static_cast<double>(whole));
}

int CompareNumbers(const Value& a, const Value& b) {
  const Type left = a.type(), right = b.type();
  if (left == Type::kDecimal128) {
    if (right == Type::kDecimal128) return decimal::Compare(a.AsDecimal(), b.AsDecimal());
    if (right == Type::kDouble) return decimal::CompareDouble(a.AsDecimal(), b.AsDouble());
    return decimal::Compare(a.AsDecimal(), decimal::FromInt64(Number::Of(b).AsInteger()));
  }
  if (right == Type::kDecimal128) return -CompareNumbers(b, a);
  if (left == Type::kDouble) {
    if (right == Type::kDouble) return CompareDoubles(a.AsDouble(), b.AsDouble());
    return -CompareInt64Double(right == Type::kInt32 ? b.AsInt32() : b.AsInt64(), a.AsDouble());
  }
  const int64_t integer = left == Type::kInt32 ? a.AsInt32() : a.AsInt64();
  if (right == Type::kDouble) return CompareInt64Double(integer, b.AsDouble());
  return Order(integer, right == Type::kInt32 ? int64_t{b.AsInt32()} : b.AsInt64());
}

int CompareStrings(std::string_view a, std::string_view b, const Collation* collation) {
  return collation != nullptr ? collation->Compare(a, b) : CompareBytes(a, b);
}

/// Length, then subtype, then bytes.
int CompareBinaries(const Binary& a, const Binary& b) {
  if (a.bytes.size() != b.bytes.size()) return Order(a.bytes.size(), b.bytes.size());
  if (a.subtype != b.subtype) return Order(a.subtype, b.subtype);
  return CompareBytes(a.bytes, b.bytes);
}

int CompareFields(View a, View b, const Collation* collation, bool names) {
  auto left = a.begin(), left_end = a.end();
  auto right = b.begin(), right_end = b.end();
  for (; left != left_end && right != right_end; ++left, ++right) {
    const Value& x = left->value;
    const Value& y = right->value;
    if (x.type() != y.type()) {
      if (const int order = Order(CanonicalType(x.type()), CanonicalType(y.type())); order != 0) return order;
    }
    if (names) {
      if (const int order = CompareBytes(left->name, right->name); order != 0) return order;
    }
    if (const int order = Compare(x, y, collation); order != 0) return order;
  }
  return static_cast<int>(left != left_end) - static_cast<int>(right != right_end);
}

/// Both are of one canonical type that is neither number nor string nor document.
int CompareOthers(const Value& a, const Value& b, const Collation* collation) {
  switch (a.type()) {
    case Type::kBinary: return CompareBinaries(a.AsBinary(), b.AsBinary());
    case Type::kObjectId: return CompareBytes(a.AsObjectId(), b.AsObjectId());
    case Type::kBool: return Order(a.AsBool(), b.AsBool());
    case Type::kDate: return Order(a.AsDate(), b.AsDate());
    case Type::kTimestamp: return Order(a.AsTimestamp(), b.AsTimestamp());
    case Type::kRegex: {
      const Regex left = a.AsRegex(), right = b.AsRegex();
      const int order = CompareBytes(left.pattern, right.pattern);
      return order != 0 ? order : CompareBytes(left.options, right.options);
    }
    case Type::kDbPointer: {
      if (a.bytes().size() != b.bytes().size()) return Order(a.bytes().size(), b.bytes().size());
      return CompareBytes(a.bytes(), b.bytes());
    }
    case Type::kCode: return CompareBytes(a.AsString(), b.AsString());
    case Type::kCodeWScope: {
      const int order = CompareBytes(a.AsCodeOfScope(), b.AsCodeOfScope());
      return order != 0 ? order : Compare(a.AsScope(), b.AsScope(), collation);
    }
    default: return 0;  // MinKey, undefined, null, MaxKey: one value each
  }
}

uint64_t Mix(uint64_t v) {
  v = (v ^ (v >> 32)) * 0xd6e8feb86659fd93;
  v = (v ^ (v >> 32)) * 0xd6e8feb86659fd93;
  return v ^ (v >> 32);
}

/// The integer if it is one, else the nearest double: a decimal that equals a double has that double nearest.
uint64_t HashNumber(const Number& number) {
  if (const auto integer = number.ToInt64Exact()) return Mix(static_cast<uint64_t>(*integer));
  return number.IsNaN() ? 1 : Mix(std::bit_cast<uint64_t>(number.ToDouble()) + 1);
}

uint64_t HashBytes(std::string_view bytes) { return std::hash<std::string_view>()(bytes); }

uint64_t HashFields(View fields, const Collation* collation, bool names) {
  uint64_t hash = names ? 3 : 4;
  for (const Element& element : fields) {
    if (names) hash = Mix(hash ^ HashBytes(element.name));
    hash = Mix(hash * 31 + HashOf(element.value, collation));
  }
  return hash;
}

}  // namespace

int CanonicalType(Type type) {
  switch (type) {
    case Type::kMinKey: return -1;
    case Type::kMissing:
    case Type::kUndefined: return 0;
    case Type::kNull: return 5;
    case Type::kDouble:
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDecimal128: return 10;
    case Type::kString:
    case Type::kSymbol: return 15;
    case Type::kObject: return 20;
    case Type::kArray: return 25;
    case Type::kBinary: return 30;
    case Type::kObjectId: return 35;
    case Type::kBool: return 40;
    case Type::kDate: return 45;
    case Type::kTimestamp: return 47;
    case Type::kRegex: return 50;
    case Type::kDbPointer: return 55;
    case Type::kCode: return 60;
    case Type::kCodeWScope: return 65;
    case Type::kMaxKey: return 127;
  }
  return 127;
}

int Compare(const Value& a, const Value& b, const Collation* collation) {
  if (a.type() != b.type()) {
    const int left = CanonicalType(a.type()), right = CanonicalType(b.type());
    if (left != right) return Order(left, right);
  }
  switch (a.type()) {
    case Type::kDouble:
    case Type::kInt32:
    case Type::kInt64:
    case Type::kDecimal128: return CompareNumbers(a, b);
    case Type::kString:
    case Type::kSymbol: return CompareStrings(a.AsString(), b.AsString(), collation);
    case Type::kObject: return CompareFields(a.AsView(), b.AsView(), collation, true);
    case Type::kArray: return CompareFields(a.AsView(), b.AsView(), collation, false);
    default: return CompareOthers(a, b, collation);
  }
}

int Compare(View a, View b, const Collation* collation) { return CompareFields(a, b, collation, true); }

size_t HashOf(const Value& value, const Collation* collation) {
  switch (value.type()) {
    case Type::kInt32: return Mix(static_cast<uint64_t>(int64_t{value.AsInt32()}));
    case Type::kInt64: return Mix(static_cast<uint64_t>(value.AsInt64()));
    case Type::kDouble:
    case Type::kDecimal128: return HashNumber(Number::Of(value));
    case Type::kString:
    case Type::kSymbol:
      return HashBytes(collation != nullptr ? collation->SortKey(value.AsString()) : value.AsString());
    case Type::kObject: return HashFields(value.AsView(), collation, true);
    case Type::kArray: return HashFields(value.AsView(), collation, false);
    case Type::kCodeWScope: return Mix(HashBytes(value.AsCodeOfScope()) + HashFields(value.AsScope(), collation, true));
    default: return Mix(HashBytes(value.bytes()) + static_cast<uint64_t>(CanonicalType(value.type())));
  }
}

}  // namespace braid::bson
