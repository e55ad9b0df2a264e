#include "cli/serve_http.h"

#include <CLI/CLI.hpp>
#include <optional>

#include "cli/advise/advice.h"
#include "cli/advise/source.h"
#include "embedded/engine_clients.h"
#include "http/app.h"

namespace braid::cli {
namespace {

constexpr std::chrono::milliseconds kHttpGrace{1000};
constexpr size_t kAdviceSample = 5000;

Result<std::string> AdviceJson(Clients& clients, const advise::Place& place, int64_t shards,
                               const std::atomic<bool>& stop) {
  BRAID_TRY(const advise::Advice advice,
            AdviseCollection(clients, place, kAdviceSample, static_cast<size_t>(shards), stop));
  return advise::ToJson(advice);
}

}  // namespace

void AddHttpOptions(CLI::App& app, HttpArgs& args) {
  app.add_option("--http-port", args.server.port, "TCP port of the HTTP API; 0 takes a free one.")
      ->check(CLI::Range(0, 65535))
      ->type_name("PORT")
      ->capture_default_str();
  app.add_option("--http-bind", args.server.addresses,
                 "Loopback address of the HTTP API: 127.0.0.1, ::1 or localhost. May be given more than once.")
      ->type_name("ADDRESS")
      ->capture_default_str();
  app.add_option("--http-allow-origin", args.allow_origins,
                 "Origin whose pages may use the HTTP API in a browser, such as https://example.org; * allows every "
                 "origin. May be given more than once.")
      ->type_name("ORIGIN");
  app.add_flag("--no-http", args.off, "No HTTP API.");
}

struct HttpService::Parts {
  http::SealOptions sealing;
  std::optional<embedded::EngineClients> clients;
  std::optional<http::Api> api;
  std::optional<http::App> app;
  std::unique_ptr<http::Server> server;  // last: it ends first
};

HttpService::HttpService(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
HttpService::~HttpService() { Stop(); }

Result<std::unique_ptr<HttpService>> HttpService::Listen(const HttpArgs& args) {
  if (args.off) return std::unique_ptr<HttpService>();
  auto parts = std::make_unique<Parts>();
  parts->sealing.allow_origins = args.allow_origins;
  BRAID_TRY(parts->server, http::Server::Listen(args.server));
  return std::unique_ptr<HttpService>(new HttpService(std::move(parts)));
}

void HttpService::Serve(commands::Engine& engine, wire::Handler& handler) {
  parts_->clients.emplace(engine, handler);
  parts_->api.emplace(
      *parts_->clients, [server = parts_->server.get()] { return server->figures(); },
      [clients = &*parts_->clients](const std::string& database, const std::string& collection, int64_t shards,
                                    const std::atomic<bool>& stop) {
        return AdviceJson(*clients, {database, collection}, shards, stop);
      });
  parts_->app.emplace(*parts_->api, http::AllRoutes(), parts_->sealing);
  parts_->server->Serve(*parts_->app);
}

std::string HttpService::address() const { return parts_->server->address(); }

void HttpService::BeginStop() { parts_->server->BeginStop(); }

void HttpService::Drain() {
  if (parts_->server->Drain(kHttpGrace)) return Stop();  // with the engine still there, services end as they should
  if (parts_->api) parts_->api->Stop();
}

void HttpService::Stop() {
  if (parts_->api) parts_->api->Stop();
  parts_->server->Stop();
  parts_->app.reset();
  parts_->api.reset();
  parts_->clients.reset();
}

}  // namespace braid::cli
