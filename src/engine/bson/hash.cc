#include "engine/bson/hash.h"

#include <openssl/evp.h>

#include <cmath>
#include <limits>

#include "engine/bson/compare.h"
#include "engine/bson/decimal.h"

namespace braid::bson {
namespace {

/// An MD5 in progress.
class Md5 {
 public:
  Md5() : context_(EVP_MD_CTX_new()) {
    static const EVP_MD* const kMd5 = EVP_MD_fetch(nullptr, "MD5", nullptr);
    BRAID_ASSERT(kMd5 != nullptr && context_ != nullptr && EVP_DigestInit_ex2(context_, kMd5, nullptr) == 1);
  }
  Md5(const Md5&) = delete;
  Md5& operator=(const Md5&) = delete;
  ~Md5() { EVP_MD_CTX_free(context_); }

  void Add(std::string_view bytes) { BRAID_ASSERT(EVP_DigestUpdate(context_, bytes.data(), bytes.size()) == 1); }
  template <typename T>
  void AddInteger(T v) {
    Add({reinterpret_cast<const char*>(&v), sizeof(v)});
  }
  int64_t First64() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    BRAID_ASSERT(EVP_DigestFinal_ex(context_, digest, nullptr) == 1);
    return Load<int64_t>(reinterpret_cast<const char*>(digest));
  }

 private:
  EVP_MD_CTX* context_;
};

/// The integer that stands for a number: truncated for doubles, rounded half-even for decimals, clamped, NaN 0. The
/// double 2^63 wraps around to the smallest integer, as in MongoDB.
int64_t IntegerOf(const Value& number) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
  constexpr double kTwoTo63 = 9223372036854775808.0;
  switch (number.type()) {
    case Type::kInt32: return number.AsInt32();
    case Type::kInt64: return number.AsInt64();
    case Type::kDouble: {
      const double v = number.AsDouble();
      if (std::isnan(v)) return 0;
      if (v > kTwoTo63) return kMax;
      return v == kTwoTo63 || v < -kTwoTo63 ? kMin : static_cast<int64_t>(v);
    }
    default: {
      const Decimal128 v = number.AsDecimal();
      if (decimal::IsNaN(v)) return 0;
      return decimal::ToInt64(v, decimal::Rounding::kHalfEven).value_or(decimal::IsNegative(v) ? kMin : kMax);
    }
  }
}

void AddValue(Md5& md5, const Value& value, const std::string_view* name);

void AddFields(Md5& md5, View fields) {
  for (const Element& element : fields) AddValue(md5, element.value, &element.name);
  md5.AddInteger(int32_t{0});
}

void AddValue(Md5& md5, const Value& value, const std::string_view* name) {
  md5.AddInteger(int32_t{CanonicalType(value.type())});
  if (name != nullptr) md5.Add({name->data(), name->size() + 1});  // with its terminator
  if (value.IsNumber()) {
    md5.AddInteger(IntegerOf(value));
  } else if (value.Is(Type::kObject) || value.Is(Type::kArray)) {
    AddFields(md5, value.AsView());
  } else if (value.Is(Type::kCodeWScope)) {
    const std::string_view code = value.AsCodeOfScope();
    md5.Add({code.data(), code.size() + 1});
    AddFields(md5, value.AsScope());
  } else {
    md5.Add(value.bytes());
  }
}

/// The integers that equal numbers of any type may be hashed as: one, or what rounding down and up gives.
std::vector<int64_t> IntegersOf(const Value& number) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min(), kMax = std::numeric_limits<int64_t>::max();
  if (number.Is(Type::kInt32) || number.Is(Type::kInt64)) return {IntegerOf(number)};
  const Decimal128 v = number.Is(Type::kDouble) ? decimal::FromDouble34(number.AsDouble()) : number.AsDecimal();
  if (decimal::IsNaN(v)) return {0};
  const auto down = decimal::ToInt64(v, decimal::Rounding::kDown);
  const auto up = decimal::ToInt64(v, decimal::Rounding::kUp);
  if (!down || !up) return {kMin, kMax};
  return *down == *up ? std::vector<int64_t>{*down} : std::vector<int64_t>{*down, *up};
}

bool HasInexactNumber(const Value& value) {
  if (value.Is(Type::kDouble) || value.Is(Type::kDecimal128)) return IntegersOf(value).size() > 1;
  if (value.Is(Type::kCodeWScope)) return true;
  if (!value.Is(Type::kObject) && !value.Is(Type::kArray)) return false;
  for (const Element& element : value.AsView()) {
    if (HasInexactNumber(element.value)) return true;
  }
  return false;
}

}  // namespace

std::optional<std::vector<int64_t>> HashesOfEqual(const Value& value) {
  if (!value.IsNumber()) {
    if (HasInexactNumber(value)) return std::nullopt;
    return std::vector<int64_t>{MongoHash(value)};
  }
  std::vector<int64_t> hashes;
  for (const int64_t integer : IntegersOf(value)) {
    hashes.push_back(MongoHash(Value(Type::kInt64, reinterpret_cast<const char*>(&integer), sizeof(integer))));
  }
  return hashes;
}

int64_t MongoHash(const Value& value) {
  Md5 md5;
  md5.AddInteger(int32_t{0});  // the seed
  AddValue(md5, value.missing() ? Value(Type::kNull, "", 0) : value, nullptr);
  return md5.First64();
}

}  // namespace braid::bson
