#include "cli/serving.h"

#include <utility>

namespace braid::cli {
namespace {

// Opens the first free port, from `port` on, of the given number of ports.
template <typename Listen>
auto ListenFrom(uint16_t& port, uint16_t ports, const Listen& listen) -> decltype(listen()) {
  for (;; ++port, --ports) {
    auto listening = listen();
    if (listening.ok() || ports <= 1 || listening.error().code() != Code::kHostUnreachable) return listening;
  }
}

}  // namespace

Result<std::unique_ptr<Serving>> Serving::Open(ServeArgs& args) {
  // The port first: its number goes into the engine's replies, and a port in use is found before the store is touched.
  BRAID_TRY(std::unique_ptr<wire::Server> server,
            ListenFrom(args.server.port, args.ports, [&] { return wire::Server::Listen(args.server); }));
  BRAID_TRY(std::unique_ptr<HttpService> http,
            ListenFrom(args.http.server.port, args.http_ports, [&] { return HttpService::Listen(args.http); }));
  args.engine.advertised_host = server->address();
  BRAID_TRY(std::unique_ptr<commands::Engine> engine, commands::Engine::Open(args.engine));
  std::unique_ptr<Serving> serving(new Serving(std::move(server), std::move(http), std::move(engine)));
  serving->engine_->SetConnectionFigures([server = serving->server_.get()] { return server->Figures(); });
  serving->server_->Serve(serving->handler_);
  serving->note_.emplace(args.store, serving->address(), serving->engine_->process_id());
  if (serving->http_ != nullptr) serving->http_->Serve(*serving->engine_, serving->handler_);
  return serving;
}

Serving::~Serving() { Stop(); }

void Serving::Stop() {
  if (std::exchange(stopped_, true)) return;
  if (http_ != nullptr) http_->BeginStop();
  server_->Stop();
  if (http_ != nullptr) http_->Drain();
  engine_->BeginShutdown();
  if (http_ != nullptr) http_->Stop();
  note_.reset();
}

}  // namespace braid::cli
