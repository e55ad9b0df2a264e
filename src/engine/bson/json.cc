// ToJson, through libbson, and ToShell: values as the messages of MongoDB quote them. FromJson is in json_parse.cc.
#include "engine/bson/json.h"

#include <bson/bson.h>
#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <memory>

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/decimal.h"

namespace braid::bson {
namespace {

struct Free {
  void operator()(char* text) const { bson_free(text); }
};

/// Empty if libbson refuses, which it does for strings that are not UTF-8.
std::string Print(View document, JsonForm form) {
  bson_t bson;
  const auto* data = reinterpret_cast<const uint8_t*>(document.data());
  if (!bson_init_static(&bson, data, document.size())) return {};
  size_t size = 0;
  const std::unique_ptr<char, Free> text(form == JsonForm::kCanonical ? bson_as_canonical_extended_json(&bson, &size)
                                                                      : bson_as_relaxed_extended_json(&bson, &size));
  return text ? std::string(text.get(), size) : std::string();
}

void AppendValue(std::string& out, const Value& value);

void AppendQuoted(std::string& out, std::string_view text) {
  out.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
}

void AppendDouble(std::string& out, double v) {
  if (std::isnan(v)) {
    out += "NaN";
  } else if (std::isinf(v)) {
    out += v < 0 ? "-Infinity" : "Infinity";
  } else {
    const std::string text = fmt::format("{}", v);
    out += text;
    if (text.find_first_of(".e") == std::string::npos) out += ".0";
  }
}

void AppendBinary(std::string& out, const Binary& binary) {
  std::string hex = Hex(binary.bytes);
  if (binary.subtype == 4 && binary.bytes.size() == 16) {
    for (const size_t dash : {20, 16, 12, 8}) hex.insert(dash, 1, '-');
    out += StrCat("UUID(\"", hex, "\")");
    return;
  }
  for (char& c : hex) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  out += StrCat("BinData(", static_cast<int>(binary.subtype), ", ", hex, ")");
}

void AppendFields(std::string& out, View fields, bool names) {
  if (fields.empty()) {
    out += names ? "{}" : "[]";
    return;
  }
  out += names ? "{ " : "[ ";
  bool first = true;
  for (const Element& element : fields) {
    if (!first) out += ", ";
    first = false;
    if (names) out += StrCat(element.name, ": ");
    AppendValue(out, element.value);
  }
  out += names ? " }" : " ]";
}

void AppendDbPointer(std::string& out, const Value& value) {
  const std::string_view bytes = value.bytes();  // length, namespace, NUL, 12 bytes of ObjectId
  out += StrCat("DBRef('", bytes.substr(4, bytes.size() - 17), "', ", Hex(bytes.substr(bytes.size() - 12)), ")");
}

void AppendValue(std::string& out, const Value& value) {
  switch (value.type()) {
    case Type::kMissing: out += "missing"; break;
    case Type::kDouble: AppendDouble(out, value.AsDouble()); break;
    case Type::kString:
    case Type::kSymbol: AppendQuoted(out, value.AsString()); break;
    case Type::kObject: AppendFields(out, value.AsView(), true); break;
    case Type::kArray: AppendFields(out, value.AsView(), false); break;
    case Type::kBinary: AppendBinary(out, value.AsBinary()); break;
    case Type::kUndefined: out += "undefined"; break;
    case Type::kObjectId: out += StrCat("ObjectId('", Hex(value.AsObjectId()), "')"); break;
    case Type::kBool: out += value.AsBool() ? "true" : "false"; break;
    case Type::kDate: out += StrCat("new Date(", value.AsDate(), ")"); break;
    case Type::kNull: out += "null"; break;
    case Type::kRegex: out += StrCat("/", value.AsRegex().pattern, "/", value.AsRegex().options); break;
    case Type::kDbPointer: AppendDbPointer(out, value); break;
    case Type::kCode: out += StrCat("Code(", value.AsString(), ")"); break;
    case Type::kCodeWScope:
      out += StrCat("CodeWScope(", value.AsCodeOfScope(), ", ");
      AppendFields(out, value.AsScope(), true);
      out.push_back(')');
      break;
    case Type::kInt32: out += StrCat(value.AsInt32()); break;
    case Type::kInt64: out += StrCat(value.AsInt64()); break;
    case Type::kTimestamp:
      out += StrCat("Timestamp(", value.AsTimestamp() >> 32, ", ", value.AsTimestamp() & 0xffffffff, ")");
      break;
    case Type::kDecimal128: out += StrCat("NumberDecimal(\"", decimal::ToString(value.AsDecimal()), "\")"); break;
    case Type::kMaxKey: out += "MaxKey"; break;
    case Type::kMinKey: out += "MinKey"; break;
  }
}

}  // namespace

std::string ToJson(View document, JsonForm form) {
  std::string text = Print(document, form);
  return text.empty() ? ToShell(document) : text;
}

std::string ToJson(const Value& value, JsonForm form) {
  if (value.missing()) return {};
  constexpr std::string_view kBefore = "{ \"v\" : ", kAfter = " }";
  const std::string text = Print(Make("v", value), form);
  if (text.empty()) return ToShell(value);
  return text.substr(kBefore.size(), text.size() - kBefore.size() - kAfter.size());
}

std::string ToShell(View document) { return ToShell(Value(document)); }

std::string ToShell(const Value& value) {
  std::string out;
  AppendValue(out, value);
  return out;
}

}  // namespace braid::bson
