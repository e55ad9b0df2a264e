// EngineHandler: the engine as the wire's handler. Header-only, so that the wire's library does not need the engine's.
#pragma once

#include <utility>

#include "engine/commands/engine.h"
#include "engine/wire/handler.h"

namespace braid::wire {

/// Borrows the engine, which must outlive it.
class EngineHandler final : public Handler {
 public:
  explicit EngineHandler(commands::Engine& engine) : engine_(engine) {}

  commands::Client Connect(std::string remote) override { return engine_.Connect(std::move(remote)); }
  void Disconnect(const commands::Client& client) override { engine_.Disconnect(client); }
  commands::Reply Run(commands::Client& client, const commands::Request& request) override {
    return engine_.Run(client, request);
  }
  void WhenDurable(uint64_t position, std::function<void(Status)> done) override {
    engine_.WhenDurable(position, std::move(done));
  }
  void BeginShutdown() override { engine_.BeginShutdown(); }

 private:
  commands::Engine& engine_;
};

}  // namespace braid::wire
