// Stored documents as the answers of queries: the seed's fields in a fixed order, null where one is missing (D2, D3).
#pragma once

#include <string_view>
#include <vector>

#include "client/handles.h"

namespace braid::explorer {

/// A document of `blocks`: `hash` first, refereeHashes as an array, fields that the seed does not have at the end.
client::BsonPtr BlockAnswer(const bson_t& stored);

/// A document of `transactions` with its later receipts, newest first: the fields of a receipt are beside those of the
/// transaction, never in their place, and a newer receipt goes before an older one. Without firstBlockHash.
client::BsonPtr TransactionAnswer(const bson_t& stored, const std::vector<client::BsonPtr>& receipts);

/// An entry of `blocks_in_order` or `miner_blocks`.
client::BsonPtr BlockRowAnswer(const bson_t& entry, int64_t score);

/// A document of `transactions` as a row of a list.
client::BsonPtr TransactionRowAnswer(const bson_t& stored);

/// The transactions of a document of `block_transactions`, in order.
std::vector<client::BsonPtr> BlockTransactionAnswers(const bson_t& document);

/// An entry of `account_transactions`.
client::BsonPtr AccountRowAnswer(const bson_t& entry);

/// A document of `miners`.
client::BsonPtr MinerRowAnswer(const bson_t& miner);

}  // namespace braid::explorer
