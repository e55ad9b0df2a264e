// Migrator::Preflight(): finds everything that would stop a migration before it begins.
#include <algorithm>

#include "base/strings.h"
#include "services/settlement/migration/migrator.h"

namespace braid::settlement::migration {
namespace {

// The contents of the old table up to the head.
struct Sound {
  int64_t outputs = 0;
  int64_t hash = 0;  // of the newest
};

Result<Sound> CheckOldTable(StateStore& store, int64_t to) {
  const MigrationOptions& options = store.options();
  BRAID_TRY(const int64_t strange, CountStrange(store.clients(), options.OldOnes()));
  if (strange > 0) {
    return Status(Code::kRecordDamaged, StrCat(strange, " documents of the old table are not outputs: their ",
                                               options.layout.sequence, " is not a number above 0"));
  }
  OutputParser parser;
  Sound sound;
  for (int64_t after = 0; after < to;) {
    BRAID_CHECK_OK(options.CheckStop());
    BRAID_TRY(const std::vector<OldRecord> records,
              ReadOld(store.clients(), options.OldOnes(), {.after = after, .limit = options.batch_records_max}));
    if (records.empty()) break;
    for (const OldRecord& record : records) {
      if (record.sequence == after) {
        return Status(Code::kRecordDamaged, StrCat("output ", after, " of the old table is there twice"));
      }
      after = record.sequence;
      if (after > to) break;
      BRAID_CHECK_OK(CheckLink(options.layout, sound.hash, record));
      BRAID_TRY(const Output output, FromOld(parser, record));
      BRAID_CHECK_OK(CheckFits(output));
      sound.hash = record.hash;
      ++sound.outputs;
    }
    if (options.on_progress) options.on_progress("preflight", std::min(after, to), to);
  }
  return sound;
}

}  // namespace

Status Migrator::Preflight() {
  BRAID_TRY(State state, store_->Load());
  if (Mirrors(state.phase)) return WrongPhase(state, "the preflight is over");
  if (state.phase != Phase::kPreflight || state.log != options().log) {
    BRAID_CHECK_OK(Enter(state.phase, Phase::kPreflight));
    BRAID_CHECK_OK(options().Reached("preflight: begun"));
  }
  BRAID_CHECK_OK(CheckChains());
  BRAID_TRY(state, store_->Load());
  BRAID_TRY(const Sound sound, CheckOldTable(*store_, state.seq));
  if (sound.outputs != state.outputs) {
    return Status(Code::kRecordDamaged, StrCat("the old table has ", sound.outputs, " outputs up to ", state.seq,
                                               "; expected ", state.outputs));
  }
  if (sound.hash != state.hash) {
    return Status(Code::kRecordDamaged, StrCat("output ", state.seq, " of the old table is not the one that was ",
                                               "written: expected hash ", state.hash, ", got ", sound.hash));
  }
  BRAID_TRY(const std::optional<OldRecord> newest, NewestOld(store_->clients(), options().OldOnes()));
  BRAID_TRY(state, store_->Load());
  if (!newest || newest->sequence <= state.seq) return {};
  return Status(Code::kOperationFailed, StrCat("output ", newest->sequence, " of the old table was not written by a ",
                                               "writer that knows of migrations; replace such writers first"));
}

// A killed step or a late writer may have appended more than the mirror's position says, but only outputs of the old
// table.
Status Migrator::CheckChains() {
  BRAID_TRY(const std::vector<ChainHead> heads, mirror_->chains().Heads());
  BRAID_TRY(const State state, store_->Load());  // after the heads: what they have, the table has
  for (const ChainHead& head : heads) {
    const std::string name = StrCat("symbol ", head.chain, " of the new log ", options().log);
    if (head.sequence > state.seq) {
      return Status(Code::kOperationFailed, StrCat(name, " has output ", head.sequence,
                                                   ", which the old table lacks; choose another name for the new log"));
    }
    if (!head.halted.empty()) return Status(Code::kChainHalted, StrCat(name, " is halted: ", head.halted));
    if (head.epoch > 0) return Status(Code::kLeaseLost, StrCat(name, " is written under leases by a service"));
  }
  OutputParser parser;
  return mirror_->chains().Merge(state.mirrored_seq + 1, [&](const ChainRecordView& record) -> Status {
    BRAID_TRY(const std::vector<OldRecord> old,
              ReadOld(store_->clients(), options().OldOnes(), {.after = record.sequence - 1, .limit = 1}));
    if (!old.empty() && old.front().sequence == record.sequence) {
      BRAID_TRY(const Output output, FromOld(parser, old.front()));
      if (EncodePayload(output) == record.payload) return {};
    }
    return Status(Code::kOperationFailed,
                  StrCat("output ", record.sequence, " of the new log ", options().log, ", symbol ", record.chain,
                         ", is not that of the old table; choose another name for the new log"));
  });
}

}  // namespace braid::settlement::migration
