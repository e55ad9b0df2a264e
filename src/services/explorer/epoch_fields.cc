#include "services/explorer/epoch_fields.h"

#include <algorithm>
#include <charconv>

namespace braid::explorer {
namespace {

constexpr size_t kQuantityDigitsMax = 256;
constexpr size_t kShownBytesMax = 80;
constexpr int kDepthMax = 32;
// A transaction and its receipt must fit into one document of 16 MiB together.
constexpr uint32_t kFieldsBytesMax = 7U << 20;

std::string Shown(std::string_view text) {
  size_t end = std::min(text.size(), kShownBytesMax);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return StrCat("'", text.substr(0, end), end < text.size() ? "…'" : "'");
}

bool IsHexDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool IsHex(std::string_view text) {
  return text.starts_with("0x") && std::all_of(text.begin() + 2, text.end(), IsHexDigit);
}

void MakeLower(std::string& text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
}

Status CheckFixed(std::string_view given, const EpochPath& path, size_t digits, const char* what, std::string& text) {
  if (given.size() != digits + 2 || !IsHex(given)) {
    return BadField(path, StrCat(Shown(given), " is not ", what, ": 0x and ", digits, " hexadecimal digits"));
  }
  text = given;
  MakeLower(text);
  return {};
}

Status ReadFixed(json::element value, const EpochPath& path, size_t digits, const char* what, std::string& text) {
  std::string_view given;
  if (value.get_string().get(given) != simdjson::SUCCESS) return BadField(path, "is not a string");
  return CheckFixed(given, path, digits, what, text);
}

Status ReadQuantity(json::element value, const EpochPath& path, std::string& text) {
  std::string_view given;
  if (value.get_string().get(given) != simdjson::SUCCESS) return BadField(path, "is not a string");
  if (given.size() < 3 || given.size() > kQuantityDigitsMax + 2 || !IsHex(given)) {
    return BadField(
        path, StrCat(Shown(given), " is not a quantity: 0x and 1 to ", kQuantityDigitsMax, " hexadecimal digits"));
  }
  text = given;
  return {};
}

Status ReadHashes(json::element value, const EpochPath& path, std::string& text) {
  json::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return BadField(path, "is not an array");
  text = "[";
  std::string hash;
  size_t index = 0;
  for (const json::element element : array) {
    BRAID_CHECK_OK(ReadFixed(element, EpochPath{&path, {}, index}, 64, "a hash", hash));
    text += StrCat(index == 0 ? "\"" : ",\"", hash, "\"");
    ++index;
  }
  text += "]";
  return {};
}

// Names that mean something else to the store.
Status CheckName(const EpochPath& path) {
  const bool storable = !path.name.empty() && path.name[0] != '$' &&
                        path.name.find_first_of(std::string_view(".\0", 2)) == std::string_view::npos;
  return storable ? Status() : BadField(path, "a name that is empty, begins with $ or has a point cannot be stored");
}

Status AppendJson(json::element value, const EpochPath& path, std::string_view key, int depth, bson_t* out);

Status AppendArray(json::array array, const EpochPath& path, int depth, bson_t* out) {
  size_t index = 0;
  for (const json::element element : array) {
    BRAID_CHECK_OK(AppendJson(element, EpochPath{&path, {}, index}, StrCat(index), depth, out));
    ++index;
  }
  return {};
}

Status AppendObject(json::object object, const EpochPath& path, int depth, bson_t* out) {
  for (const auto& [name, element] : object) {
    const EpochPath here{&path, name};
    BRAID_CHECK_OK(CheckName(here));
    BRAID_CHECK_OK(AppendJson(element, here, name, depth, out));
  }
  return {};
}

Status AppendJson(json::element value, const EpochPath& path, std::string_view key, int depth, bson_t* out) {
  if (depth > kDepthMax) return BadField(path, StrCat("is nested more than ", kDepthMax, " deep"));
  const char* name = key.data();
  const int size = static_cast<int>(key.size());
  bson_t inner;
  Status status;
  switch (value.type()) {
    case json::element_type::ARRAY:
      bson_append_array_begin(out, name, size, &inner);
      status = AppendArray(json::array(value), path, depth + 1, &inner);
      bson_append_array_end(out, &inner);
      return status;
    case json::element_type::OBJECT:
      bson_append_document_begin(out, name, size, &inner);
      status = AppendObject(json::object(value), path, depth + 1, &inner);
      bson_append_document_end(out, &inner);
      return status;
    case json::element_type::STRING: {
      const std::string_view text = value.get_string().value_unsafe();
      bson_append_utf8(out, name, size, text.data(), static_cast<int>(text.size()));
      return {};
    }
    case json::element_type::INT64: bson_append_int64(out, name, size, int64_t(value)); return {};
    case json::element_type::UINT64: return BadField(path, StrCat(uint64_t(value), " is above 9223372036854775807"));
    case json::element_type::DOUBLE: bson_append_double(out, name, size, double(value)); return {};
    case json::element_type::BOOL: bson_append_bool(out, name, size, bool(value)); return {};
    case json::element_type::NULL_VALUE: bson_append_null(out, name, size); return {};
  }
  return {};
}

}  // namespace

std::string EpochPath::ToString() const {
  if (parent == nullptr) return std::string(name);
  const std::string before = parent->ToString();
  if (name.empty()) return StrCat(before, "[", index, "]");
  return StrCat(before, parent->parent == nullptr ? ", " : ".", name.substr(0, 64));
}

Status BadField(const EpochPath& path, std::string_view what) {
  return Status(Code::kBadValue, StrCat(path.ToString(), ": ", what));
}

Status ReadKnown(json::element value, FieldKind kind, const EpochPath& path, std::string& text) {
  switch (kind) {
    case FieldKind::kHash: return ReadFixed(value, path, 64, "a hash", text);
    case FieldKind::kAddress: return ReadFixed(value, path, 40, "an address", text);
    case FieldKind::kQuantity: return ReadQuantity(value, path, text);
    case FieldKind::kHashes: return ReadHashes(value, path, text);
    case FieldKind::kHex: {
      std::string_view given;
      if (value.get_string().get(given) != simdjson::SUCCESS) return BadField(path, "is not a string");
      if (given.size() % 2 != 0 || !IsHex(given)) {
        return BadField(path, StrCat(Shown(given), " is not 0x and two hexadecimal digits per byte"));
      }
      text = given;
      return {};
    }
    case FieldKind::kDropped: return {};
  }
  return {};
}

Status ReadHash(std::string_view given, const EpochPath& path, std::string& text) {
  return CheckFixed(given, path, 64, "a hash", text);
}

Status AppendUnknown(json::element value, const EpochPath& path, bson_t* fields) {
  BRAID_CHECK_OK(CheckName(path));
  const std::string name(path.name);
  if (bson_has_field(fields, name.c_str())) return BadField(path, "is there twice");
  return AppendJson(value, path, path.name, 0, fields);
}

Result<int64_t> NumberOf(const EpochPath& path, std::string_view quantity) {
  const std::string_view digits = quantity.substr(2);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return BadField(path, StrCat(Shown(quantity), " is above 0x7fffffffffffffff"));
  }
  return number;
}

Status CheckSize(const EpochPath& path, const bson_t* fields) {
  if (fields->len <= kFieldsBytesMax) return {};
  return BadField(path, StrCat("has ", fields->len, " bytes; it may have ", kFieldsBytesMax));
}

}  // namespace braid::explorer
