#include "services/settlement/migration/writer.h"

#include <algorithm>
#include <deque>

#include "base/assert.h"
#include "base/log.h"
#include "base/mutex.h"
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

// An output that is stored but cannot be appended to the chains would block all later ones, and after the drop
// permanently.
Status CheckRecord(OutputParser& parser, const OldRecord& record) {
  const Result<Output> output = FromOld(parser, record);
  if (!output.ok()) return Status(Code::kBadValue, std::string(output.error().message()));
  return CheckFits(*output);
}

// The record as a document; kBadValue if the output could not be read back from it unchanged.
Status Keep(const OldRecord& record, const OldLayout& layout, client::Bson& document) {
  const auto refused = [&](std::string_view why) {
    return Status(Code::kBadValue, StrCat("output ", record.sequence, ", in the layout of the old table: ", why));
  };
  if (const Status kept = AppendTo(document, layout, record); !kept.ok()) return refused(kept.message());
  if (layout.form != OldLayout::Form::kDocument) return {};
  OutputParser parser;
  BRAID_TRY(const OldRecord back, OldRecordOf(*document.get(), layout));
  BRAID_TRY(const Output before, FromOld(parser, record));
  const Result<Output> after = FromOld(parser, back);
  if (!after.ok()) return refused(after.error().message());
  if (EncodePayload(before) != EncodePayload(*after)) return refused("a document does not keep all of it");
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
  const MutexLock lock(mu_);
  const SessionGuard::Busy busy(store_->guard());
  Plan plan;
  Written written;
  for (;;) {
    BRAID_CHECK_OK(store_->InTransaction([&](Transaction& transaction) -> Status {
      plan = Plan();
      BRAID_TRY(plan.state, store_->LoadToChange(transaction));
      if (IsBarrier(plan.state.phase)) return {};
      BRAID_CHECK_OK(PlanIn(transaction, outputs, give_sequences, plan));
      return plan.records.empty() ? Status() : Insert(transaction, plan);
    }));
    if (!IsBarrier(plan.state.phase)) break;
    ++written.barriers;
    BRAID_TRY(const int64_t brought_in, mirror_->EndBarrier());
    written.brought_in += brought_in;
  }
  BRAID_ASSERT(plan.records.size() <= outputs.size());
  BRAID_CHECK_OK(options.Reached("write: stored"));
  BRAID_TRY(const int64_t brought_in, Finish(plan, outputs.back().output_seq));
  written.first_seq = outputs.front().output_seq;
  written.last_seq = outputs.back().output_seq;
  written.duplicates = plan.duplicates;
  written.phase = plan.state.phase;
  if (Mirrors(written.phase)) written.ahead = plan.state.outputs - plan.state.mirrored_outputs;
  written.brought_in += brought_in;
  return written;
}

Status MigratingWriter::PlanIn(Transaction& transaction, std::vector<Output>& outputs, bool give_sequences,
                               Plan& plan) {
  BRAID_ASSERT(plan.records.empty() && !IsBarrier(plan.state.phase));
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
  OutputParser parser;
  for (auto output = fresh; output != outputs.end(); ++output) {
    OldRecord& record = plan.records.emplace_back(ToOld(*output, hash, now));
    if (!store_->options().layout.has_hashes()) record.prev_hash = record.hash = 0;
    BRAID_CHECK_OK(CheckRecord(parser, record));
    hash = record.hash;
  }
  BRAID_ASSERT(static_cast<size_t>(plan.duplicates) + plan.records.size() == outputs.size());
  plan.behind = state.outputs - state.mirrored_outputs + static_cast<int64_t>(plan.records.size());
  return {};
}

// Outputs at or below the head: they must be what the table has. After the drop the chains compare them instead.
Status MigratingWriter::CheckKnown(Transaction& transaction, std::span<const Output> outputs, Plan& plan) {
  BRAID_ASSERT(!outputs.empty());
  plan.duplicates = static_cast<int64_t>(outputs.size());
  if (plan.state.phase == Phase::kDropped) {
    for (const Output& output : outputs) {
      ChainRecord& record = plan.in_chains.emplace_back(ToRecord(output));
      record.prev_hash.reset();  // given hashes are ignored, as when the outputs were stored
      record.hash.reset();
    }
    return {};
  }
  client::Bson bounds;
  bounds.Integer("$gte", outputs.front().output_seq).Integer("$lte", outputs.back().output_seq);
  client::Bson filter;
  const OldLayout& layout = store_->options().layout;
  filter.Document(layout.sequence.c_str(), bounds);
  client::Bson sort;
  sort.Integer(layout.sequence.c_str(), 1);
  OutputParser parser;
  auto next = outputs.begin();
  BRAID_CHECK_OK(transaction.Find(store_->options().old_table, filter.get(), {.sort = sort.get()},
                                  [&](const bson_t& document) -> Status {
                                    BRAID_TRY(const OldRecord record, OldRecordOf(document, layout));
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
  BRAID_ASSERT(!plan.records.empty() && plan.records.front().sequence > plan.state.seq);  // they continue the head
  std::deque<client::Bson> documents;
  std::vector<const bson_t*> pointers;
  for (const OldRecord& record : plan.records) {
    client::Bson& document = documents.emplace_back();
    BRAID_CHECK_OK(Keep(record, store_->options().LayoutIn(plan.state.phase), document));
    pointers.push_back(document.get());
  }
  BRAID_CHECK_OK(transaction.Insert(store_->options().TableIn(plan.state.phase), pointers));
  const OldRecord& last = plan.records.back();
  return store_->MoveHead(transaction, plan.state,
                          {.seq = last.sequence,
                           .hash = last.hash,
                           .outputs = plan.state.outputs + static_cast<int64_t>(plan.records.size())});
}

// From the switch on an output is acknowledged only when readers of the chains can see it. Returns the number of
// outputs mirrored for others.
Result<int64_t> MigratingWriter::Finish(const Plan& plan, int64_t last) {
  const Phase phase = plan.state.phase;
  if (!Mirrors(phase)) return 0;
  if (!ReadsChains(phase)) return plan.records.empty() ? 0 : Help(plan);
  BRAID_TRY(const int64_t brought_in, mirror_->UpTo(last, plan.records));
  if (plan.in_chains.empty()) return brought_in;
  BRAID_TRY(const std::vector<Appended> known, mirror_->chains().Append(plan.in_chains));
  BRAID_ASSERT(known.size() == plan.in_chains.size());
  for (const Appended& one : known) BRAID_CHECK_OK(one.status);
  return brought_in;
}

// Before the switch: if the chains are nearly up to date, this batch is appended to them now. If they are far behind,
// it is left to the backfill, as long as the backfill progresses by at least as much as this writer adds. Otherwise
// writers mirror twice what they add, so that the chains catch up eventually under any load, and even without a
// migrator.
int64_t MigratingWriter::Help(const Plan& plan) {
  BRAID_ASSERT(!plan.records.empty());
  const auto added = static_cast<int64_t>(plan.records.size());
  const int64_t batch = store_->options().batch_records_max;
  const bool near = plan.behind <= added + batch;
  const bool others_get_on = plan.behind <= behind_;
  behind_ = plan.behind;
  if (!near && others_get_on) return 0;
  const auto step = mirror_->Step(static_cast<size_t>(std::max(2 * added, batch)), plan.records);
  if (!step.ok()) {
    log::warn("an output is not in the new chains yet: {}", step.error().ToString());
    return 0;
  }
  behind_ = step->state.outputs - step->state.mirrored_outputs;
  return step->others;
}

}  // namespace braid::settlement::migration
