// The explorer's collections (D2–D7): their names, and their specification for any store.
#pragma once

#include <mongoc/mongoc.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/schema/schema.h"

namespace braid::explorer {

// Every document of these has the number of the epoch that added it, as `epoch`.

/// {_id: hash, score, isPivot, transactionCount, newTransactionCount, …the fields that were given}, on the shard of its
/// hash. refereeHashes is a JSON text.
inline constexpr char kBlocks[] = "blocks";
/// {_id: hash, score, timestamp, firstBlockHash, …the fields that were given, receipt: {…}}, on the shard of its hash.
/// `receipt` is there only if the receipt came with the same epoch.
inline constexpr char kTransactions[] = "transactions";
/// {_id: "{transaction}@{epoch}", transaction, fields: {…}}: receipts of a later epoch than their transaction's, on the
/// shard of the transaction. Of several the newest counts.
inline constexpr char kReceipts[] = "receipts";
/// {_id: "{block}:000000", block, first, transactions: [{hash, transactionIndex, from, to, value}]}: the transactions
/// that a block carries, kRowsInDocument per document, on the shard of the block.
inline constexpr char kBlockTransactions[] = "block_transactions";
/// The Timeline's list of all blocks in execution order, with the running sums below.
inline constexpr char kBlocksInOrder[] = "blocks_in_order";
/// {_id: {owner: account, score}, hash, type, timestamp}, the score being that of the transaction in 12 digits; on the
/// shard of the account.
inline constexpr char kAccountTransactions[] = "account_transactions";
/// {_id: {owner: miner, score}, miner, hash, …as in blocks_in_order}, the score being that of the block; on the shard
/// of the miner.
inline constexpr char kMinerBlocks[] = "miner_blocks";
/// {_id: address, block, score}: the first block of each miner.
inline constexpr char kMiners[] = "miners";

/// The Timeline's name, so that its own collections are timeline_head, timeline_epochs and timeline_reorgs.
inline constexpr char kTimeline[] = "timeline";

/// Running sums of blocks_in_order: of the blocks' difficulties, of the transactions that they carry, and of those that
/// they are the first to carry, which is also the score of the next new transaction.
inline constexpr char kDifficultySum[] = "difficulty";
inline constexpr char kTransactionSum[] = "transactions";
inline constexpr char kNewTransactionSum[] = "newTransactions";

inline constexpr size_t kRowsInDocument = 100;

/// The _id of an entry in the list of an account or a miner. The shard key is a part of it: the store then needs no
/// further key for every entry to know that an _id is unique on all shards.
struct OwnedId {
  std::string owner;
  int64_t score = 0;

  /// {owner, score}, with the score in 12 digits, so that the order of texts is that of the numbers.
  void AppendTo(bson_t* document, std::string_view key) const;
  /// "{owner}:{score}", for messages and for sets in memory.
  std::string ToText() const;
};
/// The id of a document that has such an _id; nothing for any other document.
std::optional<OwnedId> OwnedIdOf(const bson_t& document);
/// "{block}:{number}" with the number in 6 digits.
std::string RowsId(std::string_view block, int64_t number);

/// The collections that epochs add documents to.
std::vector<std::string> EpochCollections();

/// The specification of the collections: indexes and shard keys.
std::span<const schema::CollectionSpec> Collections();

/// Creates what is missing. Collections that are there but differ are left as they are: `braid init explorer --diff`
/// shows them.
Status EnsureCollections(Clients& clients, const std::string& database);

}  // namespace braid::explorer
