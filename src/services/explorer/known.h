// KnownState: which blocks, transactions, miners and accounts of some epochs are already in the store or in an earlier
// epoch.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "braid/transaction.h"
#include "services/explorer/collections.h"
#include "services/explorer/epoch.h"

namespace braid::explorer {

/// A transaction that some epoch carries or has a receipt of.
struct KnownTransaction {
  int64_t score = -1;  // -1: not known yet
  int64_t epoch = -1;  // that carried it first
  std::string timestamp;
  bool names_contract = false;  // its own fields say which contract it created

  bool known() const { return score >= 0; }
};

/// Facts about the blocks, transactions, miners and accounts of a few epochs, read with a few queries and kept up to
/// date by Note…() as epochs are added. The epochs must outlive it. One thread.
class KnownState {
 public:
  /// Reads what is visible at the epoch `at`.
  static Result<KnownState> Load(Transaction& transaction, int64_t at, std::span<const Epoch> epochs);

  /// kBadValue if the epoch contradicts what is known: it has a block that another epoch has, or the receipt of an
  /// unknown transaction.
  Status Check(const Epoch& epoch);

  /// The facts about a transaction that one of the epochs names.
  KnownTransaction& TransactionOf(std::string_view hash) { return transactions_.at(hash); }
  void NoteBlock(std::string_view hash, int64_t epoch) { blocks_.insert_or_assign(hash, epoch); }
  /// True if this is the first block of the miner.
  bool NoteMiner(std::string_view miner) { return miners_.insert(std::string(miner)).second; }
  /// True if the list of the account has no such entry yet. Exact only for accounts that a receipt names as created.
  bool NoteAccountEntry(std::string_view account, int64_t score);

 private:
  KnownState() = default;
  void Collect(std::span<const Epoch> epochs);
  Status LoadTransactions(Transaction& transaction, int64_t at);
  Status LoadBlocks(Transaction& transaction, int64_t at, std::span<const Epoch> epochs);
  Status LoadMiners(Transaction& transaction, int64_t at, std::span<const Epoch> epochs);
  Status LoadAccountEntries(Transaction& transaction, int64_t at, std::span<const Epoch> epochs);

  std::unordered_map<std::string_view, KnownTransaction> transactions_;  // every one that is named
  std::unordered_map<std::string_view, int64_t> blocks_;                 // those that are there, with their epoch
  std::unordered_set<std::string> miners_;
  std::unordered_set<std::string_view> created_;     // accounts that receipts name as created
  std::unordered_set<std::string> account_entries_;  // as OwnedId::ToText() has them
};

/// Calls `each` for the documents with these _ids, in any order, reading the named fields only.
struct FindByIds {
  std::string collection;
  std::span<const std::string_view> ids;
  std::span<const char* const> fields;
};
Status FindFields(Transaction& transaction, const FindByIds& find, const Transaction::OnDocument& each);
/// Calls `each` with those of the entries in the accounts' lists that were added by epochs up to `at`.
Status FindAccountEntries(Transaction& transaction, int64_t at, std::span<const OwnedId> entries,
                          const std::function<void(const OwnedId&)>& each);

}  // namespace braid::explorer
