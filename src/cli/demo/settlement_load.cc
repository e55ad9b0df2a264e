// The load of the settlement log: outputs of several symbols, one of them hot and handed over between two writers, one
// of them now and then halted and repaired; the views follow, and checkpoints are signed.
#include <vector>

#include "base/strings.h"
#include "braid/checkpoint.h"
#include "braid/clock.h"
#include "cli/demo/loads.h"
#include "cli/demo/settlement_writers.h"
#include "services/settlement/checkpoints.h"
#include "services/settlement/generator.h"
#include "services/settlement/views/views.h"

namespace braid::cli::demo {
namespace {

using braid::settlement::Output;
using braid::settlement::Views;

constexpr const char* kSettlement = "settlement";
constexpr int64_t kFragileSymbol = 6;
constexpr int64_t kFirstOutputs = 600;
constexpr int64_t kStepOutputs = 8;
// What happens in every so many steps.
constexpr int64_t kFollowSteps = 4;
constexpr int64_t kHandOverSteps = 40;
constexpr int64_t kCheckpointSteps = 60;
constexpr int64_t kHaltSteps = 150;
constexpr int64_t kHaltedSteps = 16;  // from the halt to the repair

braid::settlement::GeneratorOptions SettlementOutputs() {
  return {.symbols = kFragileSymbol, .hot_percent = 55, .users = 200, .seed = 18};
}

// The outputs are the same at every start, so the demo continues after those that the store has. Outputs that were
// appended but not noted, because the demo was killed, are submitted again and are duplicates.
class SettlementLoad final : public Load {
 public:
  SettlementLoad(const Setting& setting, std::unique_ptr<SettlementWriters> writers, std::unique_ptr<Views> views,
                 Figures figures)
      : setting_(setting),
        writers_(std::move(writers)),
        views_(std::move(views)),
        figures_(std::move(figures)),
        generator_(SettlementOutputs()) {}

  Status Step() override {
    ++steps_;
    if (steps_ % kHandOverSteps == 0) BRAID_CHECK_OK(HandOver());
    if (steps_ % kHaltSteps == 0) fragile_ = Fragile::kToHalt;
    if (fragile_ == Fragile::kHalted && steps_ % kHaltSteps >= kHaltedSteps) BRAID_CHECK_OK(Repair());
    BRAID_CHECK_OK(Send(kStepOutputs));
    if (steps_ % kFollowSteps == 0) BRAID_CHECK_OK(views_->Follow());
    return steps_ % kCheckpointSteps == 0 ? SignCheckpoint() : Status();
  }

  Status SendFirst() {
    if (figures_["outputs"] > 0) return {};
    BRAID_CHECK_OK(Send(kFirstOutputs));
    BRAID_CHECK_OK(views_->Follow());
    return SignCheckpoint();
  }

 private:
  enum class Fragile { kSound, kToHalt, kHalted };

  Status Send(int64_t count) {
    for (; made_ < figures_["outputs"] && !setting_.stop; ++made_) generator_.Next();
    if (setting_.stop) return {};
    if (outputs_.empty()) Make(count);
    if (fragile_ == Fragile::kToHalt && !held_.empty()) BRAID_CHECK_OK(Halt());
    BRAID_CHECK_OK(writers_->Append(outputs_));
    outputs_.clear();
    figures_["outputs"] = held_.empty() ? made_ : held_.front().output_seq - 1;
    return Write();
  }

  // While the fragile symbol is halted, or about to be, its outputs wait.
  void Make(int64_t count) {
    for (; count > 0; --count, ++made_) {
      Output output = generator_.Next();
      const bool waits = output.symbol_id() == kFragileSymbol && fragile_ != Fragile::kSound;
      (waits ? held_ : outputs_).push_back(std::move(output));
    }
  }

  Status Halt() {
    const int64_t sequence = held_.front().output_seq;
    BRAID_CHECK_OK(writers_->Halt(held_.front()));
    fragile_ = Fragile::kHalted;
    ++figures_["halts"];
    return setting_.journal.Note(kSettlement, StrCat("symbol ", kFragileSymbol, " halted: output ", sequence,
                                                     " came with a prev_hash that is not the chain's"));
  }

  Status Repair() {
    BRAID_CHECK_OK(writers_->Repair(kFragileSymbol, "the engine sends the right output again"));
    fragile_ = Fragile::kSound;
    const size_t waited = held_.size();
    outputs_.insert(outputs_.end(), held_.begin(), held_.end());
    held_.clear();
    return setting_.journal.Note(
        kSettlement, StrCat("symbol ", kFragileSymbol, " repaired: the ", waited, " outputs that waited are appended"));
  }

  // Everything that was submitted is durable, so the next writer finds the head that it must follow.
  Status HandOver() {
    BRAID_TRY(const SettlementWriters::HandOver done, writers_->HandHotOver());
    ++figures_["hand_overs"];
    return setting_.journal.Note(
        kSettlement, StrCat("hand-over of symbol ", SettlementWriters::kHotSymbol, ": ", done.from, " to ", done.to,
                            ", behind output ", made_, ", fencing token ", done.epoch));
  }

  Status SignCheckpoint() {
    Chains& chains = writers_->chains();
    BRAID_TRY(const Checkpoint checkpoint, braid::settlement::SignHeads(chains, key_, Clock::System().NowMillis()));
    BRAID_CHECK_OK(braid::settlement::KeepCheckpoint(setting_.clients, chains.options(), checkpoint));
    ++figures_["checkpoints"];
    return Write();
  }

  Status Write() {
    return setting_.journal.Write(kSettlement, figures_,
                                  {{"hot_writer", writers_->hot_writer()}, {"public_key", key_.public_key().ToHex()}});
  }

  const Setting setting_;
  const std::unique_ptr<SettlementWriters> writers_;
  const std::unique_ptr<Views> views_;
  const SigningKey key_ = SigningKey::Generate();  // of this run: its public half is in the journal
  Figures figures_;
  braid::settlement::Generator generator_;
  int64_t made_ = 0;             // outputs that the generator has made
  std::vector<Output> outputs_;  // of the step under way
  std::vector<Output> held_;     // of the fragile symbol, until it is repaired
  Fragile fragile_ = Fragile::kSound;
  int64_t steps_ = 0;
};

}  // namespace

Result<std::unique_ptr<Load>> OpenSettlement(const Setting& setting) {
  BRAID_TRY(std::unique_ptr<SettlementWriters> writers, SettlementWriters::Open(setting.clients));
  braid::settlement::ViewsOptions options;
  options.workers = 1;
  options.stop = &setting.stop;
  BRAID_TRY(std::unique_ptr<Views> views, Views::Open(setting.clients, options));
  BRAID_TRY(Figures figures, setting.journal.Read(kSettlement));
  auto load = std::make_unique<SettlementLoad>(setting, std::move(writers), std::move(views), std::move(figures));
  BRAID_CHECK_OK(load->SendFirst());
  return std::unique_ptr<Load>(std::move(load));
}

}  // namespace braid::cli::demo
