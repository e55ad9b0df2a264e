#include "braid/clients.h"

#include "base/strings.h"
#include "client/handles.h"

namespace braid {
namespace {

using client::FromError;
using client::PoolPtr;
using client::UriPtr;

// Clients over sockets, from libmongoc's own pool, whose one monitor watches the servers for all of them.
class Remote final : public Clients {
 public:
  explicit Remote(PoolPtr pool) : pool_(std::move(pool)) {}

 private:
  mongoc_client_t* Pop() override { return mongoc_client_pool_pop(pool_.get()); }
  void Push(mongoc_client_t* client) override { mongoc_client_pool_push(pool_.get(), client); }
  PoolPtr pool_;
};

Status Ping(Clients& clients, const char* where) {
  const auto reply = clients.Acquire().Command("admin", {{"ping", 1}});
  if (reply.ok()) return {};
  return Status(reply.error().code(), StrCat("no server answers at ", where, ": ", reply.error().message(),
                                             "; start one with `braid serve`, or give a directory as --store"));
}

}  // namespace

Result<Document> Client::Command(const std::string& database, const Document& command) const {
  BRAID_TRY(const client::BsonPtr reply, client::RunCommand(client_, database.c_str(), command.get()));
  return Document(reply.get());
}

Result<std::unique_ptr<Clients>> Clients::Connect(const std::string& uri, uint32_t clients_max) {
  client::InitOnce();
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
  PoolPtr pool(mongoc_client_pool_new_with_error(parsed.get(), &error));
  if (pool == nullptr) return FromError(error);
  mongoc_client_pool_set_error_api(pool.get(), MONGOC_ERROR_API_VERSION_2);
  auto clients = std::make_unique<Remote>(std::move(pool));
  BRAID_CHECK_OK(Ping(*clients, mongoc_uri_get_string(parsed.get())));
  return clients;
}

}  // namespace braid
