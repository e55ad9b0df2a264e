// Command: one entry of the table of commands. A handler parses its arguments once, runs, and returns the reply's own
// fields.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "braid/status.h"
#include "engine/bson/builder.h"
#include "engine/commands/request.h"
#include "engine/commands/transactions.h"
#include "engine/txn/context.h"

namespace braid::commands {

struct EngineParts;

/// Flags of a command.
enum : uint32_t {
  kReadOnly = 1,      // changes nothing: allowed while the store is read-only
  kWrites = 2,        // takes a writeConcern
  kAdminOnly = 4,     // only on the database admin (13 elsewhere)
  kHandshake = 8,     // allowed over OP_QUERY
  kRetryable = 16,    // may carry a txnNumber outside a transaction
  kNoOperation = 32,  // not listed in currentOp: too short to matter
  kTestOnly = 64,     // only with test_commands
  kTakesReadConcern = 128,
  kInTransaction = 256,    // may be a statement of a transaction
  kEndsTransaction = 512,  // commits or aborts one
  kGivesWay = 1024,        // may read for long without holding anything that others wait for: gives way to them
};

/// The write concern. Wait() says whether the reply is held back until the log is synced.
struct WriteConcern {
  bool acknowledged = true;  // false: w: 0
  bool journal = true;       // false: j: false
  Status problem;            // reported as writeConcernError: w asks for more nodes than there are, an unknown mode
  bool Wait() const { return acknowledged && journal; }
};

/// One run of a command.
struct Call {
  EngineParts& engine;
  Client& client;
  const Request& request;
  txn::Context& context;
  std::string_view lsid;  // bytes of the session's id document; empty: none
  WriteConcern write_concern;
  int64_t txn_number = -1;                       // of a transaction's statement; -1: none
  Transactions::Checkout* session = nullptr;     // of a request with a transaction number
  RetryLog* retry = nullptr;                     // of a retryable write
  uint64_t snapshot_time = 0;                    // of a snapshot read outside a transaction, for the reply
  std::unique_ptr<MemoryCharge> reply_charge{};  // of a large reply
};

struct Command {
  std::string_view name;
  uint32_t flags = 0;
  std::string_view help;
  Result<bson::Document> (*run)(Call& call) = nullptr;
};

/// The command of that name; null if unknown. Names are case-sensitive but for the historical aliases, which the table
/// lists.
const Command* FindCommand(std::string_view name);
std::span<const Command* const> AllCommands();  ///< sorted by name

/// True for commands that inspect the server or end something: they are answered however many other requests run.
bool IsQuick(const Request& request);

/// Commands that MongoDB has and Braid refuses, sorted, each with the reason its error gives.
struct RefusedCommand {
  std::string_view name;
  std::string_view reason;
  Code code = Code::kCommandNotSupported;
};
const RefusedCommand* FindRefusedCommand(std::string_view name);
std::span<const RefusedCommand> RefusedCommands();

}  // namespace braid::commands
