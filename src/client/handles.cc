#include "client/handles.h"

#include <atomic>
#include <cstdio>
#include <mutex>

#include "base/log.h"

namespace braid::client {
namespace {

std::atomic<bool> json_printed = false;

}  // namespace

bool JsonPrinted() { return json_printed; }
void MarkJsonPrinted() { json_printed = true; }

void InitOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    mongoc_init();
    // libmongoc's own log lines are dropped: its errors are also returned as errors.
    const auto log = [](mongoc_log_level_t, const char* domain, const char* message, void*) {
      log::debug("{}: {}", domain, message);
    };
    mongoc_log_set_handler(log, nullptr);
  });
}

Bson& Bson::Texts(const char* key, std::span<const std::string> values) {
  bson_t array;
  bson_append_array_begin(get(), key, -1, &array);
  uint32_t index = 0;
  for (const std::string& value : values) {
    char space[16];
    const char* name = nullptr;
    const size_t length = bson_uint32_to_string(index++, &name, space, sizeof(space));
    bson_append_utf8(&array, name, static_cast<int>(length), value.data(), static_cast<int>(value.size()));
  }
  bson_append_array_end(get(), &array);
  return *this;
}

// Of libmongoc's own errors only a lost or absent server is worth a retry.
Status FromError(const bson_error_t& error) {
  const bool from_server = error.domain == MONGOC_ERROR_SERVER || error.domain == MONGOC_ERROR_WRITE_CONCERN;
  if (from_server && error.code != 0) return Status(static_cast<Code>(error.code), error.message);
  const bool misuse = error.domain == MONGOC_ERROR_BSON || error.domain == MONGOC_ERROR_COMMAND ||
                      error.domain == MONGOC_ERROR_TRANSACTION || error.domain == MONGOC_ERROR_CURSOR;
  return Status(misuse ? Code::kBadValue : Code::kHostUnreachable, error.message);
}

void PrintJson(const Bson& document) {
  MarkJsonPrinted();
  std::printf("%s\n", ToJson(document).c_str());
}

std::string ToJson(const bson_t& document) {
  std::string json = Document::View(document).ToJson();
  return json.empty() ? "null" : json;
}

Result<BsonPtr> ParseJson(std::string_view text) {
  BRAID_TRY(const Document parsed, Document::FromJson(text));
  return BsonPtr(bson_copy(parsed.get()));
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
