// Epochs made up for tests, as plain data, and as lines with everything that a source may do: fields that are null,
// unknown or attached on insert, and upper case.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/strings.h"
#include "base/testing/testing.h"
#include "services/explorer/epoch.h"

namespace braid::explorer::testkit {

__extension__ typedef unsigned __int128 Big;

inline std::string HexText(Big value) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdef"[static_cast<size_t>(value % 16)]);
    value /= 16;
  } while (value != 0);
  return "0x" + digits;
}

/// Names that are told apart by a letter and a number, with as many digits as hashes and addresses have.
inline std::string HashOf(char kind, uint64_t number) {
  return fmt::format("0x{:02x}{:062x}", static_cast<unsigned>(kind), number);
}
inline std::string AddressOf(char kind, uint64_t number) {
  return fmt::format("0x{:02x}{:038x}", static_cast<unsigned>(kind), number);
}

struct TransactionDraft {
  std::string hash;
  std::string from;
  std::string to = {};       // empty: null
  std::string created = {};  // empty: null
  std::string value = {};    // empty: left out
};

struct BlockDraft {
  std::string hash;
  std::string miner;
  Big difficulty = 1;
  uint64_t timestamp = 0x5cb81529;
  std::vector<std::string> referees = {};
  std::vector<TransactionDraft> transactions = {};
};

struct ReceiptDraft {
  std::string transaction;
  std::string created = {};  // empty: null
  std::string status = "0x0";
};

struct EpochDraft {
  int64_t number = 0;
  std::string parent = HashOf('p', 0);
  std::vector<BlockDraft> blocks = {};  // the pivot last
  std::vector<ReceiptDraft> receipts = {};

  const std::string& hash() const { return blocks.back().hash; }
};

inline std::string Quoted(std::string_view text) { return text.empty() ? "null" : StrCat("\"", text, "\""); }

/// The same hexadecimal text in upper case.
inline std::string Upper(std::string text) {
  for (size_t i = 2; i < text.size(); ++i) {
    if (text[i] >= 'a' && text[i] <= 'f') text[i] = static_cast<char>(text[i] - 'a' + 'A');
  }
  return text;
}

inline std::string LineOf(const TransactionDraft& one) {
  return StrCat(R"({"hash":)", Quoted(Upper(one.hash)), R"(,"from":)", Quoted(Upper(one.from)), R"(,"to":)",
                Quoted(one.to), R"(,"contractCreated":)", Quoted(one.created), R"(,"blockHash":null,"score":77)",
                R"(,"timestamp":"0x1","firstBlockHash":"x")",
                one.value.empty() ? "" : StrCat(R"(,"value":)", Quoted(one.value)),
                R"(,"data":"0x00FF","memo":{"a":[1,null,2.5,true]}})");
}

inline std::string LineOf(const BlockDraft& block, const EpochDraft& epoch) {
  const bool pivot = &block == &epoch.blocks.back();
  std::string line = StrCat(R"({"isPivot":"0x7","transactionCount":"0x7","hash":)", Quoted(Upper(block.hash)),
                            R"(,"epochNumber":")", HexText(static_cast<Big>(epoch.number)), R"(","miner":)",
                            Quoted(Upper(block.miner)), R"(,"difficulty":")", HexText(block.difficulty),
                            R"(","timestamp":")", HexText(block.timestamp), R"(","nonce":null,"colour":"red")");
  if (pivot) line += StrCat(R"(,"parentHash":)", Quoted(epoch.parent));
  line += R"(,"refereeHashes":[)";
  for (const std::string& referee : block.referees) line += (line.ends_with('[') ? "" : ",") + Quoted(referee);
  line += R"(],"transactions":[)";
  for (const TransactionDraft& one : block.transactions) line += (line.ends_with('[') ? "" : ",") + LineOf(one);
  return line + "]}";
}

/// As a source gives it (F3).
inline std::string LineOf(const EpochDraft& epoch) {
  std::string line = StrCat(R"({"epochNumber":")", HexText(static_cast<Big>(epoch.number)), R"(","pivotHash":)",
                            Quoted(epoch.hash()), R"(,"blocks":[)");
  for (const BlockDraft& block : epoch.blocks) line += (line.ends_with('[') ? "" : ",") + LineOf(block, epoch);
  line += R"(],"receipts":{)";
  for (const ReceiptDraft& receipt : epoch.receipts) {
    line += StrCat(line.ends_with('{') ? "" : ",", Quoted(Upper(receipt.transaction)), R"(:{"outcomeStatus":)",
                   Quoted(receipt.status), R"(,"contractCreated":)", Quoted(receipt.created),
                   R"(,"gasUsed":"0x5208","logs":[],"stateRoot":null})");
  }
  return line + "}}";
}

inline Epoch Parsed(const EpochDraft& draft) {
  auto epoch = ParseEpoch(LineOf(draft));
  EXPECT_OK(epoch);
  return epoch.ok() ? *std::move(epoch) : Epoch();
}

inline std::vector<Epoch> Parsed(const std::vector<EpochDraft>& drafts) {
  std::vector<Epoch> epochs;
  for (const EpochDraft& draft : drafts) epochs.push_back(Parsed(draft));
  return epochs;
}

}  // namespace braid::explorer::testkit
