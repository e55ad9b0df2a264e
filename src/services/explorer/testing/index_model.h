// What the collections must hold after some epochs, written down a second time and as simply as possible: one pass over
// the epochs, everything in memory, nothing but texts.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "client/handles.h"
#include "services/explorer/testing/drafts.h"

namespace braid::explorer::testkit {

/// Collection, _id, document in canonical JSON.
using Contents = std::map<std::string, std::map<std::string, std::string>>;

inline std::string CanonicalJson(const bson_t* document) {
  char* text = bson_as_canonical_extended_json(document, nullptr);
  std::string json = text;
  bson_free(text);
  return json;
}

inline std::string OwnedIdJson(const std::string& owner, const std::string& score) {
  return StrCat(R"({"owner":")", owner, R"(","score":")", score, "\"}");
}

class IndexModel {
 public:
  explicit IndexModel(const std::vector<EpochDraft>& epochs) {
    for (const char* name : {"blocks", "transactions", "receipts", "block_transactions", "blocks_in_order",
                             "account_transactions", "miner_blocks", "miners"}) {
      contents_[name];
    }
    for (const EpochDraft& epoch : epochs) Grow(epoch);
  }
  const Contents& contents() const { return contents_; }
  int64_t blocks() const { return blocks_; }
  int64_t transactions() const { return static_cast<int64_t>(seen_.size()); }

 private:
  struct Seen {
    int64_t score;
    int64_t epoch;
    std::string timestamp;
    bool names_contract;
    std::set<std::string> accounts;
  };

  static std::string Decimal(Big value) {
    std::string digits;
    do {
      digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(value % 10)));
      value /= 10;
    } while (value != 0);
    return digits;
  }
  static std::string Field(const char* name, const std::string& text) {
    return text.empty() ? "" : StrCat(",\"", name, "\":\"", text, "\"");
  }
  static std::string Number(const char* name, int64_t value) {
    return StrCat(",\"", name, R"(":{"$numberLong":")", value, "\"}");
  }
  static std::string Score12(int64_t score) {
    std::string digits = std::to_string(score);
    return std::string(12 - digits.size(), '0') + digits;
  }

  /// `rest` begins with a comma.
  void Put(const char* collection, const std::string& id, const std::string& rest) {
    const bool is_number = std::string(collection) == "blocks_in_order";
    PutAs(collection, id, is_number ? StrCat(R"({"$numberLong":")", id, "\"}") : Quoted(id), rest);
  }
  void PutOwned(const char* collection, const std::string& owner, int64_t score, const std::string& rest) {
    PutAs(collection, StrCat(owner, ":", Score12(score)), OwnedIdJson(owner, Score12(score)), rest);
  }
  void PutAs(const char* collection, const std::string& id, const std::string& json, const std::string& rest) {
    const auto parsed = client::ParseJson(StrCat("{\"_id\":", json, rest, Number("epoch", epoch_), "}"));
    EXPECT_OK(parsed);
    EXPECT_TRUE(contents_[collection].emplace(id, CanonicalJson(parsed->get())).second) << collection << " " << id;
  }

  void Grow(const EpochDraft& epoch) {
    epoch_ = epoch.number;
    for (const BlockDraft& block : epoch.blocks) GrowBlock(epoch, block);
    for (const ReceiptDraft& receipt : epoch.receipts) GrowReceipt(receipt);
  }

  static std::string ReceiptFields(const ReceiptDraft& receipt) {
    return StrCat("{\"outcomeStatus\":\"", receipt.status, "\"", Field("contractCreated", receipt.created),
                  R"(,"gasUsed":"0x5208","logs":[]})");
  }

  void GrowBlock(const EpochDraft& epoch, const BlockDraft& block) {
    int64_t fresh = 0;
    for (const TransactionDraft& one : block.transactions) fresh += GrowTransaction(epoch, block, one) ? 1 : 0;
    const bool pivot = block.hash == epoch.hash();
    const std::string timestamp = HexText(block.timestamp);
    const std::string number = HexText(static_cast<Big>(epoch.number));
    const std::string counts =
        StrCat(Field("isPivot", pivot ? "0x1" : "0x0"), Field("transactionCount", HexText(block.transactions.size())),
               Field("newTransactionCount", HexText(static_cast<Big>(fresh))));
    std::string referees;
    for (const std::string& referee : block.referees) {
      referees += StrCat(referees.empty() ? "" : ",", "\\\"", referee, "\\\"");
    }
    Put("blocks", block.hash,
        StrCat(Number("score", blocks_), counts, Field("epochNumber", number), Field("miner", block.miner),
               Field("difficulty", HexText(block.difficulty)), Field("timestamp", timestamp), R"(,"colour":"red")",
               pivot ? Field("parentHash", epoch.parent) : "", ",\"refereeHashes\":\"[", referees, "]\""));
    const std::string row =
        StrCat(Field("hash", block.hash), Field("epochNumber", number), Field("miner", block.miner),
               Field("timestamp", timestamp), counts, Field("difficulty", HexText(block.difficulty)));
    difficulty_ += block.difficulty;
    carried_ += block.transactions.size();
    Put("blocks_in_order", std::to_string(blocks_),
        StrCat(row, R"(,"sums":{"difficulty":")", Decimal(difficulty_), R"(","newTransactions":")", seen_.size(),
               R"(","transactions":")", carried_, "\"}"));
    PutOwned("miner_blocks", block.miner, blocks_, row);
    if (miners_.insert(block.miner).second) {
      Put("miners", block.miner, StrCat(Field("block", block.hash), Number("score", blocks_)));
    }
    ++blocks_;
    PutRows(block);
  }

  void PutRows(const BlockDraft& block) {
    for (size_t first = 0; first < block.transactions.size(); first += 100) {
      std::string rows;
      for (size_t i = first; i < block.transactions.size() && i < first + 100; ++i) {
        const TransactionDraft& one = block.transactions[i];
        rows += StrCat(rows.empty() ? "" : ",", "{\"hash\":\"", one.hash, "\"", Field("transactionIndex", HexText(i)),
                       Field("from", one.from), Field("to", one.to), Field("value", one.value), "}");
      }
      const std::string chunk = std::to_string(first / 100);
      Put("block_transactions", StrCat(block.hash, ":", std::string(6 - chunk.size(), '0'), chunk),
          StrCat(Field("block", block.hash), Number("first", static_cast<int64_t>(first)), ",\"transactions\":[", rows,
                 "]"));
    }
  }

  bool GrowTransaction(const EpochDraft& epoch, const BlockDraft& block, const TransactionDraft& one) {
    if (seen_.contains(one.hash)) return false;
    const std::string timestamp = HexText(block.timestamp);
    const ReceiptDraft* receipt = nullptr;
    for (const ReceiptDraft& each : epoch.receipts) {
      if (each.transaction == one.hash) receipt = &each;
    }
    Seen& seen =
        seen_.emplace(one.hash, Seen{static_cast<int64_t>(seen_.size()), epoch_, timestamp, !one.created.empty(), {}})
            .first->second;
    Put("transactions", one.hash,
        StrCat(Number("score", seen.score), Field("timestamp", timestamp), Field("firstBlockHash", block.hash),
               Field("from", one.from), Field("to", one.to), Field("contractCreated", one.created),
               Field("value", one.value), R"(,"data":"0x00FF","memo":{"a":[{"$numberLong":"1"},null,2.5,true]})",
               receipt == nullptr ? "" : StrCat(",\"receipt\":", ReceiptFields(*receipt))));
    List(seen, one.hash, one.from, "sender");
    List(seen, one.hash, one.to, "receiver");
    List(seen, one.hash, one.created, "created");
    if (receipt != nullptr && !seen.names_contract) List(seen, one.hash, receipt->created, "created");
    return true;
  }

  void GrowReceipt(const ReceiptDraft& receipt) {
    Seen& seen = seen_.at(receipt.transaction);
    if (seen.epoch == epoch_) return;
    Put("receipts", StrCat(receipt.transaction, "@", epoch_),
        StrCat(Field("transaction", receipt.transaction), ",\"fields\":", ReceiptFields(receipt)));
    if (!seen.names_contract) List(seen, receipt.transaction, receipt.created, "created");
  }

  void List(Seen& seen, const std::string& hash, const std::string& account, const char* type) {
    if (account.empty() || !seen.accounts.insert(account).second) return;
    PutOwned("account_transactions", account, seen.score,
             StrCat(Field("hash", hash), Field("type", type), Field("timestamp", seen.timestamp)));
  }

  Contents contents_;
  std::map<std::string, Seen> seen_;
  std::set<std::string> miners_;
  int64_t epoch_ = 0;
  int64_t blocks_ = 0;
  Big difficulty_ = 0;
  uint64_t carried_ = 0;
};

}  // namespace braid::explorer::testkit
