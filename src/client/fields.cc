#include "client/fields.h"

namespace braid::client {
namespace {

std::optional<bson_iter_t> Field(const bson_t* document, const char* path) {
  bson_iter_t start;
  bson_iter_t found;
  if (!bson_iter_init(&start, document) || !bson_iter_find_descendant(&start, path, &found)) return std::nullopt;
  return found;
}

}  // namespace

int64_t IntegerOf(const bson_t* document, const char* path) {
  const auto field = Field(document, path);
  return field ? bson_iter_as_int64(&*field) : 0;
}

std::string_view TextOf(const bson_t* document, const char* path) {
  const auto field = Field(document, path);
  if (!field || !BSON_ITER_HOLDS_UTF8(&*field)) return {};
  uint32_t length = 0;
  const char* text = bson_iter_utf8(&*field, &length);
  return {text, length};
}

bool BoolOf(const bson_t* document, const char* path) {
  const auto field = Field(document, path);
  return field && BSON_ITER_HOLDS_BOOL(&*field) && bson_iter_bool(&*field);
}

std::optional<int64_t> DateOf(const bson_t* document, const char* path) {
  const auto field = Field(document, path);
  if (!field || !BSON_ITER_HOLDS_DATE_TIME(&*field)) return std::nullopt;
  return bson_iter_date_time(&*field);
}

std::string_view BinaryOf(const bson_t* document, const char* path) {
  const auto field = Field(document, path);
  if (!field || !BSON_ITER_HOLDS_BINARY(&*field)) return {};
  bson_subtype_t subtype{};
  uint32_t length = 0;
  const uint8_t* bytes = nullptr;
  bson_iter_binary(&*field, &subtype, &length, &bytes);
  return {reinterpret_cast<const char*>(bytes), length};
}

}  // namespace braid::client
