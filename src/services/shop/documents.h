// Documents of the shop: finding them inside a transaction or outside of one by the same calls, walking over their
// arrays, and ObjectIds as the 24 hexadecimal digits by which carts and orders are called.
#pragma once

#include <bson/bson.h>

#include <functional>
#include <string>

#include "braid/status.h"
#include "braid/transaction.h"
#include "client/handles.h"

namespace braid::shop {

/// One thread at a time; lives no longer than what it was made from.
class Reads {
 public:
  /// Of the transaction's snapshot, with its own writes.
  explicit Reads(Transaction& transaction) : transaction_(&transaction) {}
  /// Of the latest committed state, each call by itself: one round trip, without a transaction's commit.
  Reads(const Client& client, const std::string& database) : client_(client.get()), database_(database) {}

  Status Find(const char* collection, const bson_t* filter, const Transaction::FindOptions& options,
              const Transaction::OnDocument& each);
  /// The first that matches; null if there is none.
  Result<client::BsonPtr> FindOne(const char* collection, const bson_t* filter);

 private:
  Transaction* transaction_ = nullptr;
  mongoc_client_t* client_ = nullptr;
  std::string database_;
};

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
