// Random BSON values of every type for property tests, with edge cases far more often than by chance.
#pragma once

#include <cmath>
#include <iterator>
#include <limits>
#include <string>

#include "base/random.h"
#include "engine/bson/builder.h"
#include "engine/bson/decimal.h"

namespace braid::bson {

class RandomValue {
 public:
  /// kAnyBits: also decimals whose bits no arithmetic makes; they count as 0, but libbson prints them otherwise.
  enum class Decimals { kCanonical, kAnyBits };
  explicit RandomValue(Random& random, Decimals decimals = Decimals::kAnyBits) : random_(random), decimals_(decimals) {}

  /// Any type but missing.
  OwnedValue Any(int depth = 3) {
    Builder builder;
    AppendAny(builder, "v", depth);
    return OwnedValue(builder.Finish().Find("v"));
  }
  OwnedValue Number() {
    Builder builder;
    AppendNumber(builder, "v");
    return OwnedValue(builder.Finish().Find("v"));
  }
  OwnedValue String() { return OwnedValue(Make("v", Text()).Find("v")); }

 private:
  void AppendAny(Builder& out, std::string_view name, int depth) {
    switch (random_.Below(depth > 0 ? 21 : 18)) {
      case 0: out.Append(name, MinKey()); break;
      case 1: out.Append(name, MaxKey()); break;
      case 2: out.Append(name, Null()); break;
      case 3: out.Append(name, Value(Type::kUndefined, "", 0)); break;
      case 4: out.Append(name, random_.Chance(1, 2)); break;
      case 5: out.Append(name, Date{Integer()}); break;
      case 6: out.Append(name, Timestamp{static_cast<uint64_t>(Integer())}); break;
      case 7: out.Append(name, Id()); break;
      case 8:
        out.Append(name, Binary{static_cast<uint8_t>(random_.Below(3)), Bytes(random_.Chance(1, 30) ? 300 : 3)});
        break;
      case 9: out.Append(name, Regex{Name(), Options()}); break;
      case 10: AppendStringLike(out, Type::kCode, name); break;
      case 11: AppendStringLike(out, Type::kSymbol, name); break;
      case 12: AppendDbPointer(out, name); break;
      case 13: AppendCodeWithScope(out, name, depth - 1); break;
      case 14:
      case 15: out.Append(name, Text()); break;
      case 16:
      case 17: AppendNumber(out, name); break;
      case 18:
        out.OpenArray(name);
        for (uint64_t i = 0, n = random_.Below(4); i < n; ++i) AppendAny(out, std::to_string(i), depth - 1);
        out.Close();
        break;
      default:
        out.OpenObject(name);
        for (uint64_t n = random_.Below(4); n > 0; --n) AppendAny(out, Name(), depth - 1);
        out.Close();
        break;
    }
  }

  void AppendNumber(Builder& out, std::string_view name) {
    switch (random_.Below(4)) {
      case 0: out.Append(name, static_cast<int32_t>(Integer())); break;
      case 1: out.Append(name, Integer()); break;
      case 2: out.Append(name, Double()); break;
      default: out.Append(name, Decimal()); break;
    }
  }

  int64_t Integer() {
    switch (random_.Below(4)) {
      case 0: return static_cast<int64_t>(random_.Below(7)) - 3;
      case 1: return static_cast<int64_t>(random_.Next());
      case 2: return static_cast<int64_t>(random_.Next()) >> random_.Below(64);
      default: {  // next to a power of two
        const uint64_t sum = (uint64_t{1} << random_.Below(64)) + random_.Below(5) - 2;
        return static_cast<int64_t>(random_.Chance(1, 2) ? sum : -sum);
      }
    }
  }

  double Double() {
    static constexpr double kNasty[] = {0.0,
                                        -0.0,
                                        0.1,
                                        -0.1,
                                        0.5,
                                        1.5,
                                        2.5,
                                        9007199254740992.0,
                                        9007199254740994.0,
                                        9223372036854775808.0,
                                        -9223372036854775808.0,
                                        9223372036854774784.0,
                                        18446744073709551616.0,
                                        1e308,
                                        -1e308,
                                        1e22,
                                        1e23,
                                        5e-324,
                                        2.2250738585072014e-308,
                                        std::numeric_limits<double>::max(),
                                        std::numeric_limits<double>::infinity(),
                                        -std::numeric_limits<double>::infinity(),
                                        std::numeric_limits<double>::quiet_NaN()};
    switch (random_.Below(5)) {
      case 0: return kNasty[random_.Below(std::size(kNasty))];
      case 1: return static_cast<double>(Integer());
      case 2: return static_cast<double>(Integer()) / static_cast<double>(1 + random_.Below(64));
      case 3: return std::nextafter(static_cast<double>(Integer()), random_.Chance(1, 2) ? 1e300 : -1e300);
      default: return std::bit_cast<double>(random_.Next());  // any exponent
    }
  }

  Decimal128 Decimal() {
    static constexpr const char* kNasty[] = {"0",
                                             "-0",
                                             "0E+6111",
                                             "0.1",
                                             "-0.1",
                                             "0.10",
                                             "1",
                                             "1.0",
                                             "1E+3",
                                             "1000",
                                             "9007199254740993",
                                             "9007199254740993.5",
                                             "9223372036854775807.5",
                                             "9223372036854775808",
                                             "-9223372036854775808",
                                             "-9223372036854775808.5",
                                             "9.999999999999999999999999999999999E+6144",
                                             "1E-6176",
                                             "-1E-6176",
                                             "1E+308",
                                             "1.797693134862315708145274237317044E+308",
                                             "4.9E-324",
                                             "1E-400",
                                             "1E+400",
                                             "1234567890123456789012345678901234",
                                             "0.5",
                                             "2.5",
                                             "1E+22",
                                             "1E+23",
                                             "0.1000000000000000055511151231257827",
                                             "NaN",
                                             "Infinity",
                                             "-Infinity",
                                             "36028797018963967.25",
                                             "36028797018963968.25",
                                             "255.5",
                                             "127.999999999999999999"};
    switch (random_.Below(5)) {
      case 0: return *decimal::FromString(kNasty[random_.Below(std::size(kNasty))]);
      case 1: return decimal::FromInt64(Integer());
      case 2: return decimal::FromDouble(Double());
      case 3:
        return decimal::Divide(decimal::FromInt64(Integer()),
                               decimal::FromInt64(1 + static_cast<int64_t>(random_.Below(64))));
      default: {
        const Decimal128 bits{random_.Next(), random_.Next()};
        return decimals_ == Decimals::kAnyBits ? bits : decimal::Add(bits, {0, 0});
      }
    }
  }

  std::string Bytes(uint64_t size_max) {
    std::string out;
    for (uint64_t n = random_.Below(size_max + 1); n > 0; --n) {
      static constexpr char kBytes[] = {0, 1, 2, 'a', 'b', 'A', '\x7f', '\x80', '\xff'};
      out.push_back(kBytes[random_.Below(sizeof(kBytes))]);
    }
    return out;
  }
  std::string Text() {
    static constexpr std::string_view kParts[] = {"a", "A", "b", "B", "é",  "e",    "10",  "9",
                                                  " ", "-", "ß", "ö", "日", "\x01", "\x02"};
    if (random_.Chance(1, 3)) return Bytes(5);
    std::string out;
    for (uint64_t n = random_.Below(5); n > 0; --n) out += kParts[random_.Below(std::size(kParts))];
    return out;
  }
  std::string Name() {
    static constexpr std::string_view kNames[] = {"", "a", "b", "aa", "ab", "\x01", "é"};
    return std::string(kNames[random_.Below(std::size(kNames))]);
  }
  std::string Options() {
    static constexpr std::string_view kOptions[] = {"", "i", "im", "x"};
    return std::string(kOptions[random_.Below(std::size(kOptions))]);
  }
  ObjectId Id() {
    ObjectId id = {};
    id.bytes[random_.Below(12)] = static_cast<char>(random_.Next());
    return id;
  }

  void AppendStringLike(Builder& out, Type type, std::string_view name) {
    const OwnedValue text = String();
    out.Append(name, Value(type, text.value().bytes().data(), static_cast<uint32_t>(text.value().bytes().size())));
  }
  void AppendDbPointer(Builder& out, std::string_view name) {
    const ObjectId id = Id();
    const std::string bytes = std::string(Make("v", Name()).Find("v").bytes()) + std::string(id.bytes, 12);
    out.Append(name, Value(Type::kDbPointer, bytes.data(), static_cast<uint32_t>(bytes.size())));
  }
  void AppendCodeWithScope(Builder& out, std::string_view name, int depth) {
    Builder scope;
    if (depth > 0 && random_.Chance(1, 2)) AppendAny(scope, Name(), depth - 1);
    std::string bytes = std::string(4, '\0') + std::string(String().value().bytes()) + scope.Finish().bytes();
    const auto size = static_cast<uint32_t>(bytes.size());
    std::memcpy(bytes.data(), &size, 4);
    out.Append(name, Value(Type::kCodeWScope, bytes.data(), size));
  }

  Random& random_;
  const Decimals decimals_;
};

}  // namespace braid::bson
