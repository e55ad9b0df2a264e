#include "services/settlement/migration/mirror.h"

#include "base/strings.h"

namespace braid::settlement::migration {

namespace {

// Far below what one append may have, as an output is stored once for each of its symbols.
constexpr size_t kBytesMax = 8u << 20;

// All but the first that are more than fits.
void CutToSize(std::vector<OldRecord>& records) {
  size_t bytes = 0;
  for (size_t i = 0; i < records.size(); ++i) {
    bytes += records[i].input_data.size() + records[i].output_data.size();
    if (i > 0 && bytes > kBytesMax) return records.resize(i);
  }
}

}  // namespace

bool IsRefusal(const Status& status) {
  switch (status.code()) {
    case Code::kBadValue:
    case Code::kChainBroken:
    case Code::kChainHalted:
    case Code::kLeaseLost:
    case Code::kRecordDamaged: return true;
    default: return false;
  }
}

Result<std::unique_ptr<Mirror>> Mirror::Open(StateStore& store) {
  ChainsOptions options;
  options.database = store.options().database;
  options.log = store.options().log;
  options.clock = store.options().clock;
  BRAID_TRY(std::unique_ptr<Chains> chains, Chains::Open(store.clients(), options));
  return std::unique_ptr<Mirror>(new Mirror(store, std::move(chains)));
}

Result<std::vector<OldRecord>> Mirror::NextRecords(const State& state, size_t outputs_max,
                                                   std::span<const OldRecord> at_hand) const {
  // at_hand begins with the output after the one whose hash is its prev_hash: the mirror's, if all before are there.
  if (!at_hand.empty() && state.mirrored_seq < at_hand.front().sequence &&
      state.mirrored_outputs + static_cast<int64_t>(at_hand.size()) == state.outputs &&
      at_hand.back().sequence == state.seq) {
    return std::vector<OldRecord>(at_hand.begin(), at_hand.end());
  }
  const MigrationOptions& options = store_.options();
  return ReadOld(store_.clients(), options.database, options.TableIn(state.phase),
                 {.after = state.mirrored_seq, .limit = static_cast<int64_t>(outputs_max)});
}

Status Mirror::Append(std::span<const OldRecord> records) {
  OutputParser parser;
  std::vector<ChainRecord> appended;
  appended.reserve(records.size());
  for (const OldRecord& record : records) {
    BRAID_TRY(const Output output, FromOld(parser, record));
    appended.push_back(ToRecord(output));
  }
  BRAID_TRY(const std::vector<Appended> results, chains_->Append(appended));
  for (const Appended& result : results) BRAID_CHECK_OK(result.status);
  return {};
}

Result<State> Mirror::Step(size_t outputs_max, std::span<const OldRecord> at_hand) {
  const MigrationOptions& options = store_.options();
  const SessionGuard::Busy busy(store_.guard());
  for (int64_t stuck_at = -1;;) {
    BRAID_TRY(State state, store_.Load());
    if (state.mirrored_seq >= state.seq) return state;
    BRAID_TRY(std::vector<OldRecord> records, NextRecords(state, outputs_max, at_hand));
    CutToSize(records);
    if (records.empty()) {
      // The table was dropped or the queue emptied since the state was read, unless nothing has moved.
      if (stuck_at == state.mirrored_seq) {
        return Status(Code::kRecordDamaged, StrCat("the table ", options.TableIn(state.phase), " lacks outputs after ",
                                                   state.mirrored_seq, "; its newest is ", state.seq));
      }
      stuck_at = state.mirrored_seq;
      continue;
    }
    BRAID_CHECK_OK(options.Reached("mirror: read"));
    BRAID_CHECK_OK(Append(records));
    BRAID_CHECK_OK(options.Reached("mirror: appended"));
    const int64_t last = records.back().sequence;
    BRAID_CHECK_OK(store_.MoveMirror(state, last, static_cast<int64_t>(records.size())));
    if (state.phase == Phase::kDropped) BRAID_CHECK_OK(ForgetQueued(last));
    state.mirrored_seq = last;
    state.mirrored_outputs += static_cast<int64_t>(records.size());
    return state;
  }
}

Status Mirror::ForgetQueued(int64_t up_to) {
  const MigrationOptions& options = store_.options();
  BRAID_CHECK_OK(options.Reached("mirror: moved"));
  client::Bson at_most;
  at_most.Integer("$lte", up_to);
  client::Bson filter;
  filter.Document("_id", at_most);
  return store_.InTransaction(
      [&](Transaction& transaction) { return transaction.Remove(options.queue(), filter.get()); });
}

Status Mirror::UpTo(int64_t sequence, std::span<const OldRecord> at_hand) {
  for (;;) {
    BRAID_TRY(const State state, Step(store_.options().batch_records_max, at_hand));
    if (state.mirrored_seq >= sequence) return {};
  }
}

Status Mirror::EndBarrier() {
  for (;;) {
    BRAID_TRY(const State state, store_.Load());
    if (!IsBarrier(state.phase)) return {};
    const bool switching = state.phase == Phase::kSwitching;
    Status status = UpTo(state.seq);
    if (status.ok()) status = store_.options().Reached("barrier: mirrored");
    if (status.ok()) {
      status = store_.ChangeIfMirrored(state.phase, switching ? Phase::kSwitched : Phase::kDropped);
    } else if (IsRefusal(status)) {
      status = store_.Change(state.phase, switching ? Phase::kRolledBack : Phase::kSwitched,
                             StrCat("the new chains refused an output: ", status.message()));
    }
    // Somebody else ended it, or begins the next.
    if (!status.ok() && status.code() != Code::kConflictingOperationInProgress) return status;
  }
}

}  // namespace braid::settlement::migration
