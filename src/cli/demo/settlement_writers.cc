#include "cli/demo/settlement_writers.h"

#include "base/mutex.h"
#include "base/strings.h"

namespace braid::cli::demo {

using settlement::Answer;
using settlement::Intake;
using settlement::Output;
using settlement::Settlement;

Result<std::unique_ptr<SettlementWriters>> SettlementWriters::Open(Clients& clients) {
  Writers writers;
  for (size_t i = 0; i < kNames.size(); ++i) {
    settlement::Options options;
    options.owner = kNames[i];
    options.writers.writers = 2;
    BRAID_TRY(writers[i], Settlement::Open(clients, options));
  }
  BRAID_TRY(const std::vector<LeaseInfo> leases, writers.front()->chains().Leases());
  size_t hot = 0;
  for (const LeaseInfo& lease : leases) {
    if (lease.chain == kHotSymbol && lease.owner == kNames[1]) hot = 1;
  }
  std::unique_ptr<SettlementWriters> opened(new SettlementWriters(std::move(writers), hot));
  BRAID_TRY(const std::vector<ChainHead> heads, opened->chains().Heads());
  for (const ChainHead& head : heads) {
    if (!head.halted.empty()) BRAID_CHECK_OK(opened->Repair(head.chain, "the demo ended while the chain was halted"));
  }
  return opened;
}

Status SettlementWriters::Append(std::span<const Output> outputs) {
  Mutex mu;
  Status failure;
  const auto on_answer = [&](const Answer& answer) {
    const MutexLock lock(mu);
    if (failure.ok()) failure = answer.status;
  };
  // New intakes for each call: they begin where the log ends, whatever became of the call before.
  std::array<Intake, kNames.size()> intakes = {Intake(*writers_[0], on_answer, kNames[0]),
                                               Intake(*writers_[1], on_answer, kNames[1])};
  for (const Output& output : outputs) intakes[WriterOf(output.symbol_id())].Submit(ToJson(output));
  for (Intake& intake : intakes) intake.Flush();
  return failure;
}

// Everything that was submitted is durable, so the next writer finds the head that it must follow.
Result<SettlementWriters::HandOver> SettlementWriters::HandHotOver() {
  const size_t next = (hot_ + 1) % kNames.size();
  BRAID_CHECK_OK(writers_[hot_]->chains().ReleaseLease(kHotSymbol));
  BRAID_TRY(const int64_t epoch, writers_[next]->chains().AcquireLease(kHotSymbol));
  HandOver done{.from = kNames[hot_], .to = kNames[next], .epoch = epoch};
  hot_ = next;
  return done;
}

Status SettlementWriters::Halt(const Output& next) {
  Output broken = next;
  broken.prev_hash = ChainHash{0xde, 0xad};
  const Status status = Append({&broken, 1});
  if (status.code() == Code::kChainBroken || status.code() == Code::kChainHalted) return {};
  if (!status.ok()) return status;
  return Status(Code::kInternalError, StrCat("output ", next.output_seq, " was taken with a wrong prev_hash"));
}

Status SettlementWriters::Repair(int64_t symbol, const std::string& reason) {
  return writers_[WriterOf(symbol)]->chains().Repair(symbol, {.by = "the demo", .reason = reason});
}

}  // namespace braid::cli::demo
