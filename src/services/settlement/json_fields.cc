// Reading JSON strictly, and writing it in the one spelling that payloads are made of (output.h).
#include "services/settlement/json_fields.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace braid::settlement {
namespace {

constexpr size_t kDigitsMax = 34;  // of a Decimal128

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Digits, then perhaps a point and digits.
bool IsUnsignedDecimal(std::string_view text) {
  const size_t whole = static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsDigit) - text.begin());
  if (whole == 0) return false;
  if (whole == text.size()) return true;
  const std::string_view fraction = text.substr(whole + 1);
  return text[whole] == '.' && !fraction.empty() && std::all_of(fraction.begin(), fraction.end(), IsDigit);
}

void AppendControl(char c, std::string& out) {
  constexpr char kDigits[] = "0123456789abcdef";
  switch (c) {
    case '\b': out += "\\b"; break;
    case '\t': out += "\\t"; break;
    case '\n': out += "\\n"; break;
    case '\f': out += "\\f"; break;
    case '\r': out += "\\r"; break;
    default:
      out += "\\u00";
      out += kDigits[c >> 4];
      out += kDigits[c & 15];
  }
}

// A whole number keeps its point, or it would be read back as an integer.
void AppendDouble(double value, std::string& out) {
  const Piece text(value);
  out += text.text();
  if (text.text().find_first_of(".e") == std::string_view::npos) out += ".0";
}

Status AppendObject(json::object object, const Where& where, int depth, std::string& out) {
  std::vector<std::pair<std::string_view, json::element>> fields;
  fields.reserve(object.size());
  for (const auto& [name, value] : object) fields.emplace_back(name, value);
  std::sort(fields.begin(), fields.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  out += '{';
  for (size_t i = 0; i < fields.size(); ++i) {
    const auto& [name, value] = fields[i];
    const Where here{&where, name};
    if (i > 0 && name == fields[i - 1].first) return Bad(here, "is there twice");
    if (i > 0) out += ',';
    AppendText(name, out);
    out += ':';
    BRAID_CHECK_OK(AppendCanonical(value, here, depth, out));
  }
  out += '}';
  return {};
}

Status AppendArray(json::array array, const Where& where, int depth, std::string& out) {
  out += '[';
  size_t i = 0;
  for (const json::element value : array) {
    if (i > 0) out += ',';
    BRAID_CHECK_OK(AppendCanonical(value, Where{&where, {}, i++}, depth, out));
  }
  out += ']';
  return {};
}

}  // namespace

std::string Where::ToString() const {
  const std::string before = parent == nullptr ? "" : parent->ToString();
  if (!name.empty()) return StrCat(before, before.empty() ? "" : ".", Shortened(name, 64));
  return parent == nullptr ? "" : StrCat(before, "[", index, "]");
}

std::string_view Shortened(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

Status Bad(const Where& where, std::string_view what) {
  const std::string name = where.ToString();
  return Status(Code::kBadValue, StrCat(name.empty() ? "the output" : name, " ", what));
}

Status ReadInteger(json::element value, const Where& where, int64_t least, int64_t& out) {
  if (value.is_uint64() && !value.is_int64()) return Bad(where, "is above 9223372036854775807");
  if (!value.is_int64()) return Bad(where, "is not an integer");
  out = int64_t(value);
  return out < least ? Bad(where, StrCat("is ", out, "; it must be at least ", least)) : Status();
}

Status ReadText(json::element value, const Where& where, bool may_be_empty, std::string& out) {
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return Bad(where, "is not a string");
  if (text.empty() && !may_be_empty) return Bad(where, "is empty");
  if (text.size() > kTextBytesMax) {
    return Bad(where, StrCat("has ", text.size(), " bytes; it may have ", kTextBytesMax));
  }
  out = text;
  return {};
}

Status ReadId(json::element value, const Where& where, Id& out) {
  out.integer = value.is_int64() || value.is_uint64();
  if (value.is_int64()) {
    out.text = StrCat(int64_t(value));
  } else if (out.integer) {
    out.text = StrCat(uint64_t(value));
  } else if (!value.is_string()) {
    return Bad(where, "is neither a string nor an integer");
  } else {
    return ReadText(value, where, false, out.text);
  }
  return {};
}

Status ReadDecimal(json::element value, const Where& where, bool must_be_positive, Decimal& out) {
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) {
    return Bad(where, "is not a decimal in a string, such as \"0.25\"");
  }
  const bool negative = text.starts_with('-');
  const std::string_view digits = negative ? text.substr(1) : text;
  if (!IsUnsignedDecimal(digits)) {
    return Bad(where, StrCat("is '", Shortened(text, 40), "', which is not a decimal such as \"0.25\""));
  }
  const auto count = static_cast<size_t>(std::count_if(digits.begin(), digits.end(), IsDigit));
  if (count > kDigitsMax) return Bad(where, StrCat("has ", count, " digits; it may have ", kDigitsMax));
  const bool zero = digits.find_first_not_of("0.") == std::string_view::npos;
  if (must_be_positive && (negative || zero)) return Bad(where, StrCat("is ", text, "; it must be above zero"));
  out = text;
  return {};
}

Status ReadHash(json::element value, const Where& where, ChainHash& out) {
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return Bad(where, "is not a string");
  if (text.size() != 2 * out.size()) {
    return Bad(where, StrCat("has ", text.size(), " characters; it must be 64 hexadecimal digits"));
  }
  for (size_t i = 0; i < out.size(); ++i) {
    const int high = DigitOf(text[2 * i]);
    const int low = DigitOf(text[2 * i + 1]);
    if (high < 0 || low < 0) return Bad(where, "is not hexadecimal");
    out[i] = static_cast<uint8_t>(high * 16 + low);
  }
  return {};
}

void AppendText(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      AppendControl(c, out);
    } else {
      out += c;
    }
  }
  out += '"';
}

Status AppendCanonical(json::element value, const Where& where, int depth, std::string& out) {
  if (depth >= kDepthMax) return Bad(where, StrCat("is more than ", kDepthMax, " levels deep"));
  switch (value.type()) {
    case json::element_type::OBJECT: return AppendObject(json::object(value), where, depth + 1, out);
    case json::element_type::ARRAY: return AppendArray(json::array(value), where, depth + 1, out);
    case json::element_type::STRING: AppendText(std::string_view(value), out); break;
    case json::element_type::INT64: out += StrCat(int64_t(value)); break;
    case json::element_type::UINT64: out += StrCat(uint64_t(value)); break;
    case json::element_type::DOUBLE: AppendDouble(double(value), out); break;
    case json::element_type::BOOL: out += bool(value) ? "true" : "false"; break;
    case json::element_type::NULL_VALUE: out += "null"; break;
  }
  return {};
}

}  // namespace braid::settlement
