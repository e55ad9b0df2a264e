#include "services/explorer/known.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "client/fields.h"

namespace braid::explorer {
namespace {

using client::Bson;

// A query with more _ids than these could be too large for a message.
constexpr size_t kIdsInQuery = 20'000;

void AppendTexts(bson_t* document, const char* key, std::span<const std::string_view> texts) {
  bson_t array;
  bson_append_array_begin(document, key, -1, &array);
  for (size_t i = 0; i < texts.size(); ++i) {
    char buffer[16];
    const char* name = nullptr;
    const size_t size = bson_uint32_to_string(static_cast<uint32_t>(i), &name, buffer, sizeof(buffer));
    bson_append_utf8(&array, name, static_cast<int>(size), texts[i].data(), static_cast<int>(texts[i].size()));
  }
  bson_append_array_end(document, &array);
}

bool IsVisible(const bson_t& document, int64_t at) { return client::IntegerOf(&document, "epoch") <= at; }

}  // namespace

Status FindFields(Transaction& transaction, const FindByIds& find, const Transaction::OnDocument& each) {
  Bson projection;
  for (const char* field : find.fields) projection.Integer(field, 1);
  Bson by_id;
  by_id.Integer("_id", 1);
  for (size_t begin = 0; begin < find.ids.size(); begin += kIdsInQuery) {
    Bson among;
    AppendTexts(among.get(), "$in", find.ids.subspan(begin, std::min(kIdsInQuery, find.ids.size() - begin)));
    Bson filter;
    filter.Document("_id", among);
    BRAID_CHECK_OK(
        transaction.Find(find.collection, filter.get(), {.projection = projection.get(), .hint = by_id.get()}, each));
  }
  return {};
}

Status FindAccountEntries(Transaction& transaction, int64_t at, std::span<const OwnedId> entries,
                          const std::function<void(const OwnedId&)>& each) {
  Bson projection;
  projection.Integer("epoch", 1);
  Bson by_id;
  by_id.Integer("_id", 1);
  for (size_t begin = 0; begin < entries.size(); begin += kIdsInQuery) {
    std::vector<std::string_view> owners;
    Bson among;
    bson_t ids;
    bson_append_array_begin(among.get(), "$in", -1, &ids);
    for (const OwnedId& entry : entries.subspan(begin, std::min(kIdsInQuery, entries.size() - begin))) {
      entry.AppendTo(&ids, StrCat(owners.size()));
      owners.push_back(entry.owner);
    }
    bson_append_array_end(among.get(), &ids);
    Bson among_owners;
    AppendTexts(among_owners.get(), "$in", owners);
    Bson filter;
    filter.Document("_id.owner", among_owners).Document("_id", among);
    BRAID_CHECK_OK(transaction.Find(kAccountTransactions, filter.get(),
                                    {.projection = projection.get(), .hint = by_id.get()},
                                    [&](const bson_t& document) -> Status {
                                      const auto id = OwnedIdOf(document);
                                      if (id && IsVisible(document, at)) each(*id);
                                      return {};
                                    }));
  }
  return {};
}

void KnownState::Collect(std::span<const Epoch> epochs) {
  size_t count = 0;
  for (const Epoch& epoch : epochs) count += epoch.transaction_count() + epoch.receipts.size();
  transactions_.reserve(count);
  for (const Epoch& epoch : epochs) {
    for (const EpochBlock& block : epoch.blocks) {
      for (const EpochTransaction& one : block.transactions) transactions_.try_emplace(one.hash);
    }
    for (const EpochReceipt& receipt : epoch.receipts) {
      transactions_.try_emplace(receipt.transaction);
      if (!receipt.contract_created.empty()) created_.insert(receipt.contract_created);
    }
  }
}

Status KnownState::LoadTransactions(Transaction& transaction, int64_t at) {
  std::vector<std::string_view> hashes;
  hashes.reserve(transactions_.size());
  for (const auto& entry : transactions_) hashes.push_back(entry.first);
  constexpr const char* kFields[] = {"score", "epoch", "timestamp", "contractCreated"};
  return FindFields(transaction, {kTransactions, hashes, kFields}, [&](const bson_t& document) -> Status {
    if (!IsVisible(document, at)) return {};
    KnownTransaction& known = transactions_.at(client::TextOf(&document, "_id"));
    known.score = client::IntegerOf(&document, "score");
    known.epoch = client::IntegerOf(&document, "epoch");
    known.timestamp = client::TextOf(&document, "timestamp");
    known.names_contract = !client::TextOf(&document, "contractCreated").empty();
    return {};
  });
}

Status KnownState::LoadBlocks(Transaction& transaction, int64_t at, std::span<const Epoch> epochs) {
  std::unordered_set<std::string_view> hashes;  // the texts of the epochs outlive those of the documents
  for (const Epoch& epoch : epochs) {
    for (const EpochBlock& block : epoch.blocks) hashes.insert(block.hash);
  }
  const std::vector<std::string_view> ids(hashes.begin(), hashes.end());
  constexpr const char* kFields[] = {"epoch"};
  return FindFields(transaction, {kBlocks, ids, kFields}, [&](const bson_t& document) -> Status {
    if (IsVisible(document, at)) {
      NoteBlock(*hashes.find(client::TextOf(&document, "_id")), client::IntegerOf(&document, "epoch"));
    }
    return {};
  });
}

Status KnownState::LoadMiners(Transaction& transaction, int64_t at, std::span<const Epoch> epochs) {
  std::unordered_set<std::string_view> addresses;
  for (const Epoch& epoch : epochs) {
    for (const EpochBlock& block : epoch.blocks) addresses.insert(block.miner);
  }
  const std::vector<std::string_view> ids(addresses.begin(), addresses.end());
  constexpr const char* kFields[] = {"epoch"};
  return FindFields(transaction, {kMiners, ids, kFields}, [&](const bson_t& document) -> Status {
    if (IsVisible(document, at)) miners_.emplace(client::TextOf(&document, "_id"));
    return {};
  });
}

// Of the contracts that receipts name, those whose list has the transaction already: by an earlier receipt, or because
// the account is its sender or receiver.
Status KnownState::LoadAccountEntries(Transaction& transaction, int64_t at, std::span<const Epoch> epochs) {
  std::vector<OwnedId> entries;
  for (const Epoch& epoch : epochs) {
    for (const EpochReceipt& receipt : epoch.receipts) {
      const KnownTransaction& known = transactions_.at(receipt.transaction);
      if (receipt.contract_created.empty() || !known.known()) continue;
      entries.push_back({receipt.contract_created, known.score});
    }
  }
  return FindAccountEntries(transaction, at, entries,
                            [&](const OwnedId& entry) { account_entries_.insert(entry.ToText()); });
}

Result<KnownState> KnownState::Load(Transaction& transaction, int64_t at, std::span<const Epoch> epochs) {
  KnownState state;
  state.Collect(epochs);
  BRAID_CHECK_OK(state.LoadTransactions(transaction, at));
  BRAID_CHECK_OK(state.LoadBlocks(transaction, at, epochs));
  BRAID_CHECK_OK(state.LoadMiners(transaction, at, epochs));
  BRAID_CHECK_OK(state.LoadAccountEntries(transaction, at, epochs));
  return state;
}

Status KnownState::Check(const Epoch& epoch) {
  for (size_t i = 0; i < epoch.blocks.size(); ++i) {
    const auto known = blocks_.find(epoch.blocks[i].hash);
    if (known == blocks_.end()) continue;
    return Status(Code::kBadValue, StrCat("epoch ", epoch.number, ", blocks[", i, "].hash: ", epoch.blocks[i].hash,
                                          " is a block of epoch ", known->second));
  }
  if (epoch.receipts.empty()) return {};
  std::unordered_set<std::string_view> carried;
  for (const EpochBlock& block : epoch.blocks) {
    for (const EpochTransaction& one : block.transactions) carried.insert(one.hash);
  }
  for (const EpochReceipt& receipt : epoch.receipts) {
    if (transactions_.at(receipt.transaction).known() || carried.contains(receipt.transaction)) continue;
    return Status(Code::kBadValue, StrCat("epoch ", epoch.number, ", receipts: ", receipt.transaction,
                                          " is not a transaction of this epoch or an earlier one"));
  }
  return {};
}

bool KnownState::NoteAccountEntry(std::string_view account, int64_t score) {
  if (!created_.contains(account)) return true;
  return account_entries_.insert(OwnedId{std::string(account), score}.ToText()).second;
}

}  // namespace braid::explorer
