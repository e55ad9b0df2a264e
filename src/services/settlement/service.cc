#include "services/settlement/service.h"

#include <numeric>

#include "base/log.h"
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

}  // namespace

ChainsOptions Options::ToChains() const {
  ChainsOptions options;
  options.database = database;
  options.log = log;
  options.owner = owner;
  options.lease_ttl = lease_ttl;
  return options;
}

std::string_view NameOf(Outcome outcome) { return kNames[static_cast<size_t>(outcome)]; }

uint64_t Totals::sum() const { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); }

Result<std::unique_ptr<Settlement>> Settlement::Open(Clients& clients, const Options& options) {
  BRAID_TRY(std::unique_ptr<Chains> chains, Chains::Open(clients, options.ToChains()));
  std::unique_ptr<Settlement> settlement(new Settlement(std::move(chains), options.leases_max));
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

void Intake::Submit(std::string_view line) {
  Answer answer{.number = ++submitted_};
  const Result<Output> output = parser_.Parse(line);
  if (!output.ok()) return Finish(std::move(answer), output.error());
  answer.output_seq = output->output_seq;
  answer.symbol_id = output->symbol_id();
  Queue(*output, std::move(answer));
}

void Intake::Queue(const Output& output, Answer answer) {
  ChainRecord record = ToRecord(output);
  const std::vector<int64_t> symbols = SymbolsOf(record);
  Status entered = WhyGone(symbols);
  if (entered.ok()) entered = settlement_.leases_.Enter(symbols);
  if (!entered.ok()) {
    SetGone(symbols, entered);
    return Finish(std::move(answer), entered);
  }
  const auto done = [this, answer, symbols](const Appended& appended) {
    Answer finished = answer;
    finished.outcome = appended.duplicate ? Outcome::kDuplicate : Outcome::kAccepted;
    finished.hash = appended.hash;
    if (appended.status.code() == Code::kLeaseLost) SetGone(symbols, appended.status);
    settlement_.leases_.Leave(symbols, appended.status);
    Finish(std::move(finished), appended.status);
  };
  if (const Status queued = settlement_.writers_->Submit(std::move(record), done); !queued.ok()) {
    settlement_.leases_.Leave(symbols, queued);
    Finish(std::move(answer), queued);
  }
}

Status Intake::WhyGone(const std::vector<int64_t>& symbols) {
  const std::lock_guard lock(mu_);
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
  const std::lock_guard lock(mu_);
  for (const int64_t symbol : symbols) gone_.emplace(symbol, why.code());
}

void Intake::Finish(Answer answer, const Status& status) {
  if (!status.ok()) {
    answer.outcome = OutcomeOf(status);
    answer.status = status;
  }
  counts_[static_cast<size_t>(answer.outcome)].fetch_add(1, std::memory_order_relaxed);
  on_answer_(answer);
  // Told under the lock: whoever waits may destroy this object as soon as it is free.
  const std::lock_guard lock(mu_);
  ++answered_;
  idle_.notify_all();
}

void Intake::Flush() {
  std::unique_lock lock(mu_);
  idle_.wait(lock, [&] { return answered_ == submitted_; });
}

Totals Intake::totals() const {
  Totals totals;
  for (size_t i = 0; i < kOutcomes; ++i) totals.counts[i] = counts_[i].load(std::memory_order_relaxed);
  return totals;
}

}  // namespace braid::settlement
