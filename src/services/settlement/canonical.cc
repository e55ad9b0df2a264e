// The one spelling of JSON that payloads are made of; output.h describes it.
#include <algorithm>
#include <utility>
#include <vector>

#include "services/settlement/json_fields.h"

namespace braid::settlement {
namespace {

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
