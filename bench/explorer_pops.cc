// Pops of single epochs, growing them again, and the recount of everything.
#include <algorithm>
#include <chrono>

#include "base/strings.h"
#include "bench/explorer_runs.h"
#include "bench/ledger_runs.h"

namespace braid::bench {
namespace {

// So many epochs are popped before they are grown again: as many as there is memory for, because an epoch that is grown
// and popped again and again leaves more versions of its keys in the store than any chain does.
constexpr uint64_t kPopsAtOnce = 250;

template <typename Body>
Status RecordTime(Histogram& nanos, const Body& body) {
  const auto start = std::chrono::steady_clock::now();
  BRAID_CHECK_OK(body());
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  nanos.Record(static_cast<uint64_t>(took.count()));
  return {};
}

}  // namespace

Result<std::unique_ptr<explorer::Explorer>> RenewExplorer(Clients& clients, const ExplorerBenchOptions& options) {
  BRAID_CHECK_OK(DropDatabase(clients, options.database));
  return explorer::Explorer::Open(clients, {.database = options.database, .stop = options.stop});
}

Result<ExplorerPopRow> MeasurePops(explorer::Explorer& explorer, const ExplorerChain& chain, uint64_t epochs) {
  const ExplorerBenchOptions& options = chain.options();
  ExplorerPopRow row{.transactions = epochs * options.epoch_transactions,
                     .epoch_transactions = options.epoch_transactions};
  const uint64_t at_once = std::min({kPopsAtOnce, options.pops, epochs - 1});
  std::vector<explorer::Epoch> popped;
  for (uint64_t epoch = epochs - at_once; epoch < epochs; ++epoch) {
    BRAID_TRY(explorer::Epoch parsed, explorer::ParseEpoch(chain.Line(epoch)));
    popped.push_back(std::move(parsed));
  }
  while (row.pop_nanos.count() < options.pops && !popped.empty() && !options.stop->load()) {
    for (uint64_t i = 0; i < at_once; ++i) {
      BRAID_CHECK_OK(RecordTime(row.pop_nanos, [&] { return explorer.Pop(1).status(); }));
    }
    for (const explorer::Epoch& epoch : popped) {
      BRAID_CHECK_OK(RecordTime(row.grow_nanos, [&] { return explorer.Take({&epoch, 1}).status(); }));
    }
  }
  return row;
}

Result<ExplorerVerifyRow> VerifyExplorer(explorer::Explorer& explorer, const ExplorerChain& chain, uint64_t epochs) {
  const auto start = std::chrono::steady_clock::now();
  BRAID_TRY(const explorer::Explorer::Verification found, explorer.Verify(nullptr));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const ExplorerVerifyRow row{.transactions = static_cast<uint64_t>(found.transactions),
                              .documents = static_cast<uint64_t>(found.timeline.documents),
                              .seconds = took.count()};
  if (!found.timeline.ok()) {
    const TimelineDamage& first = found.timeline.damage.front();
    return Status(Code::kInternalError, StrCat(found.timeline.damage_count, " things are damaged; first, of epoch ",
                                               first.epoch, ": ", first.what));
  }
  const uint64_t transactions = epochs * chain.options().epoch_transactions;
  const uint64_t blocks = epochs * chain.options().epoch_blocks;
  if (row.transactions == transactions && static_cast<uint64_t>(found.blocks) == blocks &&
      found.timeline.tip.hash == chain.PivotHash(epochs - 1)) {
    return row;
  }
  return Status(Code::kInternalError,
                StrCat(epochs, " epochs should have ", transactions, " transactions in ", blocks, " blocks and end at ",
                       chain.PivotHash(epochs - 1), ", but there are ", row.transactions, " in ", found.blocks,
                       ", up to ", found.timeline.tip.hash));
}

}  // namespace braid::bench
