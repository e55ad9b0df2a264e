#include "services/explorer/documents.h"

#include <fmt/format.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <charconv>

#include "base/strings.h"
#include "client/fields.h"
#include "services/explorer/collections.h"

namespace braid::explorer {
namespace {

using boost::multiprecision::cpp_int;

void AppendText(bson_t* document, std::string_view key, std::string_view value) {
  bson_append_utf8(document, key.data(), static_cast<int>(key.size()), value.data(), static_cast<int>(value.size()));
}

void AppendInteger(bson_t* document, std::string_view key, int64_t value) {
  bson_append_int64(document, key.data(), static_cast<int>(key.size()), value);
}

// cpp_int reads a text with a leading zero as octal, and throws if it is not valid octal.
cpp_int IntegerIn(std::string_view decimal) {
  const size_t first = decimal.find_first_not_of('0');
  if (decimal.find_first_not_of("0123456789") != std::string_view::npos) return 0;
  return first == std::string_view::npos ? cpp_int(0) : cpp_int(std::string(decimal.substr(first)));
}

}  // namespace

std::string HexOf(int64_t number) { return fmt::format("{:#x}", number); }

bool IsQuantity(std::string_view text) {
  return text.size() > 2 && text.starts_with("0x") &&
         text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
}

std::string DecimalOf(std::string_view quantity) {
  uint64_t small = 0;
  const auto [end, error] = std::from_chars(quantity.data() + 2, quantity.data() + quantity.size(), small, 16);
  return error == std::errc() ? StrCat(small) : cpp_int(std::string(quantity)).str();
}

std::string SumOf(std::string_view a, std::string_view b) { return cpp_int(IntegerIn(a) + IntegerIn(b)).str(); }

void AppendBlockCounts(const BlockRow& row, bson_t* document) {
  AppendText(document, "isPivot", row.pivot ? "0x1" : "0x0");
  AppendText(document, "transactionCount", HexOf(row.transactions));
  AppendText(document, "newTransactionCount", HexOf(row.new_transactions));
}

void AppendBlockRow(const BlockRow& row, bson_t* document) {
  AppendText(document, "hash", row.hash);
  AppendText(document, "epochNumber", HexOf(row.epoch));
  AppendText(document, "miner", row.miner);
  AppendText(document, "timestamp", row.timestamp);
  AppendBlockCounts(row, document);
  AppendText(document, "difficulty", row.difficulty);
}

Growth::Sums SumsOf(const BlockRow& row) {
  return {{kDifficultySum, DecimalOf(row.difficulty)},
          {kNewTransactionSum, StrCat(row.new_transactions)},
          {kTransactionSum, StrCat(row.transactions)}};
}

void AppendMinerBlock(const BlockRow& row, int64_t score, bson_t* document) {
  OwnedId{std::string(row.miner), score}.AppendTo(document, "_id");
  AppendBlockRow(row, document);
}

void AppendMiner(const BlockRow& row, int64_t score, bson_t* document) {
  AppendText(document, "_id", row.miner);
  AppendText(document, "block", row.hash);
  AppendInteger(document, "score", score);
}

std::vector<AccountEntry> AccountsOf(std::string_view from, std::string_view to, std::string_view created) {
  std::vector<AccountEntry> entries;
  entries.reserve(3);
  entries.push_back({from, "sender"});
  if (!to.empty() && to != from) entries.push_back({to, "receiver"});
  if (!created.empty() && created != from && created != to) entries.push_back({created, "created"});
  return entries;
}

void AppendAccountTransaction(const AccountEntry& entry, const ListedTransaction& transaction, bson_t* document) {
  OwnedId{std::string(entry.account), transaction.score}.AppendTo(document, "_id");
  AppendText(document, "hash", transaction.hash);
  AppendText(document, "type", entry.type);
  AppendText(document, "timestamp", transaction.timestamp);
}

void AppendTransactionRow(const TransactionRow& row, bson_t* document) {
  AppendText(document, "hash", row.hash);
  AppendText(document, "transactionIndex", row.index);
  if (row.fields == nullptr) return;
  for (const char* name : {"from", "to", "value"}) {
    const std::string_view value = client::TextOf(row.fields, name);
    if (!value.empty()) AppendText(document, name, value);
  }
}

}  // namespace braid::explorer
