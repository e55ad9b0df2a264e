// A document as a row of CSV.
#include "base/strings.h"
#include "cli/transfer/exporter.h"
#include "client/handles.h"

namespace braid::transfer {
namespace {

// A value as relaxed JSON: written inside a document and taken out of it.
std::string ValueJson(const bson_iter_t* iterator) {
  client::Bson wrapped;
  bson_append_iter(wrapped.get(), "v", 1, iterator);
  size_t size = 0;
  char* text = bson_as_relaxed_extended_json(wrapped.get(), &size);
  std::string_view json(text == nullptr ? "" : text, text == nullptr ? 0 : size);
  const size_t colon = json.find(':');
  if (colon != std::string_view::npos) {
    json = json.substr(colon + 1, json.rfind('}') - colon - 1);
    while (json.starts_with(' ')) json.remove_prefix(1);
    while (json.ends_with(' ')) json.remove_suffix(1);
  }
  std::string result(json);
  bson_free(text);
  return result;
}

// {"$date": "…"} as the text within; dates that have none stay JSON.
std::string DateText(const bson_iter_t* iterator) {
  std::string json = ValueJson(iterator);
  constexpr std::string_view kOpening = "{ \"$date\" : \"";
  if (!json.starts_with(kOpening)) return json;
  return json.substr(kOpening.size(), json.find('"', kOpening.size()) - kOpening.size());
}

std::string ValueText(const bson_iter_t* iterator) {
  switch (bson_iter_type(iterator)) {
    case BSON_TYPE_NULL:
    case BSON_TYPE_UNDEFINED: return "";
    case BSON_TYPE_UTF8: {
      uint32_t length = 0;
      const char* text = bson_iter_utf8(iterator, &length);
      return {text, length};
    }
    case BSON_TYPE_INT32: return StrCat(bson_iter_int32(iterator));
    case BSON_TYPE_INT64: return StrCat(bson_iter_int64(iterator));
    case BSON_TYPE_DOUBLE: return StrCat(bson_iter_double(iterator));
    case BSON_TYPE_BOOL: return bson_iter_bool(iterator) ? "true" : "false";
    case BSON_TYPE_OID: {
      char text[25];
      bson_oid_to_string(bson_iter_oid(iterator), text);
      return StrCat("ObjectId(", text, ")");
    }
    case BSON_TYPE_DECIMAL128: {
      bson_decimal128_t decimal;
      char text[BSON_DECIMAL128_STRING];
      bson_iter_decimal128(iterator, &decimal);
      bson_decimal128_to_string(&decimal, text);
      return text;
    }
    case BSON_TYPE_DATE_TIME: return DateText(iterator);
    default: return ValueJson(iterator);
  }
}

}  // namespace

void AppendCsvValue(std::string& out, std::string_view value) {
  const bool quote =
      value.find_first_of(",\"\r\n") != std::string_view::npos || value.starts_with(' ') || value.ends_with(' ');
  if (!quote) {
    out += value;
    return;
  }
  out += '"';
  for (const char c : value) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void AppendCsvRow(std::string& out, const bson_t* document, const std::vector<std::string>& paths) {
  const size_t start = out.size();
  for (size_t i = 0; i < paths.size(); ++i) {
    if (i > 0) out += ',';
    bson_iter_t top;
    bson_iter_t found;
    if (!bson_iter_init(&top, document) || !bson_iter_find_descendant(&top, paths[i].c_str(), &found)) continue;
    AppendCsvValue(out, ValueText(&found));
  }
  if (out.size() == start) out += "\"\"";  // an empty line would be no row
  out += '\n';
}

}  // namespace braid::transfer
