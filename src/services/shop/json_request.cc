#include "services/shop/json_request.h"

#include "base/strings.h"

namespace braid::shop {
namespace {

namespace json = simdjson::dom;

constexpr size_t kRequestBytesMax = 1 << 20;
constexpr size_t kShownNameBytes = 64;

// The beginning of a name, cut between characters.
std::string_view ShownName(std::string_view name) {
  if (name.size() <= kShownNameBytes) return name;
  size_t end = kShownNameBytes;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
  return name.substr(0, end);
}

std::optional<AttrValue> AttrOf(json::element value) {
  if (value.is_string()) return std::string(std::string_view(value));
  if (value.is_int64()) return int64_t(value);
  if (value.is_double()) return double(value);
  if (value.is_bool()) return bool(value);
  return std::nullopt;
}

}  // namespace

RequestFields::RequestFields(json::object object, std::string where) : where_(std::move(where)) {
  for (const auto& [name, value] : object) {
    for (const Field& field : fields_) {
      if (field.name == name) Fail(Refused::kBadRequest, name, "is there twice");
    }
    // A request with so many fields has unknown ones; the first of them is enough.
    if (fields_.size() < 64) fields_.push_back({.name = name, .value = value});
  }
}

const json::element* RequestFields::Take(std::string_view name) {
  for (Field& field : fields_) {
    if (field.name != name) continue;
    field.taken = true;
    return field.value.is_null() ? nullptr : &field.value;
  }
  return nullptr;
}

void RequestFields::Fail(const Status& status) {
  if (status_.ok()) status_ = status;
}

void RequestFields::Fail(Refused code, std::string_view name, std::string_view what) {
  Fail(Refuse(code, StrCat(where_, ShownName(name), " ", what)));
}

std::string RequestFields::Text(std::string_view name) {
  const json::element* value = Take(name);
  if (value == nullptr) return {};
  std::string_view text;
  if (value->get_string().get(text) != simdjson::SUCCESS) Fail(Refused::kBadRequest, name, "is not a string");
  return std::string(text);
}

int64_t RequestFields::Integer(std::string_view name, Refused code, std::optional<int64_t> otherwise) {
  const json::element* value = Take(name);
  if (value == nullptr) {
    if (!otherwise) Fail(Refused::kBadRequest, name, "is missing");
    return otherwise.value_or(0);
  }
  int64_t integer = 0;
  if (value->get_int64().get(integer) != simdjson::SUCCESS) Fail(code, name, "is not an integer of 64 bits");
  return integer;
}

bool RequestFields::Flag(std::string_view name) {
  const json::element* value = Take(name);
  bool flag = false;
  if (value != nullptr && value->get_bool().get(flag) != simdjson::SUCCESS) {
    Fail(Refused::kBadRequest, name, "is neither true nor false");
  }
  return flag;
}

std::optional<Money> RequestFields::Amount(std::string_view name) {
  const json::element* value = Take(name);
  if (value == nullptr) return std::nullopt;
  std::string_view text;
  if (value->get_string().get(text) != simdjson::SUCCESS) {
    Fail(Refused::kBadPrice, name, "is not a decimal in a string, such as \"199.90\"");
    return std::nullopt;
  }
  const Result<Money> money = Money::Parse(text);
  if (!money.ok()) Fail(money.error());
  return money.ok() ? std::optional(*money) : std::nullopt;
}

std::optional<json::object> RequestFields::Object(std::string_view name) {
  const json::element* value = Take(name);
  json::object object;
  if (value == nullptr) return std::nullopt;
  if (value->get_object().get(object) != simdjson::SUCCESS) {
    Fail(Refused::kBadRequest, name, "is not an object");
    return std::nullopt;
  }
  return object;
}

Attrs RequestFields::Attributes(std::string_view name) {
  Attrs attrs;
  const auto object = Object(name);
  if (!object) return attrs;
  for (const auto& [attr, value] : *object) {
    const std::optional<AttrValue> read = AttrOf(value);
    if (!read) Fail(Refused::kBadRequest, StrCat(name, ".", attr), "is not a string, a number or a boolean");
    if (read && !attrs.emplace(attr, *read).second) {
      Fail(Refused::kBadRequest, StrCat(name, ".", attr), "is there twice");
    }
  }
  return attrs;
}

std::vector<ZoneStock> RequestFields::Stocks(std::string_view name) {
  std::vector<ZoneStock> stocks;
  const json::element* value = Take(name);
  json::array array;
  if (value == nullptr) return stocks;
  if (value->get_array().get(array) != simdjson::SUCCESS) {
    Fail(Refused::kBadRequest, name, "is not an array");
    return stocks;
  }
  for (const json::element element : array) {
    json::object object;
    if (element.get_object().get(object) != simdjson::SUCCESS) {
      Fail(Refused::kBadRequest, name, "has an element that is not an object");
      break;
    }
    RequestFields zone(object, StrCat(where_, name, "."));
    stocks.push_back({.geo_zone = zone.Text("geo_zone"), .qty = zone.Integer("qty", Refused::kBadQuantity)});
    zone.Ignore("reserved");  // as a product card gives it
    if (const Status status = zone.Finish(); !status.ok()) Fail(status);
  }
  return stocks;
}

Status RequestFields::Finish() {
  for (const Field& field : fields_) {
    if (!field.taken) Fail(Refused::kBadRequest, field.name, "is not a field of this operation");
  }
  return status_;
}

Result<json::object> ParseRequest(std::string_view text) {
  if (text.size() > kRequestBytesMax) {
    return Refuse(Refused::kBadRequest,
                  StrCat("the request has ", text.size(), " bytes; it may have ", kRequestBytesMax));
  }
  thread_local json::parser parser;
  json::element element;
  if (const auto error = parser.parse(text.data(), text.size()).get(element); error != simdjson::SUCCESS) {
    return Refuse(Refused::kBadRequest, StrCat("not valid JSON: ", simdjson::error_message(error)));
  }
  json::object object;
  if (element.get_object().get(object) != simdjson::SUCCESS) {
    return Refuse(Refused::kBadRequest, "the request is not a JSON object");
  }
  return object;
}

}  // namespace braid::shop
