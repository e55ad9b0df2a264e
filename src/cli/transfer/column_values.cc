// The text of a cell as a BSON value of the column's type.
#include <bson/bson.h>

#include <charconv>
#include <optional>

#include "base/strings.h"
#include "cli/transfer/columns.h"

namespace braid::transfer {
namespace {

template <typename T>
std::optional<T> ParseNumber(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<bool> ParseBool(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  if (lower == "true" || lower == "t" || lower == "1") return true;
  if (lower == "false" || lower == "f" || lower == "0") return false;
  return std::nullopt;
}

// The digits of base 2^bits, `=` at the end allowed.
std::optional<std::string> Decode(std::string_view text, std::string_view alphabet, int bits) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  uint32_t held = 0;
  int held_bits = 0;
  for (const char c : text) {
    const size_t digit = alphabet.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    held = (held << bits) | static_cast<uint32_t>(digit);
    held_bits += bits;
    if (held_bits < 8) continue;
    held_bits -= 8;
    bytes += static_cast<char>(held >> held_bits);
    held &= (1u << held_bits) - 1;
  }
  if (held != 0 || held_bits >= bits) return std::nullopt;  // not a whole number of bytes
  return bytes;
}

std::optional<std::string> DecodeBinary(std::string_view text, BinaryEncoding encoding) {
  switch (encoding) {
    case BinaryEncoding::kBase32: return Decode(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5);
    case BinaryEncoding::kBase64:
      return Decode(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 6);
    case BinaryEncoding::kHex: break;
  }
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'F' ? c + 32 : c);
  return Decode(lower, "0123456789abcdef", 4);
}

Status NotA(std::string_view type, const Column& column, std::string_view text) {
  return Status(Code::kFailedToParse, StrCat("column ", column.name, ": '", text, "' is not ", type));
}

}  // namespace

void AppendAuto(bson_t* document, std::string_view name, std::string_view text) {
  const int length = static_cast<int>(name.size());
  if (const auto integer = ParseNumber<int64_t>(text)) {
    if (*integer >= INT32_MIN && *integer <= INT32_MAX)
      bson_append_int32(document, name.data(), length, static_cast<int32_t>(*integer));
    else
      bson_append_int64(document, name.data(), length, *integer);
  } else if (const auto number = ParseNumber<double>(text)) {
    bson_append_double(document, name.data(), length, *number);
  } else {
    bson_append_utf8(document, name.data(), length, text.data(), static_cast<int>(text.size()));
  }
}

Status AppendTyped(bson_t* document, std::string_view name, const Column& column, std::string_view text) {
  const char* key = name.data();
  const int length = static_cast<int>(name.size());
  switch (column.type) {
    case ColumnType::kAuto: AppendAuto(document, name, text); return {};
    case ColumnType::kString:
      bson_append_utf8(document, key, length, text.data(), static_cast<int>(text.size()));
      return {};
    case ColumnType::kInt32: {
      const auto value = ParseNumber<int32_t>(text);
      if (!value) return NotA("an int32", column, text);
      bson_append_int32(document, key, length, *value);
      return {};
    }
    case ColumnType::kInt64: {
      const auto value = ParseNumber<int64_t>(text);
      if (!value) return NotA("an int64", column, text);
      bson_append_int64(document, key, length, *value);
      return {};
    }
    case ColumnType::kDouble: {
      const auto value = ParseNumber<double>(text);
      if (!value) return NotA("a double", column, text);
      bson_append_double(document, key, length, *value);
      return {};
    }
    case ColumnType::kDecimal: {
      bson_decimal128_t value;
      if (!bson_decimal128_from_string_w_len(text.data(), static_cast<int>(text.size()), &value)) {
        return NotA("a decimal", column, text);
      }
      bson_append_decimal128(document, key, length, &value);
      return {};
    }
    case ColumnType::kBoolean: {
      const auto value = ParseBool(text);
      if (!value) return NotA("a boolean", column, text);
      bson_append_bool(document, key, length, *value);
      return {};
    }
    case ColumnType::kBinary: {
      const auto bytes = DecodeBinary(text, column.encoding);
      if (!bytes) return NotA("binary in the encoding of the column", column, text);
      bson_append_binary(document, key, length, BSON_SUBTYPE_BINARY, reinterpret_cast<const uint8_t*>(bytes->data()),
                         static_cast<uint32_t>(bytes->size()));
      return {};
    }
    case ColumnType::kDate: {
      const auto millis = column.layout.Read(text);
      if (!millis) return NotA("a date in the layout of the column", column, text);
      bson_append_date_time(document, key, length, *millis);
      return {};
    }
  }
  return {};
}

}  // namespace braid::transfer
