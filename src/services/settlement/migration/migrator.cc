#include "services/settlement/migration/migrator.h"

#include "base/strings.h"
#include "client/command.h"
#include "client/fields.h"

namespace braid::settlement::migration {
namespace {

Status WrongPhase(const State& state, std::string_view what) {
  return Status(Code::kIllegalOperation, StrCat("the migration is in the phase ", NameOf(state.phase), ": ", what));
}

// Phases in which the migration has begun and still has to catch up or be compared.
bool IsOnItsWay(Phase phase) { return phase >= Phase::kDualWrite && phase <= Phase::kVerified; }

}  // namespace

Result<std::unique_ptr<Migrator>> Migrator::Open(Clients& clients, const MigrationOptions& options) {
  BRAID_TRY(std::unique_ptr<StateStore> store, StateStore::Open(clients, options));
  BRAID_TRY(std::unique_ptr<Mirror> mirror, Mirror::Open(*store));
  return std::unique_ptr<Migrator>(new Migrator(std::move(store), std::move(mirror)));
}

Status Migrator::Preflight() {
  BRAID_TRY(State state, store_->Load());
  if (state.phase == Phase::kNone || state.phase == Phase::kRolledBack) {
    BRAID_CHECK_OK(store_->Change(state.phase, Phase::kPreflight));
    BRAID_CHECK_OK(options().Reached("preflight: begun"));
  } else if (state.phase != Phase::kPreflight) {
    return WrongPhase(state, "the preflight is over");
  }
  BRAID_TRY(state, store_->Load());
  BRAID_CHECK_OK(CheckChains(state));
  BRAID_TRY(const int64_t outputs, CheckOldTable(*store_, state.seq));
  BRAID_TRY(const State now, store_->Load());
  BRAID_TRY(const std::vector<OldRecord> beyond,
            ReadOld(store_->clients(), options().database, options().old_table, {.after = now.seq, .limit = 1}));
  BRAID_TRY(const State later, store_->Load());
  if (!beyond.empty() && beyond.front().sequence > later.seq) {
    return Status(Code::kOperationFailed, StrCat("output ", beyond.front().sequence,
                                                 " of the old table was not written by a writer that knows of ",
                                                 "migrations; replace such writers first"));
  }
  if (outputs != state.outputs) {
    return Status(Code::kRecordDamaged,
                  StrCat("the old table has ", outputs, " outputs up to ", state.seq, "; expected ", state.outputs));
  }
  return {};
}

Status Migrator::CheckChains(const State& state) {
  BRAID_TRY(const std::vector<ChainHead> heads, mirror_->chains().Heads());
  for (const ChainHead& head : heads) {
    const std::string name = StrCat("symbol ", head.chain, " of the new log ", options().log);
    if (head.sequence > state.seq) {
      return Status(Code::kOperationFailed, StrCat(name, " has output ", head.sequence, ", which the old table lacks"));
    }
    if (!head.halted.empty()) return Status(Code::kChainHalted, StrCat(name, " is halted: ", head.halted));
    if (head.epoch > 0) return Status(Code::kLeaseLost, StrCat(name, " is written under leases by a service"));
  }
  // A killed step may have appended more than the mirror says, but nothing else than the old table has.
  OutputParser parser;
  return mirror_->chains().Merge(state.mirrored_seq + 1, [&](const ChainRecordView& record) -> Status {
    BRAID_TRY(const std::vector<OldRecord> old, ReadOld(store_->clients(), options().database, options().old_table,
                                                        {.after = record.sequence - 1, .limit = 1}));
    if (!old.empty() && old.front().sequence == record.sequence) {
      BRAID_TRY(const Output output, FromOld(parser, old.front()));
      if (EncodePayload(output) == record.payload) return {};
    }
    return Status(Code::kOperationFailed,
                  StrCat("output ", record.sequence, " of the new log ", options().log, ", symbol ", record.chain,
                         ", is not that of the old table; choose another name for the new log"));
  });
}

Status Migrator::Start() {
  BRAID_TRY(const State state, store_->Load());
  if (state.phase >= Phase::kDualWrite && state.phase <= Phase::kDropped) return {};
  BRAID_CHECK_OK(Preflight());
  BRAID_CHECK_OK(options().Reached("preflight: passed"));
  BRAID_CHECK_OK(store_->Change(Phase::kPreflight, Phase::kDualWrite));
  return options().Reached("dual write: begun");
}

Status Migrator::Backfill() {
  BRAID_TRY(State state, store_->Load());
  if (!IsOnItsWay(state.phase)) return WrongPhase(state, "there is nothing to backfill");
  if (state.phase == Phase::kDualWrite) {
    BRAID_CHECK_OK(store_->Change(Phase::kDualWrite, Phase::kBackfill));
    BRAID_CHECK_OK(options().Reached("backfill: begun"));
    state.phase = Phase::kBackfill;
  }
  // Up to what there is now. Under load there is always a little more: that is with its writers, up to one batch.
  int64_t target = state.seq;
  while (state.mirrored_seq < target) {
    BRAID_CHECK_OK(options().CheckStop());
    if (options().on_progress) options().on_progress("backfill", state.mirrored_outputs, state.outputs);
    BRAID_TRY(state, mirror_->Step(options().batch_records_max));
    BRAID_CHECK_OK(options().Reached("backfill: one more batch"));
    if (state.outputs - state.mirrored_outputs > options().batch_records_max) target = state.seq;
  }
  if (state.phase != Phase::kBackfill) return {};
  BRAID_CHECK_OK(store_->Change(Phase::kBackfill, Phase::kVerify));
  return options().Reached("verify: begun");
}

// What the mirror has passed since the last comparison.
Result<State> Migrator::CompareRest(Phase phase, CompareReport* report) {
  BRAID_TRY(const State state, store_->Load());
  if (state.phase != phase) return WrongPhase(state, "it was changed meanwhile");
  BRAID_TRY(CompareReport compared,
            Compare(*store_, *mirror_, {.from = state.verified_seq + 1, .to = state.mirrored_seq}));
  if (report != nullptr) *report = compared;
  if (compared.ok()) {
    BRAID_CHECK_OK(options().Reached("verify: compared"));
    BRAID_CHECK_OK(store_->SetVerified(phase, state.mirrored_seq, ""));
    return state;
  }
  const Difference& first = compared.differences.front();
  const Status status(Code::kOperationFailed, StrCat(compared.differences_total,
                                                     " differences between the old table and the new chains; output ",
                                                     first.output_seq, ", symbol ", first.symbol_id, ": ", first.what));
  BRAID_CHECK_OK(store_->SetVerified(phase, state.verified_seq, std::string(status.message())));
  return status;
}

Status Migrator::Verify(CompareReport* report) {
  BRAID_TRY(const Phase phase, store_->LoadPhase());
  BRAID_CHECK_OK(CompareRest(phase, report));
  if (phase != Phase::kVerify) return {};
  BRAID_CHECK_OK(store_->Change(Phase::kVerify, Phase::kVerified));
  return options().Reached("verify: passed");
}

Status Migrator::Run(CompareReport* report) {
  BRAID_CHECK_OK(Start());
  BRAID_TRY(State state, store_->Load());
  if (!IsOnItsWay(state.phase)) return {};
  BRAID_CHECK_OK(Backfill());
  return Verify(report);
}

Status Migrator::Switch() {
  BRAID_TRY(const State state, store_->Load());
  if (ReadsChains(state.phase)) return {};
  if (state.phase != Phase::kVerified && state.phase != Phase::kSwitching) {
    return WrongPhase(state, "only what was verified can be switched to; `run` does that");
  }
  if (state.phase == Phase::kVerified) {
    BRAID_CHECK_OK(Backfill());
    BRAID_CHECK_OK(CompareRest(Phase::kVerified, nullptr));
    BRAID_CHECK_OK(options().Reached("switch: compared"));
    BRAID_CHECK_OK(store_->Change(Phase::kVerified, Phase::kSwitching));
  }
  return Pass(Phase::kSwitching, Phase::kSwitched);
}

Status Migrator::Pass(Phase barrier, Phase target) {
  BRAID_CHECK_OK(options().Reached(StrCat(NameOf(barrier), ": begun")));
  BRAID_CHECK_OK(mirror_->EndBarrier());
  BRAID_CHECK_OK(options().Reached(StrCat(NameOf(target), ": begun")));
  BRAID_TRY(const State state, store_->Load());
  if (state.phase == target) return {};
  return WrongPhase(state, state.why.empty() ? "it was changed meanwhile" : state.why);
}

Status Migrator::Rollback() {
  for (;;) {
    BRAID_TRY(const State state, store_->Load());
    if (state.phase == Phase::kNone || state.phase == Phase::kRolledBack) return {};
    if (state.phase == Phase::kDropped) return WrongPhase(state, "the old table is gone, there is no way back");
    const Status status = store_->Change(state.phase, Phase::kRolledBack, "asked for");
    // Writers end barriers: the phase may have just changed.
    if (status.code() == Code::kConflictingOperationInProgress) continue;
    BRAID_CHECK_OK(status);
    return options().Reached("rollback: done");
  }
}

Status Migrator::Drop() {
  BRAID_TRY(const State state, store_->Load());
  if (state.phase != Phase::kSwitched && state.phase != Phase::kDropping && state.phase != Phase::kDropped) {
    return WrongPhase(state, "the old table can be dropped after the switch");
  }
  if (state.phase == Phase::kSwitched) BRAID_CHECK_OK(store_->Change(Phase::kSwitched, Phase::kDropping));
  BRAID_CHECK_OK(Pass(Phase::kDropping, Phase::kDropped));
  const Client client = store_->clients().Acquire();
  BRAID_CHECK_OK(client::DropCollection(client.get(), options().database, options().old_table));
  return options().Reached("drop: done");
}

Result<bool> Migrator::HasOldTable() {
  client::Bson filter;
  filter.Text("name", options().old_table);
  client::Bson command;
  command.Integer("listCollections", 1).Document("filter", filter);
  const Client client = store_->clients().Acquire();
  BRAID_TRY(const client::BsonPtr reply, client::RunCommand(client.get(), options().database.c_str(), command.get()));
  return client::TextOf(reply.get(), "cursor.firstBatch.0.name") == options().old_table;
}

}  // namespace braid::settlement::migration
