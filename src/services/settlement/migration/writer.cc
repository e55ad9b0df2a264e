#include "services/settlement/migration/writer.h"

#include <algorithm>
#include <deque>

#include "base/log.h"
#include "base/strings.h"

namespace braid::settlement::migration {
namespace {

Status CheckAscending(std::span<const Output> outputs) {
  int64_t before = 0;
  for (const Output& output : outputs) {
    if (output.output_seq <= before) {
      return Status(Code::kBadValue, StrCat("output ", output.output_seq, " comes after ", before));
    }
    before = output.output_seq;
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<MigratingWriter>> MigratingWriter::Open(Clients& clients, const MigrationOptions& options) {
  BRAID_TRY(std::unique_ptr<StateStore> store, StateStore::Open(clients, options));
  BRAID_TRY(std::unique_ptr<Mirror> mirror, Mirror::Open(*store));
  return std::unique_ptr<MigratingWriter>(new MigratingWriter(std::move(store), std::move(mirror)));
}

Result<MigratingWriter::Written> MigratingWriter::Append(std::span<const Output> outputs) {
  BRAID_CHECK_OK(CheckAscending(outputs));
  return Write({outputs.begin(), outputs.end()}, false);
}

Result<MigratingWriter::Written> MigratingWriter::AppendNext(std::vector<Output> outputs) {
  return Write(std::move(outputs), true);
}

Result<MigratingWriter::Written> MigratingWriter::Write(std::vector<Output> outputs, bool give_sequences) {
  if (outputs.empty()) return Written();
  const MigrationOptions& options = store_->options();
  const std::lock_guard lock(mu_);
  const SessionGuard::Busy busy(store_->guard());
  Plan plan;
  for (;;) {
    BRAID_CHECK_OK(store_->InTransaction([&](Transaction& transaction) -> Status {
      plan = Plan();
      BRAID_TRY(plan.state, store_->LoadIn(transaction));
      if (IsBarrier(plan.state.phase)) return {};
      BRAID_CHECK_OK(PlanIn(transaction, outputs, give_sequences, plan));
      return plan.records.empty() ? Status() : Insert(transaction, plan);
    }));
    if (!IsBarrier(plan.state.phase)) break;
    BRAID_CHECK_OK(mirror_->EndBarrier());
  }
  BRAID_CHECK_OK(options.Reached("write: stored"));
  BRAID_CHECK_OK(Finish(plan));
  return Written{.first_seq = outputs.front().output_seq,
                 .last_seq = outputs.back().output_seq,
                 .duplicates = plan.duplicates,
                 .phase = plan.state.phase};
}

Status MigratingWriter::PlanIn(Transaction& transaction, std::vector<Output>& outputs, bool give_sequences,
                               Plan& plan) {
  const State& state = plan.state;
  if (give_sequences) {
    int64_t sequence = state.seq;
    for (Output& output : outputs) output.output_seq = ++sequence;
  }
  const auto fresh =
      std::find_if(outputs.begin(), outputs.end(), [&](const Output& output) { return output.output_seq > state.seq; });
  if (fresh != outputs.begin()) BRAID_CHECK_OK(CheckKnown(transaction, {outputs.begin(), fresh}, plan));
  int64_t hash = state.hash;
  const int64_t now = store_->options().NowMillis();
  for (auto output = fresh; output != outputs.end(); ++output) {
    hash = plan.records.emplace_back(ToOld(*output, hash, now)).hash;
  }
  return {};
}

// Outputs at or below the head: they must be what the table has. After the drop the chains compare them instead.
Status MigratingWriter::CheckKnown(Transaction& transaction, std::span<const Output> outputs, Plan& plan) {
  plan.duplicates = static_cast<int64_t>(outputs.size());
  if (plan.state.phase == Phase::kDropped) {
    for (const Output& output : outputs) plan.in_chains.push_back(ToRecord(output));
    return {};
  }
  client::Bson bounds;
  bounds.Integer("$gte", outputs.front().output_seq).Integer("$lte", outputs.back().output_seq);
  client::Bson filter;
  filter.Document("_id", bounds);
  client::Bson sort;
  sort.Integer("_id", 1);
  OutputParser parser;
  auto next = outputs.begin();
  BRAID_CHECK_OK(transaction.Find(store_->options().old_table, filter.get(), {.sort = sort.get()},
                                  [&](const bson_t& document) -> Status {
                                    BRAID_TRY(const OldRecord record, OldRecordOf(document));
                                    if (next == outputs.end() || record.sequence != next->output_seq) return {};
                                    BRAID_TRY(const Output stored, FromOld(parser, record));
                                    if (EncodePayload(stored) == EncodePayload(*next)) ++next;
                                    return {};
                                  }));
  if (next == outputs.end()) return {};
  return Status(Code::kChainBroken, StrCat("output ", next->output_seq, " is not the one that is stored under its ",
                                           "sequence; the newest is ", plan.state.seq));
}

Status MigratingWriter::Insert(Transaction& transaction, const Plan& plan) {
  std::deque<client::Bson> documents;
  std::vector<const bson_t*> pointers;
  for (const OldRecord& record : plan.records) {
    AppendTo(documents.emplace_back(), record);
    pointers.push_back(documents.back().get());
  }
  BRAID_CHECK_OK(transaction.Insert(store_->options().TableIn(plan.state.phase), pointers));
  const OldRecord& last = plan.records.back();
  return store_->MoveHead(transaction, plan.state,
                          {.seq = last.sequence,
                           .hash = last.hash,
                           .outputs = plan.state.outputs + static_cast<int64_t>(plan.records.size())});
}

// From the switch on an output is acknowledged only when readers of the chains can see it.
Status MigratingWriter::Finish(const Plan& plan) {
  const Phase phase = plan.state.phase;
  if (!Mirrors(phase)) return {};
  if (!ReadsChains(phase)) {
    if (!plan.records.empty()) Help(plan);
    return {};
  }
  const int64_t last = plan.records.empty() ? plan.state.seq : plan.records.back().sequence;
  BRAID_CHECK_OK(mirror_->UpTo(last, plan.records));
  if (plan.in_chains.empty()) return {};
  BRAID_TRY(const std::vector<Appended> known, mirror_->chains().Append(plan.in_chains));
  for (const Appended& one : known) BRAID_CHECK_OK(one.status);
  return {};
}

// Before the switch: if the chains are near, this batch goes there now. If they are far, it is left to the backfill,
// unless they fall further behind: then every writer brings in more than it adds, so that they are caught up with in
// the end whatever the load is, and even if the migrator is gone.
void MigratingWriter::Help(const Plan& plan) {
  const auto added = static_cast<int64_t>(plan.records.size());
  const int64_t batch = store_->options().batch_records_max;
  const int64_t behind = plan.state.outputs + added - plan.state.mirrored_outputs;
  const bool falls_behind = behind > behind_;
  behind_ = behind;
  if (behind > added + batch && !falls_behind) return;
  const auto step = mirror_->Step(static_cast<size_t>(std::max(2 * added, batch)), plan.records);
  if (!step.ok()) log::warn("an output is not in the new chains yet: {}", step.error().ToString());
}

}  // namespace braid::settlement::migration
