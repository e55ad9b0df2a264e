#include "patterns/chains/append.h"

#include <algorithm>

#include "base/strings.h"
#include "patterns/chains/hash.h"

namespace braid {

Result<std::vector<Appended>> Chains::Append(std::span<const ChainRecord> records) {
  return chains::Append(*parts_, records).Run();
}

namespace chains {
namespace {

// Only appends without leases meet others at a chain's head; each failed attempt means that another one got on.
constexpr int kAttemptsMax = 1000;
constexpr size_t kSegmentBytesMax = 4u << 20;
constexpr Code kHeadMoved = Code::kConflictingOperationInProgress;

Status ValidateRecord(const ChainRecord& record) {
  if (record.sequence < 1) return Status(Code::kBadValue, StrCat("sequence ", record.sequence, " is not at least 1"));
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

Result<std::vector<Appended>> Append::Run() {
  BRAID_CHECK_OK(Validate());
  now_ms_ = parts_.clock.NowMillis();
  LockChains();
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    Status status = LoadHeads();
    if (status.ok()) status = Plan();
    if (status.ok()) status = Commit();
    if (status.ok()) return std::move(results_);
    Forget();
    if (status.code() != kHeadMoved) return status;
  }
  return Status(Code::kWriteConflict, "other writers were faster each time; use leases to share chains");
}

Status Append::Validate() const {
  size_t bytes = 0;
  for (const ChainRecord& record : records_) bytes += record.payload.size() * (1 + record.also.size());
  if (bytes <= Chains::kBatchBytesMax) return {};
  return Status(Code::kBadValue, StrCat("a batch of ", bytes, " bytes; the most is ", Chains::kBatchBytesMax));
}

void Append::LockChains() {
  for (const ChainRecord& record : records_) {
    TouchedOf(record.chain);
    for (const int64_t other : record.also) TouchedOf(other);
  }
  for (auto& [number, chain] : touched_) {
    chain.state = &parts_.StateOf(number);
    locks_.emplace_back(chain.state->mu);
  }
}

Append::Touched& Append::TouchedOf(int64_t chain) {
  if (latest_ == nullptr || latest_chain_ != chain) {
    latest_ = &touched_[chain];
    latest_chain_ = chain;
  }
  return *latest_;
}

// A halted chain is looked at again: somebody else may have repaired it.
Status Append::LoadHeads() {
  std::vector<int64_t> unknown;
  for (const auto& [number, chain] : touched_) {
    if (!chain.state->known || !chain.state->head.halted.empty()) unknown.push_back(number);
  }
  if (unknown.empty()) return {};
  for (const int64_t chain : unknown) touched_[chain].state->known = false;
  BRAID_TRY(const std::vector<ChainHead> heads, parts_.LoadHeads(unknown));
  for (const ChainHead& head : heads) {
    ChainState& state = *touched_[head.chain].state;
    state.head = head;
    state.known = true;
  }
  for (const int64_t chain : unknown) {
    ChainState& state = *touched_[chain].state;
    if (state.known) continue;
    BRAID_CHECK_OK(parts_.CreateHead(chain));
    state.head = ChainHead{.chain = chain};
    state.known = true;
  }
  return {};
}

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

void Append::Forget() {
  for (auto& [number, chain] : touched_) chain.state->known = false;
}

// One durable commit. That every head is still as it was, its epoch included, is part of it: this is the fence (C10).
Status Append::Commit() {
  std::deque<client::Bson> filters;
  std::deque<client::Bson> changes;
  std::vector<Transaction::Update> updates;
  for (const auto& [number, chain] : touched_) {
    if (!chain.changed()) continue;
    AppendHeadCondition(chain.before, filters.emplace_back());
    client::Bson fields;
    fields.Integer("seq", chain.now.sequence).Binary("hash", TextOf(chain.now.hash));
    fields.Integer("records", chain.now.records);
    if (!chain.now.halted.empty()) {
      client::Bson halted;
      fields.Document("halted", halted.Date("at", now_ms_).Text("why", chain.now.halted));
    }
    changes.emplace_back().Document("$set", fields);
    updates.push_back({.filter = filters.back().get(), .change = changes.back().get()});
  }
  if (updates.empty()) return {};
  std::vector<const bson_t*> segments;
  for (const client::Bson& document : documents_) segments.push_back(document.get());
  BRAID_CHECK_OK(
      RunTransaction(parts_.clients, {.database = parts_.options.database}, [&](Transaction& transaction) -> Status {
        BRAID_TRY(const Transaction::Matched heads, transaction.UpdateOnes(parts_.heads, updates));
        if (heads.matched != static_cast<int64_t>(updates.size())) return Status(kHeadMoved, "a head has moved");
        return transaction.Insert(parts_.options.log, segments);
      }));
  for (auto& [number, chain] : touched_) chain.state->head = chain.now;
  return {};
}

}  // namespace chains
}  // namespace braid
