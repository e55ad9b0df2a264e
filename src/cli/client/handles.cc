#include "cli/client/handles.h"

namespace braid::client {

Status FromError(const bson_error_t& error) {
  const bool from_server = error.domain == MONGOC_ERROR_SERVER || error.domain == MONGOC_ERROR_WRITE_CONCERN;
  const bool coded = from_server && error.code != 0;
  return Status(coded ? static_cast<Code>(error.code) : Code::kHostUnreachable, error.message);
}

Result<BsonPtr> ParseJson(std::string_view text) {
  bson_error_t error{};
  BsonPtr bson(
      bson_new_from_json(reinterpret_cast<const uint8_t*>(text.data()), static_cast<ssize_t>(text.size()), &error));
  if (bson == nullptr) return Status(Code::kFailedToParse, error.message[0] != '\0' ? error.message : "not a document");
  return bson;
}

}  // namespace braid::client
