#include "braid/embedded.h"

#include <filesystem>

#include "base/assert.h"
#include "base/strings.h"
#include "embedded/engine_clients.h"
#include "embedded/private_view.h"
#include "engine/commands/engine.h"
#include "engine/storage/directory.h"
#include "engine/wire/engine_handler.h"
#include "engine/wire/server.h"

namespace braid {
namespace {

Status ExpectStore(const std::string& directory) {
  std::error_code ignored;
  if (storage::HoldsStore(directory)) return {};
  if (!std::filesystem::exists(directory, ignored)) {
    return Status(Code::kNamespaceNotFound, StrCat("there is no directory ", directory, ", and so no store to open"));
  }
  return Status(Code::kNamespaceNotFound, StrCat("the directory ", directory, " holds no store"));
}

}  // namespace

struct Embedded::Parts {
  Parts(std::unique_ptr<embedded::PrivateView> of, std::unique_ptr<commands::Engine> opened)
      : view(std::move(of)), engine(std::move(opened)), handler(*engine), clients(*engine, handler) {}

  const std::unique_ptr<embedded::PrivateView>
      view;  // null if the directory itself is open; removed after the engine has ended
  const std::unique_ptr<commands::Engine> engine;
  wire::EngineHandler handler;
  std::unique_ptr<wire::Server> server;  // once asked for
  embedded::EngineClients clients;

  Status End() {
    if (server != nullptr) server->Stop();
    clients.Clear();
    const Status synced = engine->Sync();
    engine->BeginShutdown();
    return synced;
  }
};

Embedded::Embedded(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

// Close() refuses while clients are in use; the destructor cannot.
Embedded::~Embedded() {
  if (parts_ != nullptr) parts_->End().Ignore("nobody is left to be told");
}

Status Embedded::Close() {
  if (parts_ == nullptr) return {};
  if (const size_t lent = parts_->clients.lent(); lent > 0) {
    return Status(Code::kConflictingOperationInProgress,
                  StrCat("the store cannot be closed: ", lent, " of its clients are in use"));
  }
  const Status ended = parts_->End();
  parts_.reset();
  return ended;
}

Result<std::unique_ptr<Embedded>> Embedded::Open(const EmbeddedOptions& options) {
  if (options.directory.empty()) return Status(Code::kBadValue, "a directory is needed, such as ./data");
  commands::EngineOptions engine_options;
  engine_options.directory = options.directory;
  engine_options.shards = options.shards;
  engine_options.cache_bytes = options.cache_bytes;
  engine_options.accept_loss = options.accept_loss;
  BRAID_CHECK_OK(engine_options.Validate());
  if (!options.create) BRAID_CHECK_OK(ExpectStore(options.directory));
  std::unique_ptr<embedded::PrivateView> view;
  if (options.private_view) {
    BRAID_TRY(view, embedded::PrivateView::Make(options.directory));
    engine_options.directory = view->directory();
  }
  BRAID_TRY(std::unique_ptr<commands::Engine> engine, commands::Engine::Open(engine_options));
  return std::unique_ptr<Embedded>(new Embedded(std::make_unique<Parts>(std::move(view), std::move(engine))));
}

Result<std::string> Embedded::Listen(const ListenOptions& options) {
  BRAID_ASSERT(parts_ != nullptr);  // not after Close()
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
  BRAID_ASSERT(parts_ != nullptr);  // not after Close()
  return parts_->clients.Pop();
}
void Embedded::Push(mongoc_client_t* client) { parts_->clients.Push(client); }

bool IsUri(const std::string& store) { return store.starts_with("mongodb://") || store.starts_with("mongodb+srv://"); }

Status CheckStoreName(const std::string& store) {
  const size_t end = store.find("://");
  if (end == std::string::npos || IsUri(store)) return {};
  const std::string scheme = store.substr(0, end);
  constexpr const char* kSchemeBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.";
  if (scheme.empty() || scheme.find_first_not_of(kSchemeBytes) != std::string::npos) return {};
  return Status(Code::kBadValue, StrCat("the scheme of ", store, " is unknown: a store is mongodb://HOST:PORT, ",
                                        "mongodb+srv://HOST or a directory; ./", store, " names a directory"));
}

namespace {

// A running server may remove files between the copy of their list and the opening: then it is tried again.
Result<std::unique_ptr<Clients>> OpenView(const std::string& store) {
  constexpr int kTriesMax = 10;
  for (int i = 1;; ++i) {
    auto opened = Embedded::Open({.directory = store, .private_view = true});
    if (opened.ok()) return *std::move(opened);
    if (i == kTriesMax || embedded::LookAt(store).kind != embedded::Access::Kind::kInUse) return opened.error();
  }
}

Status InUse(std::string_view what) {
  return Status(Code::kFileAlreadyOpen,
                StrCat(what, "; if a server has it, give that server's address as --store, such as ",
                       "--store mongodb://127.0.0.1:27017"));
}

}  // namespace

Result<std::unique_ptr<Clients>> OpenStore(const std::string& store, StoreUse use) {
  BRAID_CHECK_OK(CheckStoreName(store));
  if (IsUri(store)) return Clients::Connect(store);
  std::error_code ignored;
  const bool there = std::filesystem::is_directory(store, ignored);
  const embedded::Access access = there ? embedded::LookAt(store) : embedded::Access();
  if (access.kind == embedded::Access::Kind::kUnreadable) return Status(Code::kUnauthorized, access.Describe(store));
  if (use != StoreUse::kCreate) BRAID_CHECK_OK(ExpectStore(store));
  if (access.kind == embedded::Access::Kind::kWritable) {
    auto opened = Embedded::Open({.directory = store});
    if (opened.ok()) return *std::move(opened);
    if (opened.error().code() != Code::kFileAlreadyOpen) return opened.error();
    return use == StoreUse::kRead ? OpenView(store) : InUse(opened.error().message());
  }
  if (use == StoreUse::kRead) return OpenView(store);
  if (access.kind == embedded::Access::Kind::kInUse) return InUse(access.Describe(store));
  return Status(Code::kUnauthorized, access.Describe(store));
}

}  // namespace braid
