// Walking over an array of documents.
#pragma once

#include <bson/bson.h>

#include "braid/status.h"

namespace braid::shop {

/// Calls `each` for every document in the array `field`; its error ends the walk. Elements of other types are passed
/// over. OK if there is no such array.
template <typename Each>
Status ForEachElement(const bson_t& document, const char* field, const Each& each) {
  bson_iter_t array;
  bson_iter_t element;
  if (!bson_iter_init_find(&array, &document, field) || !BSON_ITER_HOLDS_ARRAY(&array)) return {};
  if (!bson_iter_recurse(&array, &element)) return {};
  while (bson_iter_next(&element)) {
    if (!BSON_ITER_HOLDS_DOCUMENT(&element)) continue;
    const uint8_t* bytes = nullptr;
    uint32_t size = 0;
    bson_t inner;
    bson_iter_document(&element, &size, &bytes);
    if (bson_init_static(&inner, bytes, size)) BRAID_CHECK_OK(each(inner));
  }
  return {};
}

}  // namespace braid::shop
