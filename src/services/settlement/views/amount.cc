#include "services/settlement/views/amount.h"

#include <algorithm>

#include "base/assert.h"
#include "base/strings.h"

namespace braid::settlement::views {
namespace {

constexpr int kScale = 34;                                // digits behind the point
constexpr size_t kDecimalDigits = 34;                     // of a Decimal128
constexpr uint64_t kChunk = 10'000'000'000'000'000'000u;  // 10^19, the largest power of ten that a word has
constexpr int kChunkDigits = 19;
constexpr int kExponentBias = 6176;  // the exponent field of 1E0
constexpr int kExponentShift = 49;
constexpr uint64_t kSignBit = uint64_t{1} << 63;
constexpr uint64_t kSpecialBits = uint64_t{3} << 61;  // both set: infinite, not a number, or more than 34 digits
constexpr uint64_t kCoefficientBits = (uint64_t{1} << kExponentShift) - 1;

uint64_t PowerOfTen(int power) {
  BRAID_ASSERT(power >= 0 && power <= kChunkDigits);
  uint64_t value = 1;
  for (; power > 0; --power) value *= 10;
  return value;
}

Status NoDecimal(std::string_view text) {
  return Status(Code::kBadValue, StrCat("\"", text, "\" is not a decimal such as -0.25"));
}

}  // namespace

// False if it no longer fits; the highest bit is the sign.
bool Amount::Multiply(Words& words, uint64_t factor) {
  Wide carry = 0;
  for (uint64_t& word : words) {
    carry += static_cast<Wide>(word) * factor;
    word = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  return carry == 0 && words.back() >> 63 == 0;
}

bool Amount::Scale(Words& words, int power) {
  BRAID_ASSERT(power >= 0);
  for (; power >= kChunkDigits; power -= kChunkDigits) {
    if (!Multiply(words, kChunk)) return false;
  }
  return Multiply(words, PowerOfTen(power));
}

Amount Amount::Of(const Words& size, bool negative) {
  Amount amount;
  amount.words_ = size;
  if (negative) amount.Negate();
  return amount;
}

void Amount::Negate() {
  bool carry = true;
  for (uint64_t& word : words_) {
    word = ~word + (carry ? 1 : 0);
    carry = carry && word == 0;
  }
}

Amount::Words Amount::Size() const {
  Amount size = *this;
  if (negative()) size.Negate();
  return size.words_;
}

Amount& Amount::operator+=(const Amount& other) {
  Wide carry = 0;
  for (size_t i = 0; i < kWords; ++i) {
    carry += static_cast<Wide>(words_[i]) + other.words_[i];
    words_[i] = static_cast<uint64_t>(carry);
    carry >>= 64;
  }
  return *this;
}

Result<Amount> Amount::Parse(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = negative ? text.substr(1) : text;
  Words words{};
  int fraction = -1;  // digits behind the point; -1 before it
  uint64_t chunk = 0;
  int chunk_digits = 0;
  const auto add_chunk = [&] {
    bool fits = Multiply(words, PowerOfTen(chunk_digits));
    Wide carry = chunk;
    for (size_t i = 0; i < kWords && carry != 0; ++i) {
      carry += words[i];
      words[i] = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
    fits = fits && carry == 0 && words.back() >> 63 == 0;
    chunk = 0;
    chunk_digits = 0;
    return fits;
  };
  for (size_t i = 0; i < digits.size(); ++i) {
    const char c = digits[i];
    if (c == '.' && fraction < 0 && i > 0 && i + 1 < digits.size()) {
      fraction = 0;
      continue;
    }
    if (c < '0' || c > '9' || fraction == kScale) return NoDecimal(text);
    if (fraction >= 0) ++fraction;
    chunk = chunk * 10 + static_cast<uint64_t>(c - '0');
    if (++chunk_digits == kChunkDigits && !add_chunk()) return NoDecimal(text);
  }
  if (digits.empty() || !add_chunk() || !Scale(words, kScale - std::max(fraction, 0))) return NoDecimal(text);
  return Of(words, negative);
}

// A coefficient of 34 digits has at most 113 bits, so that the exponent is always in the same place.
Result<Amount> Amount::FromDecimal(const bson_decimal128_t& value) {
  const int exponent = static_cast<int>((value.high & ~kSignBit) >> kExponentShift) - kExponentBias;
  const bool negative = (value.high & kSignBit) != 0;
  const bool finite = (value.high & kSpecialBits) != kSpecialBits;
  Words words{value.low, value.high & kCoefficientBits};
  if (finite && std::ranges::all_of(words, [](uint64_t word) { return word == 0; })) return Amount();
  if (finite && exponent >= -kScale && exponent <= kScale && Scale(words, kScale + exponent))
    return Of(words, negative);
  char text[BSON_DECIMAL128_STRING];
  bson_decimal128_to_string(&value, text);
  return Status(Code::kOverflow, StrCat(text, " is not a balance that outputs can make"));
}

Result<Amount> Amount::Read(const bson_t& document, const char* field) {
  bson_iter_t found;
  bson_decimal128_t decimal;
  if (!bson_iter_init_find(&found, &document, field)) {
    return Status(Code::kOverflow, StrCat("there is no ", field));
  }
  if (bson_iter_decimal128(&found, &decimal)) return FromDecimal(decimal);
  uint32_t size = 0;
  const char* const text = BSON_ITER_HOLDS_UTF8(&found) ? bson_iter_utf8(&found, &size) : "";
  const Result<Amount> parsed = Parse({text, size});
  return parsed.ok() ? parsed : Status(Code::kOverflow, std::string(parsed.error().message()));
}

// At least kScale + 1 digits, so that there is one before the point.
std::string Amount::DigitsOf(Words words) {
  std::string digits;
  size_t used = kWords;
  for (;;) {
    while (used > 0 && words[used - 1] == 0) --used;
    if (used == 0) break;
    Wide rest = 0;
    for (size_t i = used; i-- > 0;) {
      rest = rest << 64 | words[i];
      words[i] = static_cast<uint64_t>(rest / kChunk);
      rest %= kChunk;
    }
    auto chunk = static_cast<uint64_t>(rest);
    for (int i = 0; i < kChunkDigits; ++i, chunk /= 10) digits += static_cast<char>('0' + chunk % 10);
  }
  digits.resize(std::max<size_t>(digits.size(), kScale + 1), '0');
  while (digits.size() > kScale + 1 && digits.back() == '0') digits.pop_back();
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string Amount::ToString() const {
  std::string text = DigitsOf(Size());
  BRAID_ASSERT(text.size() > kScale);
  text.insert(text.size() - kScale, ".");
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return negative() ? "-" + text : text;
}

void Amount::AppendTo(client::Documents& fields, std::string_view name) const {
  std::string digits = DigitsOf(Size());
  int exponent = -kScale;
  for (; digits.size() > 1 && digits.back() == '0' && (exponent < 0 || digits.size() > kDecimalDigits); ++exponent) {
    digits.pop_back();
  }
  if (digits == "0") exponent = 0;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  if (digits.size() > kDecimalDigits) {
    fields.Text(name, ToString());
    return;
  }
  BRAID_ASSERT(exponent >= -kScale && !digits.empty());
  Wide coefficient = 0;
  for (const char digit : digits) coefficient = coefficient * 10 + static_cast<Wide>(digit - '0');
  bson_decimal128_t value;
  value.low = static_cast<uint64_t>(coefficient);
  value.high = (negative() ? kSignBit : 0) | static_cast<uint64_t>(exponent + kExponentBias) << kExponentShift |
               static_cast<uint64_t>(coefficient >> 64);
  fields.Decimal(name, value);
}

}  // namespace braid::settlement::views
