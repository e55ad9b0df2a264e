#include "patterns/chains/append.h"

#include <algorithm>
#include <deque>

#include "base/assert.h"
#include "base/strings.h"
#include "patterns/chains/hash.h"
#include "patterns/chains/parts.h"
#include "patterns/chains/stored_tree.h"

namespace braid {

Result<std::vector<Appended>> Chains::Append(std::span<const ChainRecord> records) {
  return chains::Append(*parts_, records).Run();
}

namespace chains {
namespace {

// Only appends without leases compete for a chain's head; each failed attempt means that another append succeeded.
constexpr int kAttemptsMax = 1000;
constexpr Code kHeadMoved = Code::kConflictingOperationInProgress;

Status ValidateRecord(const ChainRecord& record) {
  if (record.sequence < 1 || record.sequence == INT64_MAX) {  // the next sequence must be representable, too
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

Result<std::vector<Appended>> Append::Run() {
  BRAID_CHECK_OK(Validate());
  now_ms_ = parts_.clock.NowMillis();
  LockChains();
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    Status status = LoadHeads();
    if (status.ok()) status = Plan();
    if (status.ok()) status = Commit();
    if (status.ok()) {
      BRAID_ASSERT(results_.size() == records_.size());
      return std::move(results_);
    }
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
    DraftOf(record.chain);
    for (const int64_t other : record.also) DraftOf(other);
  }
  for (auto& [number, chain] : drafts_) locks_.emplace_back(chain.state().mu);
}

ChainDraft& Append::DraftOf(int64_t chain) {
  if (latest_ == nullptr || latest_chain_ != chain) {
    latest_ = &drafts_.try_emplace(chain, parts_, chain).first->second;
    latest_chain_ = chain;
  }
  return *latest_;
}

// The head of a halted chain is read again: another process may have repaired it.
Status Append::LoadHeads() {
  std::vector<int64_t> unknown;
  for (const auto& [number, chain] : drafts_) {
    if (!chain.state().known || !chain.state().head.halted.empty()) unknown.push_back(number);
  }
  if (unknown.empty()) return {};
  for (const int64_t chain : unknown) drafts_.at(chain).state().known = false;
  BRAID_TRY(const std::vector<ChainHead> heads, parts_.LoadHeads(unknown));
  for (const ChainHead& head : heads) {
    ChainState& state = drafts_.at(head.chain).state();
    state.head = head;
    state.known = true;
  }
  for (const int64_t chain : unknown) {
    ChainState& state = drafts_.at(chain).state();
    if (state.known) continue;
    BRAID_CHECK_OK(parts_.CreateHead(chain));
    state.head = ChainHead{.chain = chain};
    state.known = true;
  }
  return {};
}

void Append::Forget() {
  for (auto& [number, chain] : drafts_) chain.state().known = false;
}

Status Append::Plan() {
  results_.assign(records_.size(), Appended());
  for (auto& [number, chain] : drafts_) chain.Begin(now_ms_);
  for (size_t i = 0; i < records_.size(); ++i) {
    const ChainRecord& record = records_[i];
    Appended& result = results_[i];
    result.status = ValidateRecord(record);
    if (!result.status.ok()) continue;
    if (!record.refused.empty()) {
      PlanRefused(record, result);
      continue;
    }
    if (!record.also.empty()) {
      BRAID_CHECK_OK(PlanShared(record, result));
      continue;
    }
    ChainDraft& chain = DraftOf(record.chain);
    BRAID_TRY(Judgement judged, chain.Judge(record, {}));
    if (judged.kind == Kind::kNew) {
      if (Status claimed = ClaimSequence(record); !claimed.ok())
        judged = {.status = std::move(claimed), .breaks = true};
    }
    result = {.status = judged.status, .duplicate = judged.kind == Kind::kStored, .hash = judged.hash};
    if (judged.breaks) Break(chain.now(), std::string(judged.status.message()));
    if (judged.kind == Kind::kNew) chain.Accept(record, {}, judged.hash);
  }
  for (auto& [number, chain] : drafts_) chain.FinishSegment();
  return {};
}

// Either all of its chains accept it, or none does (C9).
Status Append::PlanShared(const ChainRecord& record, Appended& result) {
  Others all = record.also;
  all.push_back(record.chain);
  std::sort(all.begin(), all.end());
  std::vector<std::pair<Others, Judgement>> judged;
  size_t fresh = 0;
  for (const int64_t number : all) {
    Others others = all;
    std::erase(others, number);
    BRAID_TRY(Judgement judgement, DraftOf(number).Judge(record, others));
    if (judgement.kind == Kind::kNew) ++fresh;
    if (judgement.kind == Kind::kRefused && (result.status.ok() || judgement.breaks)) result.status = judgement.status;
    if (number == record.chain) result.hash = judgement.hash;
    judged.emplace_back(std::move(others), std::move(judgement));
  }
  BRAID_ASSERT(judged.size() == all.size() && fresh <= all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    ChainDraft& chain = DraftOf(all[i]);
    Judgement& judgement = judged[i].second;
    if (judgement.breaks) Break(chain.now(), std::string(judgement.status.message()));
    // Some chains have the record, so it was committed to all of them; a chain without it has lost it.
    if (result.status.ok() && fresh < all.size() && judgement.kind == Kind::kNew) {
      Break(chain.now(), StrCat("chain ", all[i], ": expected to have sequence ", record.sequence,
                                " as the other chains that share it do, got none"));
      result.status = Status(Code::kChainBroken, chain.now().halted);
    }
  }
  const Code code = result.status.code();
  if (code == Code::kChainBroken || code == Code::kChainHalted) HoldBack(record, all);
  if (!result.status.ok()) return {};
  result.duplicate = fresh == 0;
  if (result.duplicate) return {};
  if (result.status = ClaimSequence(record); !result.status.ok()) {
    for (const int64_t number : all) Break(DraftOf(number).now(), std::string(result.status.message()));
    return {};
  }
  for (size_t i = 0; i < all.size(); ++i) {
    DraftOf(all[i]).Accept(record, judged[i].first, judged[i].second.hash);
  }
  return {};
}

// A record that does not become durable keeps its claim on the sequence: the same record will be submitted again.
Status Append::ClaimSequence(const ChainRecord& record) {
  if (!parts_.options.unique_sequences) return {};
  const std::optional<int64_t> other = parts_.recent.Claim(record.sequence, record.chain);
  if (!other) return {};
  return Status(Code::kChainBroken, StrCat("chain ", record.chain, ": sequence ", record.sequence,
                                           " is a record of chain ", *other, "; sequences are unique"));
}

// A chain that would accept the record must not continue without it: the others could never accept it then. All of them
// name the one chain that has to be repaired first. A record that some chain has passed cannot be awaited.
void Append::HoldBack(const ChainRecord& record, std::span<const int64_t> chains) {
  const auto passed = [&](int64_t number) { return DraftOf(number).now().sequence >= record.sequence; };
  if (std::any_of(chains.begin(), chains.end(), passed)) return;
  std::optional<int64_t> first;
  for (const int64_t number : chains) {
    const ChainHead& now = DraftOf(number).now();
    if (now.halted.empty()) continue;
    if (now.broken) first = number;
    if (!now.broken && !now.awaits.empty() && !first) first = now.awaits.front().held_by;
  }
  const std::string why =
      first ? StrCat("it is held back by chain ", *first, ", which has to be repaired first") : "it was held back";
  for (const int64_t number : chains) {
    ChainDraft& chain = DraftOf(number);
    if (!chain.lease().ok()) continue;  // the lease's new owner decides about this chain
    Await(chain.now(), {record.sequence, StrCat("sequence ", record.sequence, " has to come first: ", why), first});
  }
}

void Append::PlanRefused(const ChainRecord& record, Appended& result) {
  Others all = record.also;
  all.push_back(record.chain);
  for (const int64_t number : all) {
    if (const Status& lease = DraftOf(number).lease(); !lease.ok()) {
      result.status = lease;
      return;
    }
  }
  result.status = Status(Code::kBadValue, record.refused);
  for (const int64_t number : all) {
    Await(DraftOf(number).now(),
          {record.sequence, StrCat("sequence ", record.sequence, " was refused: ", record.refused), std::nullopt});
  }
}

// One durable commit. That every head is still as it was, its epoch included, is part of it: this is the fence (C10).
Status Append::Commit() {
  std::deque<client::Bson> filters;
  std::deque<client::Bson> changes;
  std::vector<Transaction::Update> updates;
  for (auto& [number, chain] : drafts_) {
    if (!chain.changed()) continue;
    if (chain.halt_changed()) ++chain.now().halt_changes;
    AppendHeadCondition(chain.before(), filters.emplace_back());
    client::Bson fields;
    fields.Integer("seq", chain.now().sequence).Binary("hash", TextOf(chain.now().hash));
    fields.Integer("records", chain.now().records);
    AppendTree(chain.now(), fields);
    if (chain.halt_changed() && !chain.now().halted.empty()) AppendHalt(chain.now(), now_ms_, fields);
    client::Bson& change = changes.emplace_back().Document("$set", fields);
    if (chain.now().halted.empty() && !chain.before().halted.empty()) {
      client::Bson gone;
      change.Document("$unset", gone.Bool("halted", true));
    }
    updates.push_back({.filter = filters.back().get(), .change = changes.back().get()});
  }
  if (updates.empty()) return {};
  BRAID_ASSERT(locks_.size() ==
               drafts_.size());  // hold the lock of every chain that the commit touches until it is done
  BRAID_ASSERT(filters.size() == updates.size() && changes.size() == updates.size());
  std::vector<const bson_t*> segments;
  for (const auto& [number, chain] : drafts_) {
    for (const client::Bson& segment : chain.segments()) segments.push_back(segment.get());
  }
  BRAID_CHECK_OK(
      RunTransaction(parts_.clients, {.database = parts_.options.database}, [&](Transaction& transaction) -> Status {
        BRAID_TRY(const Transaction::Matched heads, transaction.UpdateOnes(parts_.heads, updates));
        if (heads.matched != static_cast<int64_t>(updates.size())) return Status(kHeadMoved, "a head has moved");
        for (const auto& [number, chain] : drafts_) {
          BRAID_CHECK_OK(PutNodes(transaction, parts_.tree, number, chain.nodes()));
        }
        return transaction.Insert(parts_.options.log, segments);
      }));
  for (auto& [number, chain] : drafts_) chain.state().head = chain.now();
  return {};
}

}  // namespace chains
}  // namespace braid
