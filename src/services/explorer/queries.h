// What the queries share: their arguments (hashes, addresses, limits and the cursors of lists; a malformed one is
// kBadValue), and stored documents as answers, the seed's fields in a fixed order, null where one is missing (D2, D3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/handles.h"
#include "services/explorer/explorer.h"

namespace braid::explorer {

/// 0x and 64 hexadecimal digits, made lower case. `name` is what the error calls it.
Result<std::string> HashArgument(std::string_view name, const std::string& text);
/// As HashArgument(), or empty.
Result<std::string> OptionalHashArgument(std::string_view name, const std::string& text);
/// 0x and 40 hexadecimal digits, made lower case.
Result<std::string> AddressArgument(std::string_view name, const std::string& text);

/// The lists that are given in pages; a cursor begins with the letter of its list, so that a cursor of another list is
/// refused.
enum class PagedList : char {
  kAccountTransactions = 'a',
  kBlocks = 'b',
  kBlockTransactions = 't',
  kEpochBlocks = 'e',
  kMinerBlocks = 'm',
  kMiners = 'w',
  kPivots = 'p',
  kReorganisations = 'r',
  kTransactions = 'x',
};

/// Where a page ended: the position of its last row, which no growth of the chain changes.
std::string ToCursor(PagedList list, int64_t position);
/// Nothing for an empty text.
Result<std::optional<int64_t>> ParseCursor(PagedList list, const std::string& cursor);

/// The same for a list in the order of addresses.
std::string ToAddressCursor(PagedList list, const std::string& address);
/// Empty for an empty text.
Result<std::string> ParseAddressCursor(PagedList list, const std::string& cursor);

/// 1 to kRowsMax.
Status CheckPageLimit(int64_t limit);

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
