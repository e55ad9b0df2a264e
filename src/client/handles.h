// Owners of libmongoc's objects, its errors as Status, commands that many callers run, and documents as JSON, of which
// the program prints one per command (F4).
#pragma once

#include <mongoc/mongoc.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "braid/clients.h"
#include "braid/document.h"

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
using ClientPtr = std::unique_ptr<mongoc_client_t, Destroyer<mongoc_client_destroy>>;
using FindAndModifyPtr = std::unique_ptr<mongoc_find_and_modify_opts_t, Destroyer<mongoc_find_and_modify_opts_destroy>>;
using PoolPtr = std::unique_ptr<mongoc_client_pool_t, Destroyer<mongoc_client_pool_destroy>>;
using SessionPtr = std::unique_ptr<mongoc_client_session_t, Destroyer<mongoc_client_session_destroy>>;
using TransactionOptsPtr = std::unique_ptr<mongoc_transaction_opt_t, Destroyer<mongoc_transaction_opts_destroy>>;
using ReadConcernPtr = std::unique_ptr<mongoc_read_concern_t, Destroyer<mongoc_read_concern_destroy>>;
using UriPtr = std::unique_ptr<mongoc_uri_t, Destroyer<mongoc_uri_destroy>>;
using WriteConcernPtr = std::unique_ptr<mongoc_write_concern_t, Destroyer<mongoc_write_concern_destroy>>;

/// A Document with one appender per type; calls can be chained. Every integer is an int64, whatever its C++ type.
class Bson : public braid::Document {
 public:
  Bson() = default;

  /// Appends a field and returns the document, so that calls can be chained.
  Bson& Text(const char* key, std::string_view value) {
    bson_append_utf8(get(), key, -1, value.data(), static_cast<int>(value.size()));
    return *this;
  }
  Bson& Integer(const char* key, int64_t value) {
    bson_append_int64(get(), key, -1, value);
    return *this;
  }
  Bson& Double(const char* key, double value) {
    bson_append_double(get(), key, -1, value);
    return *this;
  }
  Bson& Bool(const char* key, bool value) {
    bson_append_bool(get(), key, -1, value);
    return *this;
  }
  Bson& Document(const char* key, const braid::Document& value) {
    bson_append_document(get(), key, -1, value.get());
    return *this;
  }
  Bson& Array(const char* key, const braid::Document& value) {
    bson_append_array(get(), key, -1, value.get());
    return *this;
  }
  /// Milliseconds since 1970.
  Bson& Date(const char* key, int64_t value) {
    bson_append_date_time(get(), key, -1, value);
    return *this;
  }
  Bson& Binary(const char* key, std::string_view value) {
    bson_append_binary(get(), key, -1, BSON_SUBTYPE_BINARY, reinterpret_cast<const uint8_t*>(value.data()),
                       static_cast<uint32_t>(value.size()));
    return *this;
  }
  /// An array of strings.
  Bson& Texts(const char* key, std::span<const std::string> values);
};

/// libmongoc's global state; call before its first use.
void InitOnce();

inline CollectionPtr CollectionOf(mongoc_client_t* client, const std::string& database, const std::string& collection) {
  return CollectionPtr(mongoc_client_get_collection(client, database.c_str(), collection.c_str()));
}

/// libmongoc's error as a Status: with the server's code if the server reported it, kBadValue for a mistake of the
/// caller, else kHostUnreachable.
Status FromError(const bson_error_t& error);

/// The document as one line of plain JSON; "null" if a text in it is not UTF-8.
std::string ToJson(const bson_t& document);
inline std::string ToJson(const Bson& document) { return ToJson(*document.get()); }

/// The document as one line of plain JSON on standard output (F4).
void PrintJson(const Bson& document);

/// Extended JSON to BSON; kFailedToParse.
Result<BsonPtr> ParseJson(std::string_view text);

/// Runs a command on a database and gives its reply.
Result<BsonPtr> RunCommand(mongoc_client_t* client, const char* database, const bson_t* command);

/// Drops a collection; OK if there is none.
Status DropCollection(mongoc_client_t* client, const std::string& database, const std::string& collection);

/// PrintJson() was called, or MarkJsonPrinted(). The program's end asks: a command that failed before printing an
/// object prints one with the error.
bool JsonPrinted();
/// For commands that write their object piece by piece.
void MarkJsonPrinted();

}  // namespace braid::client
