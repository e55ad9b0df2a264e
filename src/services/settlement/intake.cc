// Intake: a line becomes a record of its symbols' chains, or is kept as refused; and what has to wait for it (C4, C9).
#include "base/assert.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "services/settlement/service.h"

namespace braid::settlement {
namespace {

Outcome OutcomeOf(const Status& status) {
  switch (status.code()) {
    case Code::kBadValue:
    case Code::kChainBroken: return Outcome::kRefused;
    case Code::kChainHalted: return Outcome::kHalted;
    case Code::kLeaseLost: return Outcome::kElsewhere;
    default: return Outcome::kFailed;
  }
}

std::vector<int64_t> SymbolsOf(const ChainRecord& record) {
  std::vector<int64_t> symbols = record.also;
  symbols.push_back(record.chain);
  return symbols;
}

uint64_t StoredOf(const Totals& totals) { return totals[Outcome::kAccepted] + totals[Outcome::kDuplicate]; }

// What the chains would refuse without waiting for it to be corrected.
Status CheckSize(const ChainRecord& record) {
  const size_t bytes = record.payload.size();
  const size_t in_all = bytes * (1 + record.also.size());
  if (bytes <= Chains::kPayloadBytesMax && in_all <= Chains::kBatchBytesMax) return {};
  return Status(Code::kBadValue, StrCat("the output has ", bytes, " bytes as it is stored, and ", in_all,
                                        " in all of its chains; the most is ", Chains::kPayloadBytesMax, " and ",
                                        Chains::kBatchBytesMax));
}

}  // namespace

void Intake::Submit(std::string_view line, std::optional<uint64_t> line_number) {
  Answer answer{.number = ++submitted_};
  answer.line = line_number.value_or(answer.number);
  const Result<Output> output = parser_.Parse(line);
  if (!output.ok()) return Refuse(line, std::move(answer), output.error());
  answer.output_seq = output->output_seq;
  answer.symbol_id = output->symbol_id();
  if (!stopped_.ok()) return Finish(std::move(answer), stopped_);
  ChainRecord record = ToRecord(*output);
  if (const Status fits = CheckSize(record); !fits.ok()) return Refuse(line, std::move(answer), fits);
  settlement_.unplaced_.empty() ? Queue(std::move(record), std::move(answer))
                                : QueueBehindUnplaced(std::move(record), std::move(answer));
}

// The output that an unplaced line should have been is stored before anything else is looked at: what follows it may
// come then.
void Intake::QueueBehindUnplaced(ChainRecord record, Answer answer) {
  const bool given_again = kind_ == Source::kFile && known_ + 1 == submitted_;
  const auto judge = [&] { return settlement_.unplaced_.Judge(record, PlaceOf(answer), given_again); };
  UnplacedLines::Verdict verdict = judge();
  if (!verdict.status.ok() && !asked_unplaced_) {
    asked_unplaced_ = true;
    if (const Status loaded = settlement_.unplaced_.Load(); !loaded.ok()) return Finish(std::move(answer), loaded);
    verdict = judge();
  }
  if (!verdict.status.ok()) return Finish(std::move(answer), verdict.status);
  if (verdict.known) ++known_;
  if (verdict.settles.empty()) return Queue(std::move(record), std::move(answer));
  AwaitAnswers(submitted_ - 1);
  const uint64_t before = StoredOf(totals());
  Queue(std::move(record), std::move(answer));
  AwaitAnswers(submitted_);
  if (StoredOf(totals()) == before) return;
  for (const UnplacedLine& line : verdict.settles) Settle(line);
}

void Intake::Settle(const UnplacedLine& line) {
  const Status settled = settlement_.unplaced_.Settle(line);
  if (!settled.ok()) log::warn("{} still holds back what follows it: {}", line.Name(), settled.ToString());
}

// Goes through the queues of its symbols like any output, so that what came before it is stored and what comes after it
// is not.
void Intake::Refuse(std::string_view line, Answer answer, const Status& why) {
  const std::optional<Located> located = parser_.Locate(line);
  answer.output_seq = located ? located->output_seq : parser_.LocateSequence(line).value_or(0);
  if (located) answer.symbol_id = located->symbols.front();
  RefusedOutput refused{.source = source_,
                        .line = answer.line,
                        .output_seq = answer.output_seq,
                        .reason = std::string(why.message()),
                        .text = line,
                        .skipped = settlement_.skip_refused_};
  if (located) refused.symbols = located->symbols;
  if (const Status kept = settlement_.refused_.Keep(refused); !kept.ok()) {
    log::warn("line {} of {} was refused and could not be kept: {}", answer.line, source_, kept.ToString());
  }
  if (!settlement_.skip_refused_.empty()) {
    if (!settlement_.unplaced_.empty()) Settle(PlaceOf(answer));
    return Finish(std::move(answer), why);
  }
  if (!located) {
    HoldBack(answer, why);
    return Finish(std::move(answer), why);
  }
  ChainRecord record;
  record.chain = located->symbols.front();
  record.sequence = located->output_seq;
  record.also.assign(located->symbols.begin() + 1, located->symbols.end());
  record.refused = StrCat(why.message(), " (", source_.empty() ? "" : StrCat(source_, ", "), "line ", answer.line, ")");
  Queue(std::move(record), std::move(answer), why);
}

// Of the lines of an intake the first one is enough: when it is settled, the next one is met again.
void Intake::HoldBack(const Answer& answer, const Status& why) {
  if (!stopped_.ok()) return;
  stopped_ = Status(Code::kChainHalted, StrCat("line ", answer.line, " is no output, and of which symbol it would ",
                                               "be cannot be told: nothing after it is taken; ", why.message()));
  UnplacedLine unplaced = PlaceOf(answer);
  unplaced.output_seq = answer.output_seq;
  unplaced.reason = why.message();
  const Status held = settlement_.unplaced_.Add(std::move(unplaced));
  if (!held.ok()) log::warn("line {} of {} holds back others only here: {}", answer.line, source_, held.ToString());
}

// An output that broke its chain; on a writer's thread.
void Intake::KeepBroken(const Answer& answer, const std::vector<int64_t>& symbols, const Status& why) {
  const Status kept = settlement_.refused_.Keep({.source = source_,
                                                 .line = answer.line,
                                                 .output_seq = answer.output_seq,
                                                 .symbols = symbols,
                                                 .reason = std::string(why.message())});
  if (!kept.ok()) log::warn("output {} was refused and could not be kept: {}", answer.output_seq, kept.ToString());
}

void Intake::Queue(ChainRecord record, Answer answer, const Status& refused) {
  const std::vector<int64_t> symbols = SymbolsOf(record);
  Status entered = WhyGone(symbols);
  if (entered.ok()) entered = settlement_.leases_.Enter(symbols);
  if (!entered.ok()) {
    SetGone(symbols, entered);
    return Finish(std::move(answer), entered);
  }
  const auto done = [this, answer, symbols, refused](const Appended& appended) {
    Answer finished = answer;
    finished.outcome = appended.duplicate ? Outcome::kDuplicate : Outcome::kAccepted;
    finished.hash = appended.hash;
    if (appended.status.code() == Code::kLeaseLost) SetGone(symbols, appended.status);
    if (appended.status.code() == Code::kChainBroken) KeepBroken(answer, symbols, appended.status);
    settlement_.leases_.Leave(symbols, appended.status);
    const bool as_refused = !refused.ok() && appended.status.code() == Code::kBadValue;
    Finish(std::move(finished), as_refused ? refused : appended.status);
  };
  if (const Status queued = settlement_.writers_->Submit(std::move(record), done); !queued.ok()) {
    settlement_.leases_.Leave(symbols, queued);
    Finish(std::move(answer), queued);
  }
}

Status Intake::WhyGone(const std::vector<int64_t>& symbols) {
  const MutexLock lock(mu_);
  for (const int64_t symbol : symbols) {
    const auto gone = gone_.find(symbol);
    if (gone == gone_.end()) continue;
    return Status(gone->second,
                  StrCat("an earlier output of symbol ", symbol,
                         gone->second == Code::kLeaseLost ? " was left to the service that has its lease"
                                                          : " failed, and this one must not be stored without it"));
  }
  return {};
}

void Intake::SetGone(const std::vector<int64_t>& symbols, const Status& why) {
  const MutexLock lock(mu_);
  for (const int64_t symbol : symbols) gone_.emplace(symbol, why.code());
}

void Intake::Finish(Answer answer, const Status& status) {
  if (!status.ok()) {
    answer.outcome = OutcomeOf(status);
    answer.status = status;
  }
  BRAID_ASSERT(answer.number > 0 && (answer.status.ok() || answer.outcome > Outcome::kDuplicate));
  counts_[static_cast<size_t>(answer.outcome)].fetch_add(1, std::memory_order_relaxed);
  on_answer_(answer);
  // Told under the lock: the waiting thread may destroy this object as soon as it is free.
  const MutexLock lock(mu_);
  ++answered_;
  idle_.NotifyAll();
}

void Intake::AwaitAnswers(uint64_t count) {
  MutexLock lock(mu_);
  idle_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return answered_ == count; });
}

Totals Intake::totals() const {
  Totals totals;
  for (size_t i = 0; i < kOutcomes; ++i) totals.counts[i] = counts_[i].load(std::memory_order_relaxed);
  return totals;
}

}  // namespace braid::settlement
