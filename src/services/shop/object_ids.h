// ObjectIds as the 24 hexadecimal digits by which carts and orders are called.
#pragma once

#include <string>

#include "client/handles.h"

namespace braid::shop {

inline std::string NewObjectId() {
  bson_oid_t oid;
  bson_oid_init(&oid, nullptr);
  char text[25];
  bson_oid_to_string(&oid, text);
  return text;
}

/// Empty if the field is not an ObjectId.
inline std::string ObjectIdOf(const bson_t& document, const char* field) {
  bson_iter_t found;
  if (!bson_iter_init_find(&found, &document, field) || !BSON_ITER_HOLDS_OID(&found)) return {};
  char text[25];
  bson_oid_to_string(bson_iter_oid(&found), text);
  return text;
}

/// A text that is not an ObjectId becomes zeros, which no document has.
inline void AppendObjectId(client::Bson& document, const char* key, const std::string& text) {
  bson_oid_t oid{};
  if (bson_oid_is_valid(text.data(), text.size())) bson_oid_init_from_string(&oid, text.c_str());
  BSON_APPEND_OID(document.get(), key, &oid);
}

}  // namespace braid::shop
