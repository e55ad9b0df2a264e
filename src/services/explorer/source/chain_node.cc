#include "services/explorer/source/chain_node.h"

#include <algorithm>

#include "base/mutex.h"
#include "services/explorer/source/range.h"

namespace braid::explorer::source {

Status NodeOptions::Validate() const {
  BRAID_CHECK_OK(chain.Validate());
  BRAID_CHECK_OK(CheckRange("slow_percent", faults.slow_percent, 0, 100));
  BRAID_CHECK_OK(CheckRange("slow_ms", faults.slow_ms, 0, 600'000));
  BRAID_CHECK_OK(CheckRange("error_percent", faults.error_percent, 0, 100));
  BRAID_CHECK_OK(CheckRange("inconsistent_percent", faults.inconsistent_percent, 0, 100));
  BRAID_CHECK_OK(CheckRange("epochs_max", epochs_max, 1, 10'000'000));
  BRAID_CHECK_OK(CheckRange("epochs_at_start", epochs_at_start, 1, epochs_max));
  return CheckRange("not_executed", not_executed, 0, 1000);
}

ChainNode::ChainNode(const NodeOptions& options, std::vector<TransactionPtr> real)
    : options_(options),
      generator_(options.chain, std::move(real)),
      faults_(options.faults),
      random_(options.chain.seed + 1) {
  while (static_cast<int64_t>(chain_.size()) < options_.epochs_at_start) TakeStep();
}

void ChainNode::AddLink(MadeLink link) {
  const EpochPtr& epoch = link.epoch;
  for (size_t i = 0; i < epoch->blocks.size(); ++i) blocks_[epoch->blocks[i].hash] = {.epoch = epoch, .at = i};
  for (size_t i = 0; i < epoch->receipts.size(); ++i) {
    receipts_[epoch->receipts[i].transaction->hash] = {.epoch = epoch, .at = i};
  }
  chain_.push_back(std::move(link));
}

void ChainNode::RemoveNewest() {
  const EpochPtr epoch = std::move(chain_.back().epoch);
  chain_.pop_back();
  for (const MadeReceipt& receipt : epoch->receipts) receipts_.erase(receipt.transaction->hash);
  left_[epoch->number] = epoch;
}

void ChainNode::TakeStep() {
  if (static_cast<int64_t>(chain_.size()) >= options_.epochs_max) return;
  ChainGenerator::Step step = generator_.Next();
  if (step.popped > 0) left_.clear();
  for (int64_t i = 0; i < step.popped; ++i) RemoveNewest();
  for (MadeLink& link : step.grown) AddLink(std::move(link));
  ++state_.steps;
  state_.switches += step.popped > 0 ? 1 : 0;
  state_.popped += step.popped;
  newest_read_ = false;
}

void ChainNode::Advance(int64_t steps) {
  const MutexLock lock(mu_);
  for (int64_t i = 0; i < steps; ++i) TakeStep();
}

void ChainNode::SetFaults(const NodeFaults& faults) {
  const MutexLock lock(mu_);
  faults_ = faults;
}

ChainNode::State ChainNode::CurrentState() const {
  State state = state_;
  state.epoch = newest();
  state.ended = static_cast<int64_t>(chain_.size()) >= options_.epochs_max;
  return state;
}

ChainNode::State ChainNode::state() const {
  const MutexLock lock(mu_);
  return CurrentState();
}

std::vector<std::string> ChainNode::Lines() const {
  const MutexLock lock(mu_);
  std::vector<std::string> lines;
  for (const MadeLink& link : chain_) lines.push_back(EpochLine(link));
  return lines;
}

bool ChainNode::Lies() {
  const bool lies = random_.Chance(faults_.inconsistent_percent, 100);
  if (lies) ++state_.faults;
  return lies;
}

// Applies a transport fault to an answer.
void ChainNode::Spoil(Answer& answer) {
  if (random_.Chance(faults_.slow_percent, 100)) {
    answer.delay_ms = static_cast<int64_t>(random_.Below(static_cast<uint64_t>(faults_.slow_ms) + 1));
  }
  if (!random_.Chance(faults_.error_percent, 100)) return;
  ++state_.faults;
  switch (random_.Below(5)) {
    case 0: answer.dropped = true; break;
    case 1: answer.cut = true; break;
    case 2: answer.body.resize(random_.Below(answer.body.size() + 1)); break;  // no JSON any more
    default: answer.status = random_.Chance(1, 2) ? 500 : 429; answer.body = "out of order";
  }
}

}  // namespace braid::explorer::source
