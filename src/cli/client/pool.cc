#include "cli/client/pool.h"

#include <mutex>

#include "base/strings.h"

namespace braid::client {
namespace {

void InitOnce() {
  static std::once_flag once;
  std::call_once(once, [] { mongoc_init(); });
}

}  // namespace

Result<Pool> Pool::Connect(const std::string& uri, size_t clients_max) {
  InitOnce();
  bson_error_t error{};
  const UriPtr parsed(mongoc_uri_new_with_error(uri.c_str(), &error));
  if (parsed == nullptr) {
    return Status(Code::kBadValue,
                  StrCat("not a usable URI: ", error.message, "; write it as mongodb://127.0.0.1:27017"));
  }
  if (!mongoc_uri_has_option(parsed.get(), MONGOC_URI_SERVERSELECTIONTIMEOUTMS)) {
    mongoc_uri_set_option_as_int32(parsed.get(), MONGOC_URI_SERVERSELECTIONTIMEOUTMS, 5000);
  }
  mongoc_uri_set_option_as_int32(parsed.get(), MONGOC_URI_MAXPOOLSIZE, static_cast<int32_t>(clients_max));
  mongoc_uri_set_appname(parsed.get(), "braid");
  PoolPtr handle(mongoc_client_pool_new_with_error(parsed.get(), &error));
  if (handle == nullptr) return FromError(error);
  mongoc_client_pool_set_error_api(handle.get(), MONGOC_ERROR_API_VERSION_2);
  Pool pool(std::move(handle));
  Bson ping;
  BSON_APPEND_INT32(ping.get(), "ping", 1);
  if (const auto reply = RunCommand(pool.Acquire().get(), "admin", ping.get()); !reply.ok()) {
    return Status(reply.error().code(),
                  StrCat("no server answers at ", mongoc_uri_get_string(parsed.get()), ": ", reply.error().message(),
                         "; start one with `braid serve`, or give a directory as --store"));
  }
  return pool;
}

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
