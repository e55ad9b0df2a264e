// Serving: a store served on both ports, from its opening to an orderly end; and the report of its state to the service
// manager, by systemd's protocol for services of Type=notify.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/backup/reach.h"
#include "cli/serve_args.h"
#include "cli/serve_http.h"
#include "engine/commands/engine.h"
#include "engine/wire/engine_handler.h"
#include "engine/wire/server.h"

namespace braid::cli {

/// Sends `state`, such as "READY=1", to the socket that $NOTIFY_SOCKET names, as sd_notify(3) does. Does nothing if
/// there is none; never waits, and ignores a socket that cannot be reached.
void NotifyServiceManager(std::string_view state);

/// CLOCK_MONOTONIC, which goes with RELOADING=1.
int64_t MonotonicMicros();

/// One thread at a time.
class Serving {
 public:
  /// Opens the ports and the store, and answers from here on. `args` have passed CheckServeArgs(); sets the ports that
  /// were taken.
  static Result<std::unique_ptr<Serving>> Open(ServeArgs& args);
  /// Calls Stop().
  ~Serving();
  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;

  /// Such as "127.0.0.1:27017".
  std::string address() const { return server_->address(); }
  /// Empty if HTTP is off.
  std::string http_address() const { return http_ == nullptr ? "" : http_->address(); }
  wire::Server& server() { return *server_; }
  commands::Engine& engine() { return *engine_; }
  wire::Handler& handler() { return handler_; }

  /// Lets running requests end, for as long as the options allow, and interrupts the rest. May be called once.
  void Stop();

 private:
  Serving(std::unique_ptr<wire::Server> server, std::unique_ptr<HttpService> http,
          std::unique_ptr<commands::Engine> engine)
      : server_(std::move(server)), engine_(std::move(engine)), handler_(*engine_), http_(std::move(http)) {}

  const std::unique_ptr<wire::Server> server_;
  const std::unique_ptr<commands::Engine> engine_;
  wire::EngineHandler handler_;
  const std::unique_ptr<HttpService> http_;  // null: HTTP is off
  std::optional<backup::ServerNote> note_;   // while it answers
  bool stopped_ = false;
};

}  // namespace braid::cli
