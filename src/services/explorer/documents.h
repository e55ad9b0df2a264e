// The documents that an epoch adds, each made in one place: for Take(), which stores them, and for Verify(), which
// compares them with what is stored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "braid/timeline.h"
#include "client/handles.h"
#include "services/explorer/epoch.h"

namespace braid::explorer {

/// "0x1f"
std::string HexOf(int64_t number);
bool IsQuantity(std::string_view text);
/// A hexadecimal quantity of any size in decimal.
std::string DecimalOf(std::string_view quantity);
/// The sum of two natural numbers of any size in decimal; a text that is not a number counts as 0.
std::string SumOf(std::string_view a, std::string_view b);

/// A block in the lists of blocks.
struct BlockRow {
  std::string_view hash;
  int64_t epoch = 0;
  std::string_view miner;
  std::string_view timestamp;
  std::string_view difficulty;
  int64_t transactions = 0;      // that it carries
  int64_t new_transactions = 0;  // that it is the first to carry
  bool pivot = false;
};
/// {hash, epochNumber, miner, timestamp, transactionCount, newTransactionCount, isPivot, difficulty}
void AppendBlockRow(const BlockRow& row, bson_t* document);
/// The block's addends for the running sums of blocks_in_order.
Growth::Sums SumsOf(const BlockRow& row);

/// The whole document of `miner_blocks` and of `miners`.
void AppendMinerBlock(const BlockRow& row, int64_t score, bson_t* document);
void AppendMiner(const BlockRow& row, int64_t score, bson_t* document);

/// {isPivot, transactionCount, newTransactionCount}, which a block has as its rows do.
void AppendBlockCounts(const BlockRow& row, bson_t* document);

/// A transaction in the list of one of its accounts.
struct AccountEntry {
  std::string_view account;
  const char* type = "";  // sender, receiver or created
};
/// The accounts of a transaction, each once, as the first type that it has; `to` and `created` may be empty.
std::vector<AccountEntry> AccountsOf(std::string_view from, std::string_view to, std::string_view created);

/// A transaction as an entry of an account's list.
struct ListedTransaction {
  std::string_view hash;
  int64_t score = 0;
  std::string_view timestamp;
};
/// The whole document of `account_transactions`.
void AppendAccountTransaction(const AccountEntry& entry, const ListedTransaction& transaction, bson_t* document);

/// {hash, transactionIndex, from, to, value}: a row of `block_transactions`; fields that the transaction does not have
/// are left out. `fields` may be null.
struct TransactionRow {
  std::string_view hash;
  std::string_view index;
  const bson_t* fields;
};
void AppendTransactionRow(const TransactionRow& row, bson_t* document);

}  // namespace braid::explorer
