// Owners of libmongoc's objects, and its errors as Status.
#pragma once

#include <mongoc/mongoc.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace braid::client {

template <auto destroy>
struct Destroyer {
  template <typename T>
  void operator()(T* object) const {
    destroy(object);
  }
};
using BsonPtr = std::unique_ptr<bson_t, Destroyer<bson_destroy>>;
using BulkPtr = std::unique_ptr<mongoc_bulk_operation_t, Destroyer<mongoc_bulk_operation_destroy>>;
using CollectionPtr = std::unique_ptr<mongoc_collection_t, Destroyer<mongoc_collection_destroy>>;
using CursorPtr = std::unique_ptr<mongoc_cursor_t, Destroyer<mongoc_cursor_destroy>>;
using DatabasePtr = std::unique_ptr<mongoc_database_t, Destroyer<mongoc_database_destroy>>;
using PoolPtr = std::unique_ptr<mongoc_client_pool_t, Destroyer<mongoc_client_pool_destroy>>;
using UriPtr = std::unique_ptr<mongoc_uri_t, Destroyer<mongoc_uri_destroy>>;
using WriteConcernPtr = std::unique_ptr<mongoc_write_concern_t, Destroyer<mongoc_write_concern_destroy>>;

/// A bson_t that is destroyed with its scope, and can be filled again without asking for memory again.
class Bson {
 public:
  Bson() { bson_init(&bson_); }
  ~Bson() { bson_destroy(&bson_); }
  Bson(const Bson&) = delete;
  Bson& operator=(const Bson&) = delete;
  void Clear() { bson_reinit(&bson_); }
  bson_t* get() { return &bson_; }
  const bson_t* get() const { return &bson_; }

 private:
  bson_t bson_;
};

/// What libmongoc says, with the server's code if it was the server that said it, else kHostUnreachable.
Status FromError(const bson_error_t& error);

/// Extended JSON to BSON; kFailedToParse.
Result<BsonPtr> ParseJson(std::string_view text);

}  // namespace braid::client
