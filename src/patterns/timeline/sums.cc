#include "patterns/timeline/sums.h"

#include <openssl/evp.h>

#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <memory>

#include "base/assert.h"
#include "base/big_endian.h"
#include "base/strings.h"

namespace braid::timeline {
namespace {

using boost::multiprecision::cpp_int;

constexpr size_t kShortDigits = 17;    // the sum of two such numbers fits into 64 bits
constexpr size_t kDigitsMax = 10'000;  // a longer text is a mistake, and slow to read

// The sign apart from the digits, which have no leading zeros: to Boost these would mean octal.
struct Digits {
  bool negative = false;
  std::string_view digits;
};

std::optional<Digits> DigitsOf(std::string_view text) {
  Digits parsed;
  if (text.starts_with('-')) {
    parsed.negative = true;
    text.remove_prefix(1);
  }
  if (text.empty() || text.size() > kDigitsMax) return std::nullopt;
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size() - 1));
  parsed.digits = text;
  return parsed;
}

int64_t ShortOf(const Digits& parsed) {
  int64_t value = 0;
  for (const char digit : parsed.digits) value = value * 10 + (digit - '0');
  return parsed.negative ? -value : value;
}

cpp_int LongOf(const Digits& parsed) {
  const cpp_int value{std::string(parsed.digits)};
  return parsed.negative ? -value : value;
}

std::optional<std::string> Combine(std::string_view a, std::string_view b, bool subtract) {
  const auto left = DigitsOf(a);
  auto right = DigitsOf(b);
  if (!left || !right) return std::nullopt;
  if (subtract) right->negative = !right->negative;
  if (left->digits.size() <= kShortDigits && right->digits.size() <= kShortDigits) {
    return StrCat(ShortOf(*left) + ShortOf(*right));
  }
  return cpp_int(LongOf(*left) + LongOf(*right)).str();
}

constexpr size_t kHashBytes = 32;
using HashBytes = std::array<uint8_t, kHashBytes>;

// The algorithm is fetched once: to look it up by its name costs more than to hash a short document.
class DigestHasher {
 public:
  DigestHasher() : algorithm_(EVP_MD_fetch(nullptr, "SHA256", nullptr)), context_(EVP_MD_CTX_new()) {
    BRAID_ASSERT(algorithm_ != nullptr && context_ != nullptr);
  }
  void Begin() { BRAID_ASSERT(EVP_DigestInit_ex2(context_.get(), algorithm_.get(), nullptr) == 1); }
  void Add(const void* bytes, size_t size) { BRAID_ASSERT(EVP_DigestUpdate(context_.get(), bytes, size) == 1); }
  void AddNumber(uint64_t number) {
    uint8_t bytes[8];
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<uint8_t>(number >> (56 - 8 * i));
    Add(bytes, sizeof(bytes));
  }
  void AddText(std::string_view text) {
    AddNumber(text.size());
    Add(text.data(), text.size());
  }
  HashBytes End() {
    HashBytes hash;
    BRAID_ASSERT(EVP_DigestFinal_ex(context_.get(), hash.data(), nullptr) == 1);
    return hash;
  }

 private:
  std::unique_ptr<EVP_MD, decltype([](EVP_MD* algorithm) { EVP_MD_free(algorithm); })> algorithm_;
  std::unique_ptr<EVP_MD_CTX, decltype([](EVP_MD_CTX* context) { EVP_MD_CTX_free(context); })> context_;
};

DigestHasher& ThreadHasher() {
  thread_local DigestHasher hasher;
  return hasher;
}

std::string_view ViewOf(const HashBytes& hash) { return {reinterpret_cast<const char*>(hash.data()), hash.size()}; }

uint8_t NibbleOf(char digit) { return static_cast<uint8_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10); }

HashBytes BytesOf(std::string_view hex) {
  HashBytes bytes{};
  if (hex.size() != 2 * kHashBytes || hex.find_first_not_of("0123456789abcdef") != std::string_view::npos) return bytes;
  for (size_t i = 0; i < kHashBytes; ++i) {
    bytes[i] = static_cast<uint8_t>(NibbleOf(hex[2 * i]) << 4 | NibbleOf(hex[2 * i + 1]));
  }
  return bytes;
}

}  // namespace

std::optional<std::string> AddDecimals(std::string_view a, std::string_view b) { return Combine(a, b, false); }

std::optional<std::string> SubtractDecimals(std::string_view a, std::string_view b) { return Combine(a, b, true); }

void DocumentSum::Add(std::string_view collection, const bson_t& document) {
  DigestHasher& hasher = ThreadHasher();
  hasher.Begin();
  hasher.AddText(collection);
  hasher.Add(bson_get_data(&document), document.len);
  const HashBytes hash = hasher.End();
  uint64_t carry = 0;
  for (size_t word = 0; word < words_.size(); ++word) {
    const char* const bytes = reinterpret_cast<const char*>(hash.data()) + kHashBytes - 8 * (word + 1);
    const auto value = static_cast<uint64_t>(big_endian::Get64(bytes));
    const uint64_t with_carry = value + carry;
    carry = with_carry < value ? 1 : 0;
    words_[word] += with_carry;
    if (words_[word] < with_carry) carry = 1;
  }
}

std::string DocumentSum::bytes() const {
  std::string bytes;
  for (size_t word = words_.size(); word-- > 0;) {
    for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(words_[word] >> shift & 0xff));
  }
  return bytes;
}

std::string DigestOf(const DigestInput& input) {
  const HashBytes before = BytesOf(input.before);
  const std::string documents = input.documents.bytes();
  DigestHasher& hasher = ThreadHasher();
  hasher.Begin();
  hasher.Add(before.data(), before.size());
  hasher.AddNumber(static_cast<uint64_t>(input.number));
  hasher.AddText(input.hash);
  hasher.Add(documents.data(), documents.size());
  return Hex(ViewOf(hasher.End()));
}

}  // namespace braid::timeline
