// Numbers in keys, as key_bytes.h draws them.
#include "engine/bson/key_bytes.h"

#include <bit>
#include <cmath>

#include "base/assert.h"
#include "engine/bson/decimal.h"

namespace braid::bson::key {
namespace {

constexpr uint8_t kNaN = kNumber, kZero = kNumber + 11;
// Distance of a class from kZero: plus for positive numbers, minus for negative ones. Near of n bytes is kClose + n.
constexpr int kClose = 1, kFar = 10;
constexpr double kTwoTo53 = 9007199254740992.0, kTwoTo63 = 9223372036854775808.0;
constexpr size_t kDecimalBytes = 17;

/// A number being written: its magnitude goes through here, so that a negative one is inverted.
class Magnitude {
 public:
  Magnitude(std::string* out, bool negative, int distance) : out_(out), invert_(negative ? ~uint64_t{0} : 0) {
    Put(out, static_cast<uint8_t>(negative ? kZero - distance : kZero + distance));
  }
  void Add(uint64_t v, int bytes) { PutBigEndian(out_, v ^ invert_, static_cast<size_t>(bytes)); }
  void AddDecimal(Decimal128 v) {
    const decimal::Scaled scaled = decimal::Scale(v);
    Add(static_cast<uint64_t>(scaled.exponent + 32768), 2);
    Add(scaled.high, 7);
    Add(scaled.low, 8);
  }

 private:
  std::string* out_;
  uint64_t invert_;
};

/// How many bytes I << 1 | f takes: 1 … 8.
int BytesOf(uint64_t integer) { return (std::bit_width(integer << 1) + 7) / 8; }

/// 1 <= integer < 2^63, nothing after the point.
void PutInteger(std::string* out, bool negative, uint64_t integer) {
  const int bytes = BytesOf(integer);
  Magnitude(out, negative, kClose + bytes).Add(integer << 1, bytes);
}

void PutInt64(std::string* out, int64_t v) {
  if (v == 0) return Put(out, kZero);
  if (v == INT64_MIN) {
    Magnitude(out, true, kFar).Add(0, 8);  // -2^63
    return;
  }
  PutInteger(out, v < 0, static_cast<uint64_t>(v < 0 ? -v : v));
}

/// `magnitude` > 0 is exact, or, if there is a `rest`, the greatest double below that decimal's magnitude.
void PutDouble(std::string* out, bool negative, double magnitude, const Decimal128* rest) {
  const uint64_t more = rest != nullptr ? 1 : 0;
  if (magnitude < 1) {
    Magnitude writer(out, negative, kClose);
    writer.Add(std::bit_cast<uint64_t>(magnitude) << 1 | more, 8);
    if (rest != nullptr) writer.AddDecimal(*rest);
    return;
  }
  if (magnitude >= kTwoTo63) {
    Magnitude writer(out, negative, kFar);
    writer.Add((std::bit_cast<uint64_t>(magnitude) - std::bit_cast<uint64_t>(kTwoTo63)) << 1 | more, 8);
    if (rest != nullptr) writer.AddDecimal(*rest);
    return;
  }
  const auto integer = static_cast<uint64_t>(magnitude);
  const double fraction = magnitude - static_cast<double>(integer);
  if (fraction == 0 && rest == nullptr) return PutInteger(out, negative, integer);
  const int bytes = BytesOf(integer);
  Magnitude writer(out, negative, kClose + bytes);
  writer.Add(integer << 1 | 1, bytes);
  if (bytes < 8) {
    const auto first_bits = static_cast<uint64_t>(std::ldexp(fraction, 63 - 8 * bytes));
    writer.Add(first_bits << 1 | more, 8 - bytes);
  }
  if (rest != nullptr) writer.AddDecimal(*rest);
}

void PutDecimal(std::string* out, Decimal128 v) {
  if (decimal::IsNaN(v)) return Put(out, kNaN);
  if (const auto integer = decimal::ToInt64Exact(v)) return PutInt64(out, *integer);
  const bool negative = decimal::IsNegative(v);
  const Decimal128 magnitude = decimal::Abs(v);
  bool exact;
  const double below = decimal::ToDoubleTowardZero(magnitude, &exact);
  if (exact || below < kTwoTo53 || below >= kTwoTo63)
    return PutDouble(out, negative, below, exact ? nullptr : &magnitude);
  // From 2^53 to 2^63 the double has lost digits before the point, and no double has any after it.
  const auto integer = static_cast<uint64_t>(decimal::ToInt64(magnitude, decimal::Rounding::kTowardZero).value());
  const int bytes = BytesOf(integer);
  Magnitude writer(out, negative, kClose + bytes);
  writer.Add(integer << 1 | 1, bytes);
  if (bytes < 8) writer.Add(1, 8 - bytes);
  writer.AddDecimal(magnitude);
}

}  // namespace

void PutNumber(std::string* out, const Value& number) {
  switch (number.type()) {
    case Type::kInt32: return PutInt64(out, number.AsInt32());
    case Type::kInt64: return PutInt64(out, number.AsInt64());
    case Type::kDouble: {
      const double v = number.AsDouble();
      if (v == 0) return Put(out, kZero);
      if (std::isnan(v)) return Put(out, kNaN);
      return PutDouble(out, v < 0, std::fabs(v), nullptr);
    }
    default: return PutDecimal(out, number.AsDecimal());
  }
}

size_t NumberSize(std::string_view key, uint8_t mask) {
  const uint8_t type = static_cast<uint8_t>(key[0]) ^ mask;
  if (type == kNaN || type == kZero) return 1;
  const int distance = type > kZero ? type - kZero : kZero - type;
  const uint8_t invert = type < kZero ? mask ^ 0xff : mask;
  const auto low_bit = [&](size_t at) {
    BRAID_ASSERT(at < key.size());
    return ((static_cast<uint8_t>(key[at]) ^ invert) & 1) != 0;
  };
  if (distance == kClose || distance == kFar) return 9 + (low_bit(8) ? kDecimalBytes : 0);
  const auto bytes = static_cast<size_t>(distance - kClose);
  if (!low_bit(bytes)) return 1 + bytes;
  return 9 + (low_bit(8) ? kDecimalBytes : 0);  // of 8 bytes, the low bit is f itself, and a decimal follows
}

}  // namespace braid::bson::key
