#include "services/explorer/plan.h"

#include <algorithm>
#include <charconv>

#include "base/assert.h"
#include "base/strings.h"
#include "services/explorer/collections.h"
#include "services/explorer/documents.h"

namespace braid::explorer {
namespace {

// The largest size of one transaction: each of these is about four documents.
constexpr size_t kTransactionsInPlan = 4000;
constexpr size_t kBytesInPlan = size_t{8} << 20;

void SetText(bson_t* document, const char* key, std::string_view value) {
  bson_append_utf8(document, key, -1, value.data(), static_cast<int>(value.size()));
}

int64_t CountIn(const EpochState& state, const char* sum) {
  int64_t count = 0;
  const auto entry = state.sums.find(StrCat(kBlocksInOrder, ".", sum));
  if (entry == state.sums.end()) return 0;
  std::from_chars(entry->second.data(), entry->second.data() + entry->second.size(), count);
  return count;
}

Status CheckFollows(const EpochState& tip, const Epoch& epoch) {
  if (tip.empty()) return {};
  if (epoch.number != tip.number + 1) {
    return Status(Code::kTimelineGap, StrCat("epoch ", epoch.number, ": the newest epoch is ", tip.number, ", so ",
                                             tip.number + 1, " must come next"));
  }
  if (epoch.parent_hash != tip.hash) {
    return Status(Code::kTimelineFork, StrCat("epoch ", epoch.number, ": its parent ", epoch.parent_hash,
                                              " is not the pivot of epoch ", tip.number, ", which is ", tip.hash));
  }
  return {};
}

// How many of the epochs follow each other and fit into one transaction; at least one.
size_t BatchSize(std::span<const Epoch> epochs) {
  size_t transactions = 0;
  size_t bytes = 0;
  size_t count = 0;
  while (count < epochs.size()) {
    const Epoch& epoch = epochs[count];
    transactions += epoch.transaction_count();
    bytes += epoch.bytes;
    if (count > 0) {
      const Epoch& before = epochs[count - 1];
      if (transactions > kTransactionsInPlan || bytes > kBytesInPlan) break;
      if (epoch.number != before.number + 1 || epoch.parent_hash != before.pivot_hash) break;
    }
    ++count;
  }
  BRAID_ASSERT(epochs.empty() || count > 0);
  return count;
}

// The rows of a block, some per document.
void AddRows(Growth& growth, const EpochBlock& block) {
  const std::span<const EpochTransaction> all(block.transactions);
  for (size_t first = 0; first < all.size(); first += kRowsInDocument) {
    bson_t* document = growth.Add(kBlockTransactions).get();
    SetText(document, "_id", RowsId(block.hash, static_cast<int64_t>(first / kRowsInDocument)));
    SetText(document, "block", block.hash);
    BSON_APPEND_INT64(document, "first", static_cast<int64_t>(first));
    bson_t array;
    bson_append_array_begin(document, "transactions", -1, &array);
    uint32_t place = 0;
    for (const EpochTransaction& one : all.subspan(first, std::min(kRowsInDocument, all.size() - first))) {
      char buffer[16];
      const char* key = nullptr;
      const size_t key_size = bson_uint32_to_string(place++, &key, buffer, sizeof(buffer));
      bson_t row;
      bson_append_document_begin(&array, key, static_cast<int>(key_size), &row);
      AppendTransactionRow({.hash = one.hash, .index = one.index, .fields = one.fields.get()}, &row);
      bson_append_document_end(&array, &row);
    }
    bson_append_array_end(document, &array);
  }
}

}  // namespace

Status EpochPlan::Run(Growth& growth) {
  grown_.clear();
  pop_to_.reset();
  const EpochState tip = growth.tip();
  while (grown_.size() < epochs_.size() && !tip.empty() && epochs_[grown_.size()].number <= tip.number) {
    const Epoch& epoch = epochs_[grown_.size()];
    BRAID_TRY(const EpochState stored, timeline_.StateOf(growth.transaction(), tip, epoch.number));
    if (stored.hash == epoch.pivot_hash) {
      grown_.push_back(false);
      continue;
    }
    if (!grown_.empty()) return {};  // report the earlier epochs first
    if (stored.empty()) {
      return Status(Code::kTimelineGap, StrCat("epoch ", epoch.number, ": the chain begins with a later epoch"));
    }
    return PlanPop(growth, stored);
  }
  return grown_.size() < epochs_.size() ? Grow(growth, grown_.size()) : Status();
}

// The epoch is checked against the chain as it will be, before anything is popped.
Status EpochPlan::PlanPop(Growth& growth, const EpochState& replaced) {
  BRAID_ASSERT(grown_.empty() && !pop_to_);
  const Epoch& epoch = epochs_.front();
  if (epoch.parent_hash != replaced.parent) {
    return Status(Code::kTimelineFork,
                  StrCat("epoch ", epoch.number, ": its parent ", epoch.parent_hash, " is not the pivot of epoch ",
                         epoch.number - 1, ", which is ", replaced.parent));
  }
  BRAID_TRY(KnownState known, KnownState::Load(growth.transaction(), epoch.number - 1, epochs_.first(1)));
  BRAID_CHECK_OK(known.Check(epoch));
  pop_to_ = epoch.number - 1;
  return {};
}

Status EpochPlan::Grow(Growth& growth, size_t first) {
  BRAID_ASSERT(first < epochs_.size());
  // Only the first epoch may be refused. After others, those that were begun or skipped are reported first.
  const auto refuse = [&](const Status& status) { return grown_.empty() ? status : Status(); };
  const std::span<const Epoch> batch = epochs_.subspan(first).first(BatchSize(epochs_.subspan(first)));
  if (Status status = CheckFollows(growth.tip(), batch.front()); !status.ok()) return refuse(status);
  transactions_ = CountIn(growth.tip(), kNewTransactionSum);
  BRAID_TRY(KnownState known, KnownState::Load(growth.transaction(), growth.tip().number, batch));
  for (const Epoch& epoch : batch) {
    if (growth.full()) return {};
    if (Status status = known.Check(epoch); !status.ok()) return refuse(status);
    BRAID_CHECK_OK(growth.Begin(epoch.number, epoch.pivot_hash, epoch.parent_hash));
    AddEpoch(growth, epoch, known);
    grown_.push_back(true);
  }
  return {};
}

void EpochPlan::AddEpoch(Growth& growth, const Epoch& epoch, KnownState& known) {
  receipts_.clear();
  for (const EpochReceipt& receipt : epoch.receipts) receipts_.emplace(receipt.transaction, &receipt);
  for (const EpochBlock& block : epoch.blocks) AddBlock(growth, epoch, block, known);
  AddReceipts(growth, epoch, known);
}

// Adds the transactions that no block has carried before, and gives their number.
int64_t EpochPlan::AddTransactions(Growth& growth, const Epoch& epoch, const EpochBlock& block, KnownState& known) {
  int64_t added = 0;
  for (const EpochTransaction& one : block.transactions) {
    KnownTransaction& entry = known.TransactionOf(one.hash);
    if (entry.known()) continue;
    entry = {.score = transactions_++,
             .epoch = epoch.number,
             .timestamp = block.timestamp,
             .names_contract = !one.contract_created.empty()};
    ++added;
    const auto found = receipts_.find(one.hash);
    const EpochReceipt* receipt = found == receipts_.end() ? nullptr : found->second;
    bson_t* document = growth.Add(kTransactions).get();
    SetText(document, "_id", one.hash);
    BSON_APPEND_INT64(document, "score", entry.score);
    SetText(document, "timestamp", block.timestamp);
    SetText(document, "firstBlockHash", block.hash);
    bson_concat(document, one.fields.get());
    if (receipt != nullptr) BSON_APPEND_DOCUMENT(document, "receipt", receipt->fields.get());
    const std::string_view created =
        entry.names_contract || receipt == nullptr ? one.contract_created : receipt->contract_created;
    for (const AccountEntry& account : AccountsOf(one.from, one.to, created)) {
      known.NoteAccountEntry(account.account, entry.score);
      AppendAccountTransaction(account, {.hash = one.hash, .score = entry.score, .timestamp = block.timestamp},
                               growth.Add(kAccountTransactions).get());
    }
  }
  BRAID_ASSERT(added <= static_cast<int64_t>(block.transactions.size()));
  return added;
}

void EpochPlan::AddBlock(Growth& growth, const Epoch& epoch, const EpochBlock& block, KnownState& known) {
  const BlockRow row{.hash = block.hash,
                     .epoch = epoch.number,
                     .miner = block.miner,
                     .timestamp = block.timestamp,
                     .difficulty = block.difficulty,
                     .transactions = static_cast<int64_t>(block.transactions.size()),
                     .new_transactions = AddTransactions(growth, epoch, block, known),
                     .pivot = &block == &epoch.blocks.back()};
  const Growth::Entry entry = growth.Append(kBlocksInOrder, SumsOf(row));
  AppendBlockRow(row, entry.document.get());
  const int64_t score = entry.position;
  bson_t* document = growth.Add(kBlocks).get();
  SetText(document, "_id", block.hash);
  BSON_APPEND_INT64(document, "score", score);
  AppendBlockCounts(row, document);
  bson_concat(document, block.fields.get());
  AddRows(growth, block);
  AppendMinerBlock(row, score, growth.Add(kMinerBlocks).get());
  if (known.NoteMiner(block.miner)) AppendMiner(row, score, growth.Add(kMiners).get());
  known.NoteBlock(block.hash, epoch.number);
}

// Receipts of transactions that an earlier epoch carried first.
void EpochPlan::AddReceipts(Growth& growth, const Epoch& epoch, KnownState& known) {
  for (const EpochReceipt& receipt : epoch.receipts) {
    const KnownTransaction& entry = known.TransactionOf(receipt.transaction);
    if (entry.epoch == epoch.number) continue;
    bson_t* document = growth.Add(kReceipts).get();
    SetText(document, "_id", StrCat(receipt.transaction, "@", epoch.number));
    SetText(document, "transaction", receipt.transaction);
    BSON_APPEND_DOCUMENT(document, "fields", receipt.fields.get());
    if (receipt.contract_created.empty() || entry.names_contract) continue;
    if (!known.NoteAccountEntry(receipt.contract_created, entry.score)) continue;
    AppendAccountTransaction({receipt.contract_created, "created"},
                             {.hash = receipt.transaction, .score = entry.score, .timestamp = entry.timestamp},
                             growth.Add(kAccountTransactions).get());
  }
}

EpochPlan::Outcome EpochPlan::OutcomeOf(int64_t stored) const {
  BRAID_ASSERT(stored >= 0 && grown_.size() <= epochs_.size());
  Outcome outcome;
  for (const bool grown : grown_) {
    if (!grown) {
      ++outcome.skipped;
    } else if (outcome.grown < stored) {
      ++outcome.grown;
    } else {
      break;
    }
  }
  return outcome;
}

}  // namespace braid::explorer
