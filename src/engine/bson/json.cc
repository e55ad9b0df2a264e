#include "engine/bson/json.h"

#include <bson/bson.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/strings.h"
#include "engine/bson/builder.h"

namespace braid::bson {
namespace {

struct Free {
  void operator()(char* text) const { bson_free(text); }
};

/// Empty if libbson refuses, which it does for strings that are no UTF-8.
std::string Print(View document, JsonForm form) {
  bson_t bson;
  const auto* data = reinterpret_cast<const uint8_t*>(document.data());
  if (!bson_init_static(&bson, data, document.size())) return {};
  size_t size = 0;
  const std::unique_ptr<char, Free> text(form == JsonForm::kCanonical ? bson_as_canonical_extended_json(&bson, &size)
                                                                      : bson_as_relaxed_extended_json(&bson, &size));
  return text ? std::string(text.get(), size) : std::string();
}

}  // namespace

Result<Document> FromJson(std::string_view text) {
  if (text.empty()) return Status(Code::kFailedToParse, "empty text instead of a JSON object");
  bson_error_t error = {};
  const auto* data = reinterpret_cast<const uint8_t*>(text.data());
  bson_t* bson = bson_new_from_json(data, static_cast<ssize_t>(text.size()), &error);
  if (bson == nullptr) {
    return Status(Code::kFailedToParse, error.message[0] != '\0' ? error.message : "the JSON text holds no object");
  }
  Document document(std::string(reinterpret_cast<const char*>(bson_get_data(bson)), bson->len));
  bson_destroy(bson);
  return document;
}

Document J(std::string_view text) {
  std::string json(text);
  std::replace(json.begin(), json.end(), '\'', '"');
  Result<Document> document = FromJson(json);
  if (!document.ok()) {
    std::fprintf(stderr, "%s: %s\n", document.error().ToString().c_str(), json.c_str());
    std::abort();
  }
  return *std::move(document);
}

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

}  // namespace braid::bson
