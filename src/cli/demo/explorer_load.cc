// The load of the block explorer: a chain that grows and now and then switches its pivot.
#include "base/strings.h"
#include "cli/demo/loads.h"
#include "services/explorer/explorer.h"
#include "services/explorer/source/chain_generator.h"

namespace braid::cli::demo {
namespace {

using braid::explorer::Epoch;
using braid::explorer::Explorer;
using braid::explorer::source::ChainGenerator;
using braid::explorer::source::MadeLink;

constexpr const char* kExplorer = "explorer";
constexpr int kExplorerFirstSteps = 40;

braid::explorer::source::ChainOptions ExplorerChain() {
  return {.seed = 18,
          .switch_percent = 8,
          .switch_depth_max = 5,
          .blocks_max = 3,
          .transactions_max = 8,
          .accounts = 300,
          .miners = 12};
}

// The chain is the same at every start, so the demo continues after the steps that the store has. A step that was
// stored but not noted, because the demo was killed, is repeated: its epochs exist already.
class ExplorerLoad final : public Load {
 public:
  ExplorerLoad(const Setting& setting, std::unique_ptr<Explorer> explorer, Figures figures)
      : setting_(setting), explorer_(std::move(explorer)), figures_(std::move(figures)), generator_(ExplorerChain()) {}

  Status Step() override {
    for (; made_ < figures_["steps"] && !setting_.stop; ++made_) generator_.Next();
    if (setting_.stop) return {};
    if (made_ == figures_["steps"]) {
      step_ = generator_.Next();
      ++made_;
    }
    BRAID_CHECK_OK(TakeStep());
    figures_["steps"] = made_;
    figures_["epochs"] += static_cast<int64_t>(step_.grown.size()) - step_.popped;
    figures_["popped"] += step_.popped;
    if (step_.popped > 0) BRAID_CHECK_OK(NoteSwitch());
    return setting_.journal.Write(kExplorer, figures_);
  }

  Status TakeFirst() {
    while (figures_["steps"] < kExplorerFirstSteps && !setting_.stop) BRAID_CHECK_OK(Step());
    return {};
  }

 private:
  Status TakeStep() {
    std::vector<Epoch> epochs;
    epochs.reserve(step_.grown.size());
    for (const MadeLink& link : step_.grown) {
      BRAID_TRY(Epoch epoch, braid::explorer::ParseEpoch(EpochLine(link)));
      epochs.push_back(std::move(epoch));
    }
    for (std::span<const Epoch> rest(epochs); !rest.empty();) {
      BRAID_TRY(const Explorer::Taken taken, explorer_->Take(rest));
      rest = rest.subspan(static_cast<size_t>(taken.taken));
    }
    return {};
  }

  Status NoteSwitch() {
    ++figures_["switches"];
    if (made_ <= kExplorerFirstSteps) return {};
    return setting_.journal.Note(
        kExplorer, StrCat("pivot switch at epoch ", step_.grown.front().epoch->number, ": ", step_.popped,
                          step_.popped == 1 ? " epoch" : " epochs", " popped, ", step_.grown.size(), " grown"));
  }

  const Setting setting_;
  const std::unique_ptr<Explorer> explorer_;
  Figures figures_;
  ChainGenerator generator_;
  ChainGenerator::Step step_;  // the newest; not taken in yet if made_ is beyond the figures
  int64_t made_ = 0;           // steps that the generator has made
};

}  // namespace

Result<std::unique_ptr<Load>> OpenExplorer(const Setting& setting) {
  BRAID_TRY(std::unique_ptr<Explorer> explorer, Explorer::Open(setting.clients, {.stop = &setting.stop}));
  BRAID_TRY(Figures figures, setting.journal.Read(kExplorer));
  auto load = std::make_unique<ExplorerLoad>(setting, std::move(explorer), std::move(figures));
  BRAID_CHECK_OK(load->TakeFirst());
  return std::unique_ptr<Load>(std::move(load));
}

}  // namespace braid::cli::demo
