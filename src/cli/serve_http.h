// The HTTP side of `braid serve`: its options, and its life beside the MongoDB protocol.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/commands/engine.h"
#include "engine/wire/handler.h"
#include "http/server.h"

namespace CLI {
class App;
}

namespace braid::cli {

struct HttpArgs {
  bool off = false;
  http::ServerOptions server;
  std::vector<std::string> allow_origins;
};

/// Adds --http-port, --http-bind, --http-allow-origin and --no-http.
void AddHttpOptions(CLI::App& app, HttpArgs& args);

/// The HTTP server of a store. One thread at a time.
class HttpService {
 public:
  /// Opens the port; null if HTTP is off.
  static Result<std::unique_ptr<HttpService>> Listen(const HttpArgs& args);
  ~HttpService();

  /// Starts to answer, with clients of the engine. It must outlive the service.
  void Serve(commands::Engine& engine, wire::Handler& handler);
  /// "127.0.0.1:8080"
  std::string address() const;

  /// The stop in three steps, so that it goes on beside that of the MongoDB protocol: no new requests; a moment for
  /// those that run; and, once the engine has interrupted the rest, the end.
  void BeginStop();
  void Drain();
  void Stop();

 private:
  struct Parts;
  explicit HttpService(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace braid::cli
