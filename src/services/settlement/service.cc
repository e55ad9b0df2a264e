#include "services/settlement/service.h"

#include <numeric>

#include "base/assert.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/strings.h"

namespace braid::settlement {
namespace {

constexpr std::string_view kNames[kOutcomes] = {"accepted", "duplicate", "refused", "halted", "elsewhere", "failed"};

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

ChainsOptions Options::ToChains() const {
  ChainsOptions options;
  options.database = database;
  options.log = log;
  options.owner = owner;
  options.lease_ttl = lease_ttl;
  options.unique_sequences = true;
  return options;
}

std::string_view NameOf(Outcome outcome) {
  BRAID_ASSERT(static_cast<size_t>(outcome) < kOutcomes);
  return kNames[static_cast<size_t>(outcome)];
}

uint64_t Totals::sum() const { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); }

Result<std::unique_ptr<Settlement>> Settlement::Open(Clients& clients, const Options& options) {
  BRAID_TRY(std::unique_ptr<Chains> chains, Chains::Open(clients, options.ToChains()));
  std::unique_ptr<Settlement> settlement(new Settlement(std::move(chains), options));
  BRAID_TRY(settlement->writers_, ChainWriters::Start(*settlement->chains_, options.writers));
  return settlement;
}

Settlement::~Settlement() {
  if (const Status status = Stop(); !status.ok()) log::warn("the settlement log: {}", status.ToString());
}

Status Settlement::Stop() {
  if (writers_ == nullptr) return {};
  const Status stopped = writers_->Stop();
  const Status released = leases_.ReleaseAll();
  return stopped.ok() ? released : stopped;
}

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
  Queue(std::move(record), std::move(answer));
}

// Goes through the queues of its symbols like any output, so that what came before it is stored and what comes after it
// is not.
void Intake::Refuse(std::string_view line, Answer answer, const Status& why) {
  const std::optional<Located> located = parser_.Locate(line);
  if (located) {
    answer.output_seq = located->output_seq;
    answer.symbol_id = located->symbols.front();
  }
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
  if (!settlement_.skip_refused_.empty()) return Finish(std::move(answer), why);
  if (!located) {
    if (stopped_.ok()) {
      stopped_ =
          Status(Code::kChainHalted, StrCat("line ", answer.line, " is no output, and of which symbol it would ",
                                            "be cannot be told: nothing after it is taken; ", why.message()));
    }
    return Finish(std::move(answer), why);
  }
  ChainRecord record;
  record.chain = located->symbols.front();
  record.sequence = located->output_seq;
  record.also.assign(located->symbols.begin() + 1, located->symbols.end());
  record.refused = StrCat(why.message(), " (", source_.empty() ? "" : StrCat(source_, ", "), "line ", answer.line, ")");
  Queue(std::move(record), std::move(answer), why);
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

void Intake::Flush() {
  MutexLock lock(mu_);
  idle_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return answered_ == submitted_; });
}

Totals Intake::totals() const {
  Totals totals;
  for (size_t i = 0; i < kOutcomes; ++i) totals.counts[i] = counts_[i].load(std::memory_order_relaxed);
  return totals;
}

}  // namespace braid::settlement
