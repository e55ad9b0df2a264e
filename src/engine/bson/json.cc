// ToJson, through libbson. FromJson is in json_parse.cc, ToShell in shell.cc.
#include "engine/bson/json.h"

#include <bson/bson.h>

#include <memory>

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
