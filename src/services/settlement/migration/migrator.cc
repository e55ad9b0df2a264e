#include "services/settlement/migration/migrator.h"

#include "base/strings.h"
#include "client/handles.h"

namespace braid::settlement::migration {
namespace {

// Phases in which the migration has begun and still has to catch up or be compared.
bool IsOnItsWay(Phase phase) { return phase >= Phase::kDualWrite && phase <= Phase::kVerified; }

// How often beginning a barrier is tried while writers have more than one batch in progress.
constexpr int kTriesMax = 50;

}  // namespace

Status Migrator::WrongPhase(const State& state, std::string_view what) {
  return Status(Code::kIllegalOperation, StrCat("the migration is in the phase ", NameOf(state.phase), ": ", what));
}

Result<std::unique_ptr<Migrator>> Migrator::Open(Clients& clients, const MigrationOptions& options) {
  BRAID_TRY(std::unique_ptr<StateStore> store, StateStore::Open(clients, options));
  BRAID_TRY(std::unique_ptr<Mirror> mirror, Mirror::Open(*store));
  return std::unique_ptr<Migrator>(new Migrator(std::move(store), std::move(mirror)));
}

// Moves to the next phase. OK if another migrator was faster; an error if the migration was rolled back.
Status Migrator::Enter(Phase from, Phase to) {
  const Status status = store_->Change(from, to);
  if (status.code() != Code::kConflictingOperationInProgress) return status;
  return Await(to);
}

Status Migrator::Await(Phase phase) {
  BRAID_TRY(const State now, store_->Load());
  if (HasReached(now.phase, phase)) return {};
  return WrongPhase(now, now.why.empty() ? "it was changed meanwhile" : now.why);
}

Status Migrator::Start() {
  BRAID_TRY(const State state, store_->Load());
  if (Mirrors(state.phase)) return {};
  BRAID_CHECK_OK(Preflight());
  BRAID_CHECK_OK(options().Reached("preflight: passed"));
  BRAID_CHECK_OK(Enter(Phase::kPreflight, Phase::kDualWrite));
  return options().Reached("dual write: begun");
}

// Mirrors all outputs that exist now. Under load there are always a few more, up to one batch: their writers mirror
// them.
Status Migrator::CatchUp() {
  BRAID_TRY(State state, store_->Load());
  int64_t target = state.seq;
  while (state.mirrored_seq < target) {
    BRAID_CHECK_OK(options().CheckStop());
    if (options().on_progress) options().on_progress("backfill", state.mirrored_outputs, state.outputs);
    BRAID_TRY(Mirror::Stepped stepped, mirror_->Step(options().batch_records_max));
    state = std::move(stepped.state);
    if (!Mirrors(state.phase)) return WrongPhase(state, "it was rolled back meanwhile");
    BRAID_CHECK_OK(options().Reached("backfill: one more batch"));
    if (state.outputs - state.mirrored_outputs > options().batch_records_max) target = state.seq;
  }
  return {};
}

Status Migrator::Backfill() {
  BRAID_TRY(const State state, store_->Load());
  if (!IsOnItsWay(state.phase)) return WrongPhase(state, "there is nothing to backfill");
  if (state.phase == Phase::kDualWrite) {
    BRAID_CHECK_OK(Enter(Phase::kDualWrite, Phase::kBackfill));
    BRAID_CHECK_OK(options().Reached("backfill: begun"));
  }
  BRAID_CHECK_OK(CatchUp());
  if (HasReached(state.phase, Phase::kVerify)) return {};
  BRAID_CHECK_OK(Enter(Phase::kBackfill, Phase::kVerify));
  return options().Reached("verify: begun");
}

// What the mirror has passed since the last comparison.
Status Migrator::CompareRest(CompareReport* report) {
  BRAID_TRY(const State state, store_->Load());
  // After the drop there is no old table to compare with.
  if (!HasReached(state.phase, Phase::kVerify) || state.phase == Phase::kDropped) {
    return WrongPhase(state, "there is nothing to compare");
  }
  BRAID_TRY(const CompareReport compared,
            Compare(*store_, *mirror_, {.after = state.verified_seq, .to = state.mirrored_seq}));
  if (report != nullptr) *report = compared;
  if (compared.ok()) {
    BRAID_CHECK_OK(options().Reached("verify: compared"));
    return store_->SetVerified(state.mirrored_seq, "");
  }
  const Difference& first = compared.differences.front();
  const Status status(Code::kOperationFailed, StrCat(compared.differences_total,
                                                     " differences between the old table and the new chains; output ",
                                                     first.output_seq, ", symbol ", first.symbol_id, ": ", first.what));
  BRAID_CHECK_OK(store_->SetVerified(state.verified_seq, std::string(status.message())));
  return status;
}

Status Migrator::Verify(CompareReport* report) {
  BRAID_CHECK_OK(CompareRest(report));
  BRAID_CHECK_OK(Enter(Phase::kVerify, Phase::kVerified));
  return options().Reached("verify: passed");
}

Status Migrator::Run(CompareReport* report) {
  BRAID_CHECK_OK(Start());
  BRAID_TRY(const State state, store_->Load());
  if (HasReached(state.phase, Phase::kSwitching)) return {};
  BRAID_CHECK_OK(Backfill());
  return Verify(report);
}

Status Migrator::Switch() {
  BRAID_TRY(const State state, store_->Load());
  if (ReadsChains(state.phase)) return {};
  if (state.phase != Phase::kVerified && state.phase != Phase::kSwitching) {
    return WrongPhase(state, "only what was verified can be switched to; `run` does that");
  }
  if (state.phase == Phase::kVerified) BRAID_CHECK_OK(BeginBarrier(Phase::kVerified, Phase::kSwitching));
  return Pass(Phase::kSwitching, Phase::kSwitched);
}

// Begins with at most one batch in progress, so that no writer that meets the barrier has to mirror more than that. The
// chains are compared before readers are switched to them.
Status Migrator::BeginBarrier(Phase from, Phase barrier) {
  for (int tries = 0; tries < kTriesMax; ++tries) {
    BRAID_CHECK_OK(CatchUp());
    if (barrier == Phase::kSwitching) {
      BRAID_CHECK_OK(CompareRest(nullptr));
      BRAID_CHECK_OK(options().Reached("switch: compared"));
    }
    const Result<bool> begun = store_->ChangeIfLacking(options().batch_records_max, from, barrier);
    if (begun.status().code() == Code::kConflictingOperationInProgress) return Await(barrier);
    BRAID_CHECK_OK(begun);
    if (*begun) return {};
  }
  return Status(Code::kOperationFailed,
                StrCat("writers have more than ", options().batch_records_max,
                       " outputs on their way to the new chains all the time: choose a larger ", "batch"));
}

Status Migrator::Pass(Phase barrier, Phase target) {
  BRAID_CHECK_OK(options().Reached(StrCat(NameOf(barrier), ": begun")));
  BRAID_CHECK_OK(mirror_->EndBarrier());
  BRAID_CHECK_OK(options().Reached(StrCat(NameOf(target), ": begun")));
  return Await(target);
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
  if (!ReadsChains(state.phase)) return WrongPhase(state, "the old table can be dropped after the switch");
  if (state.phase == Phase::kSwitched) BRAID_CHECK_OK(BeginBarrier(Phase::kSwitched, Phase::kDropping));
  BRAID_CHECK_OK(Pass(Phase::kDropping, Phase::kDropped));
  {
    const Client client = store_->clients().Acquire();
    BRAID_CHECK_OK(client::DropCollection(client.get(), options().database, options().old_table));
  }
  BRAID_CHECK_OK(options().Reached("drop: done"));
  return CatchUp();
}

}  // namespace braid::settlement::migration
