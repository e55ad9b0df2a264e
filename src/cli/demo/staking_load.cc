// The load of the staking statistics: events with duplicates, and unbonded ones that come before their active.
#include "base/strings.h"
#include "cli/demo/loads.h"
#include "services/staking/generator.h"
#include "services/staking/ingestor.h"

namespace braid::cli::demo {
namespace {

using braid::staking::Ingestor;
using braid::staking::Outcome;

constexpr const char* kStaking = "staking";
constexpr int64_t kFirstEvents = 3000;
constexpr int64_t kStepEvents = 8;
constexpr int64_t kRankingSteps = 4;
constexpr size_t kWorkers = 4;  // each with a logical shard of its own

braid::staking::GeneratorOptions StakingEvents() {
  return {.seed = 18,
          .duplicate_percent = 15,
          .unbonded_percent = 40,
          .early_percent = 10,
          .stakers = 2000,
          .finality_providers = 24};
}

// The events are the same at every start, so the demo continues after those that the store has. Events that were sent
// but not noted, because the demo was killed, are sent again and are duplicates.
class StakingLoad final : public Load {
 public:
  StakingLoad(const Setting& setting, std::unique_ptr<Ingestor> ingestor, Figures figures)
      : setting_(setting), ingestor_(std::move(ingestor)), figures_(std::move(figures)), generator_(StakingEvents()) {}

  Status Step() override {
    BRAID_CHECK_OK(Send(kStepEvents));
    return ++steps_ % kRankingSteps == 0 ? ingestor_->UpdateRankings() : Status();
  }

  Status SendFirst() {
    if (figures_["events"] > 0) return {};
    BRAID_CHECK_OK(Send(kFirstEvents));
    return ingestor_->UpdateRankings();
  }

 private:
  Status Send(int64_t count) {
    for (; made_ < figures_["events"] && !setting_.stop; ++made_) generator_.Next();
    if (setting_.stop) return {};
    for (; made_ < figures_["events"] + count; ++made_) lines_.push_back(ToJson(generator_.Next()));
    const std::vector<std::string_view> views(lines_.begin(), lines_.end());
    BRAID_TRY(const Outcome outcome, ingestor_->Apply(views));
    figures_["events"] = made_;
    figures_["accepted"] += static_cast<int64_t>(outcome.accepted);
    figures_["duplicates"] += static_cast<int64_t>(outcome.duplicate);
    figures_["parked"] += static_cast<int64_t>(outcome.parked);
    figures_["released"] += static_cast<int64_t>(outcome.released);
    figures_["rejected"] += static_cast<int64_t>(outcome.rejected + outcome.conflicting);
    lines_.clear();
    return setting_.journal.Write(kStaking, figures_);
  }

  const Setting setting_;
  const std::unique_ptr<Ingestor> ingestor_;
  Figures figures_;
  braid::staking::Generator generator_;
  int64_t made_ = 0;                // events that the generator has made
  std::vector<std::string> lines_;  // of the step under way
  int64_t steps_ = 0;
};

}  // namespace

Result<std::unique_ptr<Load>> OpenStaking(const Setting& setting) {
  BRAID_TRY(std::unique_ptr<Ingestor> ingestor,
            Ingestor::Open(setting.clients, {.workers = kWorkers, .stop = &setting.stop}));
  BRAID_TRY(Figures figures, setting.journal.Read(kStaking));
  auto load = std::make_unique<StakingLoad>(setting, std::move(ingestor), std::move(figures));
  BRAID_CHECK_OK(load->SendFirst());
  return std::unique_ptr<Load>(std::move(load));
}

}  // namespace braid::cli::demo
