// Engine: a whole server without a network. Bytes come in through wire/ (or an in-process stream); this runs the
// commands.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/memory_budget.h"
#include "braid/clock.h"
#include "braid/status.h"
#include "engine/commands/request.h"

namespace braid::commands {

struct EngineOptions {
  /// Where the store lives; created if absent.
  std::filesystem::path directory;
  /// Logical shards that new sharded collections are spread over. Default 4, 1..1024; a directory that has more keeps
  /// them.
  uint32_t shards = 4;
  /// Memory for RocksDB's block cache and write buffers together. Default 512 MiB, at least 16 MiB.
  uint64_t cache_bytes = 512ull << 20;
  /// Opens a store that has lost durable data instead of refusing it.
  bool accept_loss = false;
  /// Memory that all requests hold together: changes of open transactions, sorts, groups, replies. A request that would
  /// exceed it gets an error. Default a quarter of the machine's memory, at least 64 MiB.
  uint64_t memory_limit_bytes = MemoryBudget::DefaultLimit();
  /// How long a transaction may be open before it is aborted. Default 60 s, at least 1 s.
  std::chrono::seconds transaction_lifetime{60};
  /// Operations that take at least this long are slow, for the log and for level 1 of the profiler. Default 100 ms.
  std::chrono::milliseconds slow{100};
  /// Writes slow operations to the log.
  bool logs_slow = false;
  /// Allows configureFailPoint, for tests only.
  bool test_commands = false;
  /// The address clients connect to, for hello, explain and config.*.
  std::string advertised_host = "localhost:27017";
  const Clock* clock = &Clock::System();

  Status Validate() const;
};

struct EngineParts;

/// Any thread. Handlers run on the caller's thread and never wait for another client's request.
class Engine {
 public:
  /// Opens or creates the directory. kFileAlreadyOpen if another process has it.
  static Result<std::unique_ptr<Engine>> Open(const EngineOptions& options);
  ~Engine();

  /// A new connection; `remote` as in Client.
  Client Connect(std::string remote);
  void Disconnect(const Client& client);
  /// The client is gone: its request is interrupted.
  void Interrupt(const Client& client);

  /// Runs one command. Never throws, always answers: an error is a reply too.
  Reply Run(Client& client, const Request& request);

  /// Calls `done` once the log is durable past `position` (from any thread, maybe at once), or with the error that
  /// stopped the log.
  void WhenDurable(uint64_t position, std::function<void(Status, size_t turn)> done);
  /// The same, waiting.
  Status WaitDurable(uint64_t position);
  /// Waits until everything that was committed so far is durable. An error if the store takes no more writes.
  Status Sync();

  /// Interrupts running requests and refuses new ones: the first step of shutting down.
  void BeginShutdown();
  /// Requests being run right now.
  size_t running() const;
  /// Figures for serverStatus that only the wire knows.
  void SetConnectionFigures(std::function<bson::Document()> figures);

  /// A unique id of this run of the engine, in hexadecimal.
  std::string process_id() const;

  MemoryBudget& memory();
  EngineParts& parts() { return *parts_; }

 private:
  explicit Engine(std::unique_ptr<EngineParts> parts);
  std::unique_ptr<EngineParts> parts_;
};

}  // namespace braid::commands
