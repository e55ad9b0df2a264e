#include "cli/store_option.h"

#include <CLI/CLI.hpp>

#include "base/log.h"
#include "base/strings.h"
#include "engine/commands/engine.h"
#include "engine/wire/engine_handler.h"
#include "engine/wire/server.h"

namespace braid::cli {
namespace {

class Remote final : public Store {
 public:
  explicit Remote(const std::string& uri) : Store(uri) {}
};

// The engine and the port it is reached at, in this process.
class Embedded final : public Store {
 public:
  Embedded(std::unique_ptr<wire::Server> server, std::unique_ptr<commands::Engine> engine)
      : Store(StrCat("mongodb://", server->address())),
        engine_(std::move(engine)),
        handler_(*engine_),
        server_(std::move(server)) {
    engine_->SetConnectionFigures([this] { return server_->Figures(); });
    server_->Serve(handler_);
  }
  ~Embedded() override {
    server_->Stop();
    engine_->BeginShutdown();
  }

 private:
  std::unique_ptr<commands::Engine> engine_;
  wire::EngineHandler handler_;
  std::unique_ptr<wire::Server> server_;
};

}  // namespace

void AddStoreOption(CLI::App& app, std::string& store) {
  app.add_option("--store", store,
                 "A server, as mongodb://HOST:PORT, or a directory, which is opened for the time of this.")
      ->type_name("DIR|URI")
      ->capture_default_str();
}

bool IsUri(const std::string& store) { return store.starts_with("mongodb://") || store.starts_with("mongodb+srv://"); }

Result<std::unique_ptr<Store>> Store::Open(const std::string& store) {
  if (IsUri(store)) return std::make_unique<Remote>(store);
  if (store.empty()) return Status(Code::kBadValue, "--store needs a directory or a mongodb:// URI");
  log::Init(spdlog::level::warn);
  wire::ServerOptions where;
  where.port = 0;
  BRAID_TRY(std::unique_ptr<wire::Server> server, wire::Server::Listen(where));
  commands::EngineOptions options;
  options.directory = store;
  options.advertised_host = server->address();
  auto engine = commands::Engine::Open(options);
  if (engine.ok()) return std::make_unique<Embedded>(std::move(server), *std::move(engine));
  if (engine.error().code() != Code::kFileAlreadyOpen) return engine.error();
  return Status(
      Code::kFileAlreadyOpen,
      StrCat(engine.error().message(),
             "; if a server has it, give that server's address as --store, such as --store mongodb://127.0.0.1:27017"));
}

}  // namespace braid::cli
