#include "client/command.h"

namespace braid::client {

Result<BsonPtr> RunCommand(mongoc_client_t* client, const char* database, const bson_t* command) {
  bson_error_t error{};
  bson_t raw;
  const bool ok = mongoc_client_command_simple(client, database, command, nullptr, &raw, &error);
  BsonPtr reply(bson_copy(&raw));
  bson_destroy(&raw);
  if (!ok) return FromError(error);
  return reply;
}

Status DropCollection(mongoc_client_t* client, const std::string& database, const std::string& collection) {
  Bson command;
  BSON_APPEND_UTF8(command.get(), "drop", collection.c_str());
  const auto reply = RunCommand(client, database.c_str(), command.get());
  if (reply.ok() || reply.error().code() == Code::kNamespaceNotFound) return {};
  return reply.error();
}

}  // namespace braid::client
