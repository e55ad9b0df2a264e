// Addresses of Conflux in either form: 0x and 40 hexadecimal digits, or base32 with the network's name (CIP-37).
#include "services/explorer/source/node_source.h"

#include <vector>

#include "base/strings.h"

namespace braid::explorer::source {
namespace {

constexpr std::string_view kBase32 = "abcdefghjkmnprstuvwxyz0123456789";
constexpr size_t kChecksumDigits = 8;
constexpr size_t kAddressBytes = 20;
// A version byte and the address in digits of five bits.
constexpr size_t kPayloadDigits = ((1 + kAddressBytes) * 8 + 4) / 5;

// The remainder of a polynomial over GF(32), of which the checksum is made (as in Bitcoin Cash's CashAddr).
uint64_t PolyMod(const std::vector<uint8_t>& values) {
  constexpr uint64_t kGenerators[] = {0x98f2bc8e61, 0x79b76d99e2, 0xf33e5fb3c4, 0xae2eabe2a8, 0x1e4f43e470};
  uint64_t c = 1;
  for (const uint8_t value : values) {
    const uint64_t top = c >> 35;
    c = ((c & 0x07ffffffff) << 5) ^ value;
    for (int i = 0; i < 5; ++i) {
      if ((top >> i & 1) != 0) c ^= kGenerators[i];
    }
  }
  return c ^ 1;
}

Status BadAddress(std::string_view address, std::string_view what) {
  return Status(Code::kBadValue, StrCat("the address '", address.substr(0, 80), "' ", what));
}

}  // namespace

Result<std::string> AddressInHex(std::string_view address) {
  const size_t first = address.find(':');
  if (address.starts_with("0x") || first == std::string_view::npos) return std::string(address);
  std::string lower(address);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const std::string_view digits = std::string_view(lower).substr(lower.rfind(':') + 1);
  if (digits.size() != kPayloadDigits + kChecksumDigits) return BadAddress(address, "has the wrong length");
  std::vector<uint8_t> values;
  for (const char c : std::string_view(lower).substr(0, first)) values.push_back(static_cast<uint8_t>(c) & 31);
  values.push_back(0);
  const size_t begin = values.size();
  for (const char c : digits) {
    const size_t value = kBase32.find(c);
    if (value == std::string_view::npos) return BadAddress(address, "has a character that is not base32");
    values.push_back(static_cast<uint8_t>(value));
  }
  if (PolyMod(values) != 0) return BadAddress(address, "has a wrong checksum");
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (size_t i = begin; i < begin + kPayloadDigits; ++i) {
    bits = bits << 5 | values[i];
    count += 5;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  if (bytes[0] != 0) return BadAddress(address, "is of a version that is not known");
  return StrCat("0x", Hex(std::string_view(bytes).substr(1)));
}

}  // namespace braid::explorer::source
