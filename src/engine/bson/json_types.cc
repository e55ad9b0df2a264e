// TypedValue: the types that Extended JSON writes as objects, { "$oid": "…" } and its kind.
#include "engine/bson/json.h"

#include <openssl/evp.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/decimal.h"
#include "engine/bson/number.h"

namespace braid::bson::json {
namespace {

using Typed = std::optional<OwnedValue>;

template <typename T>
Typed Own(const T& value) {
  return OwnedValue(Make("v", value).Find("v"));
}

bool IsText(const Value& value) { return value.Is(Type::kString); }
bool IsCText(const Value& value) { return IsText(value) && value.AsString().find('\0') == std::string_view::npos; }

std::optional<std::string> FromHex(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i += 2) {
    uint8_t byte = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + std::min(i + 2, text.size()), byte, 16);
    if (error != std::errc() || end != text.data() + i + 2) return std::nullopt;
    out.push_back(static_cast<char>(byte));
  }
  return out;
}

std::optional<std::string> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const size_t padding = text.size() - std::min(text.find_last_not_of('=') + 1, text.size());
  if (padding > 2 || text.find('=') < text.size() - padding) return std::nullopt;
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c <= ' '; })) return std::nullopt;
  std::string out(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  out.resize(static_cast<size_t>(size) - padding);
  return out;
}

template <typename T>
std::optional<T> FromText(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Reads `digits` digits off the front.
bool TakeDigits(std::string_view* text, size_t digits, int* out) {
  if (text->size() < digits) return false;
  const std::optional<int> number = FromText<int>(text->substr(0, digits));
  if (!number || text->front() == '-') return false;
  *out = *number;
  text->remove_prefix(digits);
  return true;
}
bool Take(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

/// 2021-02-03T04:05:06[.789](Z|+01:00|+0100) as milliseconds since 1970.
std::optional<int64_t> FromIsoDate(std::string_view text) {
  int year, month, day, hour, minute, second = 0, millis = 0;
  if (!TakeDigits(&text, 4, &year) || !Take(&text, '-') || !TakeDigits(&text, 2, &month) || !Take(&text, '-') ||
      !TakeDigits(&text, 2, &day) || !Take(&text, 'T') || !TakeDigits(&text, 2, &hour) || !Take(&text, ':') ||
      !TakeDigits(&text, 2, &minute)) {
    return std::nullopt;
  }
  if (Take(&text, ':') && !TakeDigits(&text, 2, &second)) return std::nullopt;
  if (Take(&text, '.')) {
    const size_t digits = std::min<size_t>(std::min(text.find_first_not_of("0123456789"), text.size()), 3);
    if (digits == 0 || !TakeDigits(&text, digits, &millis)) return std::nullopt;
    for (size_t i = digits; i < 3; ++i) millis *= 10;
    text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
  }
  int offset_minutes = 0;
  if (!Take(&text, 'Z')) {
    const bool west = !text.empty() && text.front() == '-';
    int hours, minutes;
    if (!Take(&text, west ? '-' : '+') || !TakeDigits(&text, 2, &hours)) return std::nullopt;
    Take(&text, ':');
    if (!TakeDigits(&text, 2, &minutes)) return std::nullopt;
    offset_minutes = (hours * 60 + minutes) * (west ? -1 : 1);
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!text.empty() || !date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute - offset_minutes) * 60'000LL + second * 1000LL + millis;
}

Typed ReadBinary(View object) {
  Value base64 = object.Find("$binary"), subtype = object.Find("$type");  // the form of version 1
  if (base64.Is(Type::kObject)) {
    if (object.Count() != 1 || base64.AsView().Count() != 2) return std::nullopt;
    subtype = base64.AsView().Find("subType");
    base64 = base64.AsView().Find("base64");
  } else if (object.Count() != 2) {
    return std::nullopt;
  }
  if (!IsText(base64) || !IsText(subtype) || subtype.AsString().empty() || subtype.AsString().size() > 2)
    return std::nullopt;
  const auto bytes = FromBase64(base64.AsString());
  const auto kind =
      FromHex(subtype.AsString().size() == 1 ? StrCat("0", subtype.AsString()) : std::string(subtype.AsString()));
  if (!bytes || !kind) return std::nullopt;
  return Own(Binary{static_cast<uint8_t>((*kind)[0]), *bytes});
}

Typed ReadUuid(View object) {
  const Value value = object.Find("$uuid");
  if (object.Count() != 1 || !IsText(value) || value.AsString().size() != 36) return std::nullopt;
  std::string hex(value.AsString());
  for (const size_t dash : {23, 18, 13, 8}) {
    if (hex[dash] != '-') return std::nullopt;
    hex.erase(dash, 1);
  }
  const auto bytes = FromHex(hex);
  if (!bytes) return std::nullopt;
  return Own(Binary{4, *bytes});
}

Typed ReadCode(View object) {
  const Value code = object.Find("$code"), scope = object.Find("$scope");
  if (!IsText(code) || object.Count() != (scope.missing() ? 1 : 2)) return std::nullopt;
  if (scope.missing())
    return OwnedValue({Type::kCode, code.bytes().data(), static_cast<uint32_t>(code.bytes().size())});
  if (!scope.Is(Type::kObject)) return std::nullopt;
  std::string bytes(4, '\0');
  bytes.append(code.bytes()).append(scope.bytes());
  const auto size = static_cast<uint32_t>(bytes.size());
  std::memcpy(bytes.data(), &size, sizeof(size));
  return OwnedValue({Type::kCodeWScope, bytes.data(), size});
}

Typed ReadDate(View object) {
  const Value value = object.Find("$date");
  if (object.Count() != 1) return std::nullopt;
  std::optional<int64_t> millis;
  if (value.IsNumber()) millis = Number::Of(value).ToInt64Exact();
  if (IsText(value)) millis = FromIsoDate(value.AsString());
  if (!millis) return std::nullopt;
  return Own(Date{*millis});
}

Typed ReadDbPointer(View object) {
  const Value value = object.Find("$dbPointer");
  if (object.Count() != 1 || !value.Is(Type::kObject) || value.AsView().Count() != 2) return std::nullopt;
  const Value ref = value.AsView().Find("$ref"), id = value.AsView().Find("$id");
  if (!IsText(ref) || !id.Is(Type::kObjectId)) return std::nullopt;
  const std::string bytes = std::string(ref.bytes()).append(id.bytes());
  return OwnedValue({Type::kDbPointer, bytes.data(), static_cast<uint32_t>(bytes.size())});
}

Typed ReadDecimal(View object) {
  const Value value = object.Find("$numberDecimal");
  if (object.Count() != 1 || !IsText(value)) return std::nullopt;
  const auto number = decimal::FromString(value.AsString());
  if (!number) return std::nullopt;
  return Own(*number);
}

Typed ReadDouble(View object) {
  const Value value = object.Find("$numberDouble");
  if (object.Count() != 1 || !IsText(value)) return std::nullopt;
  const std::string_view text = value.AsString();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (text == "Infinity") return Own(kInfinity);
  if (text == "-Infinity") return Own(-kInfinity);
  if (text == "NaN") return Own(std::numeric_limits<double>::quiet_NaN());
  const auto number = FromText<double>(text.starts_with('+') ? text.substr(1) : text);
  if (!number) return std::nullopt;
  return Own(*number);
}

template <typename T>
Typed ReadInteger(View object) {
  const Value value = object.begin()->value;
  if (object.Count() != 1 || !IsText(value)) return std::nullopt;
  const auto number = FromText<T>(value.AsString());
  if (!number) return std::nullopt;
  return Own(*number);
}

Typed ReadMinKey(View object) { return object.Count() == 1 ? Own(MinKey()) : std::nullopt; }
Typed ReadMaxKey(View object) { return object.Count() == 1 ? Own(MaxKey()) : std::nullopt; }
Typed ReadUndefined(View object) {
  if (object.Count() != 1) return std::nullopt;
  return OwnedValue(Value(Type::kUndefined, "", 0));
}

Typed ReadObjectId(View object) {
  const Value value = object.Find("$oid");
  if (object.Count() != 1 || !IsText(value) || value.AsString().size() != 24) return std::nullopt;
  const auto bytes = FromHex(value.AsString());
  if (!bytes) return std::nullopt;
  return OwnedValue({Type::kObjectId, bytes->data(), 12});
}

Typed ReadRegex(View object) {
  const Value value = object.Find("$regularExpression");
  if (object.Count() != 1 || !value.Is(Type::kObject) || value.AsView().Count() != 2) return std::nullopt;
  const Value pattern = value.AsView().Find("pattern"), options = value.AsView().Find("options");
  if (!IsCText(pattern) || !IsCText(options)) return std::nullopt;
  std::string sorted(options.AsString());
  std::sort(sorted.begin(), sorted.end());
  return Own(Regex{pattern.AsString(), sorted});
}

Typed ReadSymbol(View object) {
  const Value value = object.Find("$symbol");
  if (object.Count() != 1 || !IsText(value)) return std::nullopt;
  return OwnedValue({Type::kSymbol, value.bytes().data(), static_cast<uint32_t>(value.bytes().size())});
}

Typed ReadTimestamp(View object) {
  const Value value = object.Find("$timestamp");
  if (object.Count() != 1 || !value.Is(Type::kObject) || value.AsView().Count() != 2) return std::nullopt;
  const auto seconds = NumberOf(value.AsView().Find("t")), increment = NumberOf(value.AsView().Find("i"));
  if (!seconds || !increment) return std::nullopt;
  const int64_t t = seconds->ToInt64Exact().value_or(-1), i = increment->ToInt64Exact().value_or(-1);
  constexpr int64_t kMax = std::numeric_limits<uint32_t>::max();
  if (t < 0 || t > kMax || i < 0 || i > kMax) return std::nullopt;
  return Own(Timestamp{static_cast<uint64_t>(t) << 32 | static_cast<uint64_t>(i)});
}

/// The first name of such an object, and how the whole is read: nullopt if it does not fit.
struct Form {
  std::string_view name;
  Typed (*read)(View object);
};
constexpr Form kForms[] = {
    {"$binary", ReadBinary},
    {"$code", ReadCode},
    {"$date", ReadDate},
    {"$dbPointer", ReadDbPointer},
    {"$maxKey", ReadMaxKey},
    {"$minKey", ReadMinKey},
    {"$numberDecimal", ReadDecimal},
    {"$numberDouble", ReadDouble},
    {"$numberInt", ReadInteger<int32_t>},
    {"$numberLong", ReadInteger<int64_t>},
    {"$oid", ReadObjectId},
    {"$regularExpression", ReadRegex},
    {"$scope", ReadCode},
    {"$symbol", ReadSymbol},
    {"$timestamp", ReadTimestamp},
    {"$undefined", ReadUndefined},
    {"$uuid", ReadUuid},
};

}  // namespace

Result<std::optional<OwnedValue>> TypedValue(View object) {
  if (object.empty() || !object.begin()->name.starts_with('$')) return Typed();
  const std::string_view name = object.begin()->name;
  // The one form of version 1 whose first name may be an operator's.
  if (name == "$type" && object.Count() == 2 && object.Has("$binary")) return ReadBinary(object);
  const Form* form = std::lower_bound(std::begin(kForms), std::end(kForms), name,
                                      [](const Form& f, std::string_view n) { return f.name < n; });
  if (form == std::end(kForms) || form->name != name) return Typed();
  Typed typed = form->read(object);
  if (!typed) return Status(Code::kFailedToParse, StrCat("bad Extended JSON value for ", name));
  return typed;
}

}  // namespace braid::bson::json
