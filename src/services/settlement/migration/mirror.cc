#include "services/settlement/migration/mirror.h"

#include <algorithm>

#include "base/assert.h"
#include "base/strings.h"

namespace braid::settlement::migration {

namespace {

// The limit of one append to the chains: half of what they accept, so that a commit stays short.
constexpr size_t kBytesMax = Chains::kBatchBytesMax / 2;

// The records as the chains get them: as many as fit, one at least. An output is stored once for each of its symbols.
Result<std::vector<ChainRecord>> AsManyAsFit(std::span<const OldRecord> records) {
  OutputParser parser;
  std::vector<ChainRecord> fitting;
  fitting.reserve(records.size());
  size_t bytes = 0;
  for (const OldRecord& record : records) {
    BRAID_TRY(const Output output, FromOld(parser, record));
    ChainRecord next = ToRecord(output);
    bytes += next.payload.size() * (1 + next.also.size());
    if (bytes > kBytesMax && !fitting.empty()) break;
    fitting.push_back(std::move(next));
  }
  BRAID_ASSERT(records.empty() || !fitting.empty());
  return fitting;
}

// The number of records that are not among those at hand.
int64_t CountOthers(std::span<const ChainRecord> records, std::span<const OldRecord> at_hand) {
  return std::count_if(records.begin(), records.end(), [&](const ChainRecord& record) {
    return at_hand.empty() || record.sequence < at_hand.front().sequence || record.sequence > at_hand.back().sequence;
  });
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
  options.unique_sequences = true;
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
  const std::string table = options.TableIn(state.phase);
  return ReadOld(store_.clients(), {options.database, table, options.LayoutIn(state.phase)},
                 {.after = state.mirrored_seq, .limit = static_cast<int64_t>(outputs_max)});
}

Result<Mirror::Stepped> Mirror::Step(size_t outputs_max, std::span<const OldRecord> at_hand) {
  BRAID_ASSERT(outputs_max > 0);
  const MigrationOptions& options = store_.options();
  const SessionGuard::Busy busy(store_.guard());
  for (int64_t stuck_at = -1;;) {
    BRAID_TRY(State state, store_.Load());
    if (state.mirrored_seq >= state.seq) return Stepped{.state = std::move(state)};
    BRAID_TRY(const std::vector<OldRecord> next, NextRecords(state, outputs_max, at_hand));
    if (next.empty()) {
      // The table was dropped or the queue emptied since the state was read, unless nothing has moved.
      if (stuck_at == state.mirrored_seq) {
        return Status(Code::kRecordDamaged, StrCat("the table ", options.TableIn(state.phase), " lacks outputs after ",
                                                   state.mirrored_seq, "; its newest is ", state.seq));
      }
      stuck_at = state.mirrored_seq;
      continue;
    }
    // After the drop records leave the queue once they are mirrored: if that has happened meanwhile, there may be a gap
    // before those that were read, and counting on from the state would leave it out.
    if (state.phase == Phase::kDropped) {
      BRAID_TRY(const State now, store_.Load());
      if (now.mirrored_seq != state.mirrored_seq) continue;
    }
    BRAID_TRY(const std::vector<ChainRecord> records, AsManyAsFit(next));
    BRAID_ASSERT(!records.empty() && records.size() <= next.size());
    BRAID_CHECK_OK(options.Reached("mirror: read"));
    BRAID_TRY(const std::vector<Appended> results, chains_->Append(records));
    BRAID_ASSERT(results.size() == records.size());
    for (const Appended& result : results) BRAID_CHECK_OK(result.status);
    BRAID_CHECK_OK(options.Reached("mirror: appended"));
    state.mirrored_seq = records.back().sequence;
    state.mirrored_outputs += static_cast<int64_t>(records.size());
    BRAID_CHECK_OK(store_.MoveMirror(state.mirrored_seq, state.mirrored_outputs));
    if (state.phase == Phase::kDropped) BRAID_CHECK_OK(ForgetQueued(state.mirrored_seq));
    return Stepped{.state = std::move(state), .others = CountOthers(records, at_hand)};
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

Result<int64_t> Mirror::UpTo(int64_t sequence, std::span<const OldRecord> at_hand) {
  for (int64_t others = 0;;) {
    BRAID_TRY(const Stepped stepped, Step(store_.options().batch_records_max, at_hand));
    others += stepped.others;
    if (stepped.state.mirrored_seq >= sequence) return others;
  }
}

Result<int64_t> Mirror::EndBarrier() {
  for (int64_t appended = 0;;) {
    BRAID_TRY(const State state, store_.Load());
    if (!IsBarrier(state.phase)) return appended;
    const bool switching = state.phase == Phase::kSwitching;
    BRAID_ASSERT(switching || state.phase == Phase::kDropping);
    const Result<int64_t> brought_in = UpTo(state.seq);
    Status status = brought_in.status();
    if (status.ok()) {
      appended += *brought_in;
      BRAID_CHECK_OK(store_.options().Reached("barrier: mirrored"));
      status = store_.ChangeIfLacking(0, state.phase, switching ? Phase::kSwitched : Phase::kDropped).status();
    } else if (IsRefusal(status)) {
      status = store_.Change(state.phase, switching ? Phase::kRolledBack : Phase::kSwitched,
                             StrCat("the new chains refused an output: ", status.message()));
    }
    // Another process ended it, or begins the next one.
    if (!status.ok() && status.code() != Code::kConflictingOperationInProgress) return status;
  }
}

}  // namespace braid::settlement::migration
