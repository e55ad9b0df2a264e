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
constexpr Code kHeadMoved = Code::kConflictingOperationInProgress;

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
