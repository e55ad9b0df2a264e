// The state of a migration, which writers, readers and the migrator share through the store (C6).
//
// The collection `settlement_migration` has these documents:
//   {_id: "migration", phase, log, old_table, mapping, seq, hash, outputs, verified_seq, why, history: [{phase, at,
//   why}, …],
//    turns: how often a transaction reserved the document}
//   {_id: "mirror of <log>", seq, outputs}
// The first is the head of the single chain too: seq and hash of its newest output, and how many there are. Every write
// changes it on the condition that the phase is still the one it was planned for. So a change of phase and a write
// exclude each other in the store, and a phase begins for all writers at one moment. The second says how far the
// outputs are in the new chains: all up to seq are, in their order. It moves only after they are durable there, and is
// the only thing that backfill, writers and a restart go by. Each log that was ever chosen has its own mirror, so a
// late writer of another log does no harm.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "braid/clients.h"
#include "braid/transaction.h"
#include "services/settlement/migration/options.h"
#include "services/settlement/migration/session_guard.h"
#include "services/settlement/service.h"

namespace braid::settlement::migration {

struct PhaseChange {
  std::string phase;
  int64_t at = 0;
  std::string why;
};

struct State {
  Phase phase = Phase::kNone;
  std::string log;      ///< that the latest migration goes to
  int64_t seq = 0;      ///< of the newest output
  int64_t hash = 0;     ///< of its record in the single chain
  int64_t outputs = 0;  ///< how many there are
  int64_t mirrored_seq = 0;
  int64_t mirrored_outputs = 0;
  int64_t verified_seq = 0;  ///< up to here the new chains were found equal
  std::string why;           ///< of the latest failure or fall-back; empty if there was none since
  std::vector<PhaseChange> history;
};

/// The documents. Any thread. The Clients must outlive it.
class StateStore {
 public:
  /// Creates the collections and documents if absent. While no migration is under way, the head becomes the old table's
  /// newest output if a program that knows of no migrations went on there. kBadValue if a migration with other names is
  /// under way, or the table is another one than that which has outputs.
  static Result<std::unique_ptr<StateStore>> Open(Clients& clients, const MigrationOptions& options);

  /// RunTransaction() with a session that is on the list of session_guard.h, so that others can end it.
  Status InTransaction(const std::function<Status(Transaction&)>& body);

  /// Both documents in one snapshot. kBadValue as from Open(), if the names were changed since.
  Result<State> Load();
  Result<State> LoadIn(Transaction& transaction) { return LoadIn(transaction, options_); }
  /// The same for a transaction that is going to change the migration's document. It has the document to itself from
  /// here on: the second to come is refused at once, and the work of the first is not lost.
  Result<State> LoadToChange(Transaction& transaction);

  /// The head of the single chain moves on from `before`, in the transaction of the write.
  struct NewHead {
    int64_t seq = 0;
    int64_t hash = 0;
    int64_t outputs = 0;
  };
  Status MoveHead(Transaction& transaction, const State& before, const NewHead& head);
  /// Records that everything up to `seq`, which is `outputs` outputs, is in the chains; OK if the mirror is at or past
  /// it.
  Status MoveMirror(int64_t seq, int64_t outputs);

  /// Changes the phase in one step. kConflictingOperationInProgress if the phase is no longer `from`. The preflight
  /// makes the log of this object's options that of the migration.
  Status Change(Phase from, Phase to, const std::string& why = "");
  /// The same, but only if the new chains lack at most `outputs_max` outputs; false if they lack more.
  Result<bool> ChangeIfLacking(int64_t outputs_max, Phase from, Phase to);
  /// How far the new chains were compared, and what was wrong if anything was. kConflictingOperationInProgress if the
  /// migration is not in a phase in which they are compared.
  Status SetVerified(int64_t seq, const std::string& why);

  const MigrationOptions& options() const { return options_; }
  Clients& clients() const { return clients_; }
  SessionGuard& guard() { return guard_; }

 private:
  StateStore(Clients& clients, const MigrationOptions& options)
      : clients_(clients), options_(options), guard_(clients, options.database, options.sessions(), options.clock) {}
  // In create.cc.
  Status Create();
  Status CreateCollection(const std::string& name);
  Status CreateDocuments();
  Status CreateIndex();
  Status ChooseTable();
  Status AdoptHead();

  std::string MirrorId() const { return MirrorIdOf(options_); }
  static std::string MirrorIdOf(const MigrationOptions& options) { return "mirror of " + options.log; }
  static Result<State> LoadIn(Transaction& transaction, const MigrationOptions& options);
  friend Result<State> ReadState(Clients& clients, const MigrationOptions& options);
  Status ChangeIn(Transaction& transaction, const State& state, Phase to, const std::string& why);
  Status Set(Transaction& transaction, Phase phase, const bson_t* change);

  Clients& clients_;
  const MigrationOptions options_;
  SessionGuard guard_;
};

/// The document of the migration, by its id.
inline constexpr const char* kMigrationId = "migration";

/// As StateStore::Load(), of a store where nothing is created for it. kNamespaceNotFound if no migration was ever
/// begun.
Result<State> ReadState(Clients& clients, const MigrationOptions& options);
/// Whether the old table is there.
Result<bool> HasOldTable(Clients& clients, const MigrationOptions& options);

/// Whether outputs may go into the chains directly, or only through the migration that fills them (C6).
/// kIllegalOperation, naming the phase, from the preflight of a migration into this log until the old table is dropped:
/// what is appended to the chains directly is missing in the old table, and the chains would break at the next output
/// that comes through it. Creates nothing in the store.
Status CheckNotUnderWay(Clients& clients, const std::string& database, const std::string& log);

/// Whether a migration has begun that outputs must go through: asked before outputs are taken in by another way (files,
/// TCP, HTTP), and now and then while they are. One thread at a time. The Clients must outlive it.
class MigrationWatch {
 public:
  MigrationWatch(Clients& clients, const Options& options)
      : clients_(clients), database_(options.database), log_(options.log) {}

  /// kIllegalOperation if a migration is running. Asks the store at most once per second; errors of the store are left
  /// to the writers.
  Status Check() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return {};
    next_ = now + std::chrono::seconds(1);
    const Status status = CheckNotUnderWay(clients_, database_, log_);
    return status.code() == Code::kIllegalOperation ? status : Status();
  }

 private:
  Clients& clients_;
  const std::string database_;
  const std::string log_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace braid::settlement::migration
