#include "services/explorer/recount.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "base/strings.h"
#include "client/fields.h"
#include "services/explorer/collections.h"
#include "services/explorer/known.h"

namespace braid::explorer {
namespace {

using client::Bson;
using client::IntegerOf;
using client::TextOf;

// Lists count from 0, so their _ids are numbers.
std::string IdOf(const bson_t& document) {
  if (const auto owned = OwnedIdOf(document)) return owned->ToText();
  const std::string_view text = TextOf(&document, "_id");
  return text.empty() ? StrCat(IntegerOf(&document, "_id")) : std::string(text);
}

std::string_view BytesOf(const bson_t& document) {
  return {reinterpret_cast<const char*>(bson_get_data(&document)), document.len};
}

void ForEachRow(const bson_t& document, const std::function<void(const bson_t&)>& each) {
  bson_iter_t array;
  bson_iter_t element;
  if (!bson_iter_init_find(&array, &document, "transactions") || !bson_iter_recurse(&array, &element)) return;
  while (bson_iter_next(&element)) {
    const uint8_t* bytes = nullptr;
    uint32_t size = 0;
    bson_t row;
    if (!BSON_ITER_HOLDS_DOCUMENT(&element)) continue;
    bson_iter_document(&element, &size, &bytes);
    if (bson_init_static(&row, bytes, size)) each(row);
  }
}

}  // namespace

EpochRecount::Documents EpochRecount::Of(const char* collection) const {
  Documents documents;
  const auto found = documents_.documents.find(collection);
  if (found == documents_.documents.end()) return documents;
  documents.reserve(found->second.size());
  for (const Document& document : found->second) documents.push_back(document.get());
  return documents;
}

void EpochRecount::Report(const char* collection, std::string_view id, std::string_view what) {
  damage_({.epoch = documents_.state.number, .what = StrCat(collection, " ", id, ": ", what)});
}

void EpochRecount::Index() {
  blocks_ = Of(kBlocks);
  std::ranges::sort(blocks_, {}, [](const bson_t* block) { return IntegerOf(block, "score"); });
  for (const bson_t* one : Of(kTransactions)) transactions_.emplace(TextOf(one, "_id"), one);
  for (const bson_t* some : Of(kBlockTransactions)) rows_[TextOf(some, "block")].emplace(TextOf(some, "_id"), some);
}

// Things that the epoch names without containing them must be part of an earlier epoch.
Status EpochRecount::LoadEarlier() {
  std::unordered_set<std::string_view> hashes;
  for (const bson_t* some : Of(kBlockTransactions)) {
    ForEachRow(*some, [&](const bson_t& row) {
      const std::string_view hash = TextOf(&row, "hash");
      if (!transactions_.contains(hash)) hashes.insert(hash);
    });
  }
  for (const bson_t* receipt : Of(kReceipts)) hashes.insert(TextOf(receipt, "transaction"));
  const std::vector<std::string_view> ids(hashes.begin(), hashes.end());
  constexpr const char* kFields[] = {"score", "epoch", "timestamp", "contractCreated"};
  return FindFields(transaction_, {kTransactions, ids, kFields}, [&](const bson_t& document) -> Status {
    if (IntegerOf(&document, "epoch") >= documents_.state.number) return {};
    earlier_[IdOf(document)] = {.score = IntegerOf(&document, "score"),
                                .timestamp = std::string(TextOf(&document, "timestamp")),
                                .names_contract = !TextOf(&document, "contractCreated").empty()};
    return {};
  });
}

Status EpochRecount::LoadEarlierMiners() {
  std::unordered_set<std::string_view> addresses;
  for (const bson_t* block : blocks_) addresses.insert(TextOf(block, "miner"));
  const std::vector<std::string_view> ids(addresses.begin(), addresses.end());
  constexpr const char* kFields[] = {"epoch"};
  return FindFields(transaction_, {kMiners, ids, kFields}, [&](const bson_t& document) -> Status {
    if (IntegerOf(&document, "epoch") < documents_.state.number) miners_.insert(IdOf(document));
    return {};
  });
}

void EpochRecount::CheckTransaction(const bson_t& transaction, const bson_t& block) {
  const std::string_view hash = TextOf(&transaction, "_id");
  const int64_t score = next_transaction_++;
  const std::string_view timestamp = TextOf(&block, "timestamp");
  if (IntegerOf(&transaction, "score") != score) {
    Report(kTransactions, hash, StrCat("its score is ", IntegerOf(&transaction, "score"), ", not ", score));
  }
  if (TextOf(&transaction, "timestamp") != timestamp ||
      TextOf(&transaction, "firstBlockHash") != TextOf(&block, "_id")) {
    Report(kTransactions, hash,
           StrCat("its first block is ", TextOf(&block, "_id"), " of ", timestamp, ", not ",
                  TextOf(&transaction, "firstBlockHash"), " of ", TextOf(&transaction, "timestamp")));
  }
  std::string_view created = TextOf(&transaction, "contractCreated");
  if (created.empty()) created = TextOf(&transaction, "receipt.contractCreated");
  for (const AccountEntry& entry : AccountsOf(TextOf(&transaction, "from"), TextOf(&transaction, "to"), created)) {
    Bson document;
    AppendAccountTransaction(entry, {.hash = hash, .score = score, .timestamp = timestamp}, document.get());
    Expect(kAccountTransactions, document);
  }
}

void EpochRecount::CountRow(const bson_t& block, const bson_t& row, BlockRow& counts) {
  ++counts.transactions;
  const std::string_view hash = TextOf(&row, "hash");
  const auto found = transactions_.find(hash);
  if (found == transactions_.end()) {
    if (!earlier_.contains(std::string(hash))) {
      Report(kBlockTransactions, TextOf(&block, "_id"), StrCat("the transaction ", hash, " is not there"));
    }
    return;
  }
  for (const char* field : {"from", "to", "value"}) {
    if (TextOf(&row, field) == TextOf(found->second, field)) continue;
    Report(kBlockTransactions, TextOf(&block, "_id"), StrCat(field, " of ", hash, " is not that of the transaction"));
  }
  if (!carried_.insert(hash).second) return;
  ++counts.new_transactions;
  CheckTransaction(*found->second, block);
}

void EpochRecount::CountRows(const bson_t& block, BlockRow& counts) {
  const auto found = rows_.find(counts.hash);
  if (found == rows_.end()) return;
  for (const auto& [id, some] : found->second) {
    const int64_t first = counts.transactions;
    const bool in_place = first % static_cast<int64_t>(kRowsInDocument) == 0 && IntegerOf(some, "first") == first &&
                          id == RowsId(counts.hash, first / static_cast<int64_t>(kRowsInDocument));
    if (!in_place) Report(kBlockTransactions, id, StrCat("does not begin with transaction ", first, " of its block"));
    ForEachRow(*some, [&](const bson_t& row) { CountRow(block, row, counts); });
  }
  rows_.erase(found);
}

void EpochRecount::CheckBlock(const bson_t& block, int64_t score) {
  const std::string hash = IdOf(block);
  const bool pivot = &block == blocks_.back();
  BlockRow row{.hash = hash,
               .epoch = documents_.state.number,
               .miner = TextOf(&block, "miner"),
               .timestamp = TextOf(&block, "timestamp"),
               .difficulty = TextOf(&block, "difficulty"),
               .pivot = pivot};
  CountRows(block, row);
  if (IntegerOf(&block, "score") != score) {
    Report(kBlocks, hash, StrCat("its score is ", IntegerOf(&block, "score"), ", not ", score));
  }
  Bson counts;
  AppendBlockCounts(row, counts.get());
  for (const char* field : {"isPivot", "transactionCount", "newTransactionCount"}) {
    if (TextOf(counts.get(), field) == TextOf(&block, field)) continue;
    Report(kBlocks, hash, StrCat(field, " is ", TextOf(&block, field), ", not ", TextOf(counts.get(), field)));
  }
  if (pivot && hash != documents_.state.hash) {
    Report(kBlocks, hash, StrCat("is the last block, but the pivot is ", documents_.state.hash));
  }
  if (!IsQuantity(row.difficulty) || row.miner.empty() || row.timestamp.empty()) {
    Report(kBlocks, hash, "has no miner, difficulty or timestamp");
    return;
  }
  ExpectLists(row, score);
}

void EpochRecount::ExpectLists(const BlockRow& row, int64_t score) {
  Bson entry;
  entry.Integer("_id", score);
  AppendBlockRow(row, entry.get());
  Bson sums;
  for (const auto& [name, addend] : SumsOf(row)) sums_[name] = SumOf(sums_[name], addend);
  for (const auto& [name, sum] : sums_) sums.Text(name.c_str(), sum);
  entry.Document("sums", sums);
  Expect(kBlocksInOrder, entry);
  Bson mined;
  AppendMinerBlock(row, score, mined.get());
  Expect(kMinerBlocks, mined);
  if (!miners_.insert(std::string(row.miner)).second) return;
  Bson miner;
  AppendMiner(row, score, miner.get());
  Expect(kMiners, miner);
}

// A receipt that names a contract adds the transaction to the contract's list, unless an earlier epoch has done so.
Status EpochRecount::CheckReceipts() {
  std::vector<OwnedId> entries;
  for (const bson_t* receipt : Of(kReceipts)) {
    const std::string hash(TextOf(receipt, "transaction"));
    const std::string_view created = TextOf(receipt, "fields.contractCreated");
    const auto found = earlier_.find(hash);
    if (found == earlier_.end() || IdOf(*receipt) != StrCat(hash, "@", documents_.state.number)) {
      Report(kReceipts, IdOf(*receipt), "is not the receipt of a transaction of an earlier epoch");
      continue;
    }
    const Earlier& earlier = found->second;
    if (created.empty() || earlier.names_contract) continue;
    Bson document;
    AppendAccountTransaction({created, "created"},
                             {.hash = hash, .score = earlier.score, .timestamp = earlier.timestamp}, document.get());
    entries.push_back({std::string(created), earlier.score});
    Expect(kAccountTransactions, document);
  }
  return FindAccountEntries(transaction_, documents_.state.number - 1, entries,
                            [&](const OwnedId& entry) { expected_[kAccountTransactions].erase(entry.ToText()); });
}

void EpochRecount::Expect(const char* collection, Bson& document) {
  document.Integer("epoch", documents_.state.number);
  expected_[collection].insert_or_assign(IdOf(*document.get()), std::string(BytesOf(*document.get())));
}

// Documents that the contents of the epoch do not explain.
void EpochRecount::CheckRest() {
  for (const auto& [hash, transaction] : transactions_) {
    if (!carried_.contains(hash)) Report(kTransactions, hash, "no block of its epoch carries it");
  }
  for (const auto& [block, rows] : rows_) Report(kBlockTransactions, block, "is not a block of the epoch");
}

void EpochRecount::Compare(const char* collection) {
  auto& expected = expected_[collection];
  for (const bson_t* document : Of(collection)) {
    const std::string id = IdOf(*document);
    const auto found = expected.find(id);
    if (found == expected.end()) {
      Report(collection, id, "nothing of the epoch accounts for it");
      continue;
    }
    if (found->second != BytesOf(*document)) Report(collection, id, "is not what the blocks of the epoch say");
    expected.erase(found);
  }
  for (const auto& [id, bytes] : expected) Report(collection, id, "is missing");
}

Status EpochRecount::Run() {
  Index();
  BRAID_CHECK_OK(LoadEarlier());
  BRAID_CHECK_OK(LoadEarlierMiners());
  const std::string prefix = StrCat(kBlocksInOrder, ".");
  for (const auto& [name, sum] : documents_.before.sums) {
    if (name.starts_with(prefix)) sums_[name.substr(prefix.size())] = sum;
  }
  const std::string& before = sums_[kNewTransactionSum];
  std::from_chars(before.data(), before.data() + before.size(), next_transaction_);
  int64_t score = documents_.before.LengthOf(kBlocksInOrder);
  for (const bson_t* block : blocks_) CheckBlock(*block, score++);
  if (blocks_.empty()) Report(kBlocks, documents_.state.hash, "the epoch has no block");
  BRAID_CHECK_OK(CheckReceipts());
  CheckRest();
  for (const char* collection : {kBlocksInOrder, kMinerBlocks, kMiners, kAccountTransactions}) Compare(collection);
  return {};
}

}  // namespace braid::explorer
