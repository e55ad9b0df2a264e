#include "braid/embedded.h"

#include <mutex>

#include "base/assert.h"
#include "base/strings.h"
#include "client/handles.h"
#include "embedded/stream.h"
#include "engine/commands/engine.h"
#include "engine/wire/engine_handler.h"
#include "engine/wire/server.h"

namespace braid {

struct Embedded::Parts {
  explicit Parts(std::unique_ptr<commands::Engine> opened) : engine(std::move(opened)), handler(*engine) {}

  const std::unique_ptr<commands::Engine> engine;
  wire::EngineHandler handler;
  std::unique_ptr<wire::Server> server;  // once asked for
  std::mutex mu;
  std::vector<client::ClientPtr> idle;  // guarded by mu
};

Embedded::Embedded(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Embedded::~Embedded() {
  if (parts_->server != nullptr) parts_->server->Stop();
  parts_->idle.clear();
  parts_->engine->BeginShutdown();
}

Result<std::unique_ptr<Embedded>> Embedded::Open(const EmbeddedOptions& options) {
  if (options.directory.empty()) return Status(Code::kBadValue, "a directory is needed, such as ./data");
  commands::EngineOptions engine_options;
  engine_options.directory = options.directory;
  engine_options.shards = options.shards;
  engine_options.cache_bytes = options.cache_bytes;
  BRAID_CHECK_OK(engine_options.Validate());
  BRAID_TRY(std::unique_ptr<commands::Engine> engine, commands::Engine::Open(engine_options));
  client::InitOnce();
  return std::unique_ptr<Embedded>(new Embedded(std::make_unique<Parts>(std::move(engine))));
}

Result<std::string> Embedded::Listen(const ListenOptions& options) {
  if (parts_->server != nullptr) return Status(Code::kAlreadyInitialized, "the store is served already");
  wire::ServerOptions server_options;
  server_options.addresses = options.addresses;
  server_options.port = options.port;
  BRAID_TRY(parts_->server, wire::Server::Listen(server_options));
  parts_->engine->SetConnectionFigures([server = parts_->server.get()] { return server->Figures(); });
  parts_->server->Serve(parts_->handler);
  return parts_->server->address();
}

mongoc_client_t* Embedded::Pop() {
  {
    const std::lock_guard lock(parts_->mu);
    if (!parts_->idle.empty()) {
      mongoc_client_t* client = parts_->idle.back().release();
      parts_->idle.pop_back();
      return client;
    }
  }
  // Clients of a pool cannot be given a stream of our own, so each is made alone. The host is never looked up.
  mongoc_client_t* client = mongoc_client_new("mongodb://embedded/?appName=embedded");
  BRAID_ASSERT(client != nullptr);
  mongoc_client_set_error_api(client, MONGOC_ERROR_API_VERSION_2);
  const mongoc_stream_initiator_t connect = [](const mongoc_uri_t*, const mongoc_host_list_t*, void* parts,
                                               bson_error_t*) {
    auto* self = static_cast<Parts*>(parts);
    return embedded::NewStream(*self->engine, self->handler);
  };
  mongoc_client_set_stream_initiator(client, connect, parts_.get());
  return client;
}

void Embedded::Push(mongoc_client_t* client) {
  const std::lock_guard lock(parts_->mu);
  parts_->idle.emplace_back(client);
}

bool IsUri(const std::string& store) { return store.starts_with("mongodb://") || store.starts_with("mongodb+srv://"); }

Result<std::unique_ptr<Clients>> OpenStore(const std::string& store) {
  if (IsUri(store)) return Clients::Connect(store);
  auto embedded = Embedded::Open({.directory = store});
  if (embedded.ok()) return *std::move(embedded);
  if (embedded.error().code() != Code::kFileAlreadyOpen) return embedded.error();
  return Status(
      Code::kFileAlreadyOpen,
      StrCat(embedded.error().message(),
             "; if a server has it, give that server's address as --store, such as --store mongodb://127.0.0.1:27017"));
}

}  // namespace braid
