// What an append would change: each record is judged, and what is new becomes links and segments (C4, C9).
#include <algorithm>

#include "base/strings.h"
#include "patterns/chains/append.h"

namespace braid::chains {
namespace {

constexpr size_t kSegmentBytesMax = 4u << 20;

Status ValidateRecord(const ChainRecord& record) {
  if (record.sequence < 1 || record.sequence == INT64_MAX) {  // one more must be a number, too
    return Status(Code::kBadValue, StrCat("sequence ", record.sequence, " is not in 1..", INT64_MAX - 1));
  }
  if (record.payload.size() > Chains::kPayloadBytesMax) {
    return Status(Code::kBadValue,
                  StrCat("a payload of ", record.payload.size(), " bytes; the most is ", Chains::kPayloadBytesMax));
  }
  std::vector<int64_t> all = record.also;
  all.push_back(record.chain);
  std::sort(all.begin(), all.end());
  if (std::adjacent_find(all.begin(), all.end()) != all.end()) {
    return Status(Code::kBadValue, StrCat("sequence ", record.sequence, " names a chain twice"));
  }
  return {};
}

}  // namespace

void Append::BeginPlan() {
  documents_.clear();
  results_.assign(records_.size(), Appended());
  const bool leased = !parts_.options.owner.empty();
  for (auto& [number, chain] : touched_) {
    chain.before = chain.now = chain.state->head;
    chain.links.clear();
    chain.segment.Clear();
    chain.lease = Status();
    const int64_t held = chain.state->lease.load();
    if (held == chain.now.epoch && (leased ? held > 0 : held == 0)) continue;
    const std::string why =
        !leased    ? "it is written under leases, and this process has no owner's name"
        : held > 0 ? StrCat("the lease with epoch ", held, " was taken by another, whose epoch is ", chain.now.epoch)
                   : std::string("this process does not hold its lease");
    chain.lease = Status(Code::kLeaseLost, StrCat("chain ", number, ": ", why));
    chain.state->lease.store(0);
  }
}

Status Append::Plan() {
  BeginPlan();
  for (size_t i = 0; i < records_.size(); ++i) {
    const ChainRecord& record = records_[i];
    Appended& result = results_[i];
    result.status = ValidateRecord(record);
    if (!result.status.ok()) continue;
    if (!record.also.empty()) {
      BRAID_CHECK_OK(PlanShared(record, result));
      continue;
    }
    Touched& chain = TouchedOf(record.chain);
    BRAID_TRY(const Judgement judged, Judge(chain, record, {}));
    result = {.status = judged.status, .duplicate = judged.kind == Kind::kStored, .hash = judged.hash};
    if (judged.breaks) chain.now.halted = judged.status.message();
    if (judged.kind == Kind::kNew) Accept(chain, record, {}, judged.hash);
  }
  for (auto& [number, chain] : touched_) {
    if (!chain.segment.empty()) FinishSegment(chain);
  }
  return {};
}

// All of its chains must take it, or none does (C9).
Status Append::PlanShared(const ChainRecord& record, Appended& result) {
  Others all = record.also;
  all.push_back(record.chain);
  std::sort(all.begin(), all.end());
  std::vector<std::pair<Others, Judgement>> judged;
  size_t fresh = 0;
  for (const int64_t number : all) {
    Others others = all;
    std::erase(others, number);
    BRAID_TRY(Judgement judgement, Judge(TouchedOf(number), record, others));
    if (judgement.kind == Kind::kNew) ++fresh;
    if (judgement.kind == Kind::kRefused && (result.status.ok() || judgement.breaks)) result.status = judgement.status;
    if (number == record.chain) result.hash = judgement.hash;
    judged.emplace_back(std::move(others), std::move(judgement));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    Touched& chain = TouchedOf(all[i]);
    Judgement& judgement = judged[i].second;
    if (judgement.breaks) chain.now.halted = judgement.status.message();
    // Some chains have it, so it was committed to all; one that lacks it has lost it.
    if (result.status.ok() && fresh < all.size() && judgement.kind == Kind::kNew) {
      chain.now.halted = StrCat("chain ", all[i], ": expected to have sequence ", record.sequence,
                                " as the other chains that share it do, got none");
      result.status = Status(Code::kChainBroken, chain.now.halted);
    }
  }
  if (!result.status.ok()) return {};
  result.duplicate = fresh == 0;
  if (result.duplicate) return {};
  for (size_t i = 0; i < all.size(); ++i) {
    Accept(TouchedOf(all[i]), record, judged[i].first, judged[i].second.hash);
  }
  return {};
}

void Append::Accept(Touched& chain, const ChainRecord& record, std::span<const int64_t> others, const ChainHash& hash) {
  ChainHead& now = chain.now;
  chain.segment.Add({.chain = now.chain,
                     .sequence = record.sequence,
                     .prev_hash = now.hash,
                     .hash = hash,
                     .also = others,
                     .payload = record.payload});
  chain.links.push_back({record.sequence, now.hash, hash});
  now.sequence = record.sequence;
  now.hash = hash;
  ++now.records;
  if (chain.segment.size() >= kSegmentBytesMax) FinishSegment(chain);
}

void Append::FinishSegment(Touched& chain) {
  chain.segment.Finish(
      {.epoch = chain.now.epoch, .created_at = now_ms_, .compression_level = parts_.options.compression_level},
      documents_.emplace_back());
  chain.segment.Clear();
}

}  // namespace braid::chains
