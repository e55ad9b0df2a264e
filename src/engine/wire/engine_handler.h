// EngineHandler: the engine as the wire's handler. Header-only, so that the wire's library does not need the engine's.
#pragma once

#include <utility>

#include "engine/commands/command.h"
#include "engine/commands/engine.h"
#include "engine/wire/handler.h"

namespace braid::wire {

/// Borrows the engine, which must outlive it.
class EngineHandler final : public Handler {
 public:
  explicit EngineHandler(commands::Engine& engine) : engine_(engine) {}

  commands::Client Connect(std::string remote) override { return engine_.Connect(std::move(remote)); }
  void Disconnect(const commands::Client& client) override { engine_.Disconnect(client); }
  void Interrupt(const commands::Client& client) override { engine_.Interrupt(client); }
  commands::Reply Run(commands::Client& client, const commands::Request& request) override {
    return engine_.Run(client, request);
  }
  bool IsQuick(const commands::Request& request) override { return commands::IsQuick(request); }
  void WhenDurable(uint64_t position, std::function<void(Status, size_t turn)> done) override {
    engine_.WhenDurable(position, std::move(done));
  }
  MemoryBudget* memory() override { return &engine_.memory(); }
  void BeginShutdown() override { engine_.BeginShutdown(); }

 private:
  commands::Engine& engine_;
};

}  // namespace braid::wire
