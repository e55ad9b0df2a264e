// A reader for tests that knows every epoch that was ever made, and compares each answer with a recount.
#pragma once

#include <functional>
#include <optional>

#include "client/fields.h"
#include "services/explorer/explorer.h"
#include "services/explorer/testing/forking_chain.h"

namespace braid::explorer::forks {

using Texts = std::vector<std::string>;

inline std::string Joined(const Texts& texts) {
  std::string all;
  for (const std::string& text : texts) all += StrCat(all.empty() ? "" : ", ", text);
  return StrCat("[", all, "]");
}

/// Asks one query after another and compares each answer with the recount at the pivot that it names.
class CheckingReader {
 public:
  CheckingReader(Explorer& explorer, ForkRegistry& registry, const ForkMaker& maker, uint64_t seed)
      : explorer_(explorer), registry_(registry), maker_(maker), random_(seed) {}

  /// One query, perhaps of several pages. Empty: the answer was right, or its pivot was reorganised away.
  std::string Ask() {
    // Mostly as of now, at times as of an epoch that may have been popped.
    const std::string at = random_.Chance(1, 5) ? registry_.Any(random_)->hash() : "";
    switch (random_.Below(11)) {
      case 0: return AskForBlock(at);
      case 1: return AskForTransaction(at);
      case 2: return AskForLatest(at);
      case 3: return AskForBlocks(at);
      case 4: return AskForTransactions(at);
      case 5: return AskForPivots(at);
      case 6: return AskForEpoch(at);
      case 7: return AskForAccount(at);
      case 8: return AskForMiner(at);
      case 9: return AskForBlockTransactions(at);
      default: return AskForMiners(at);
    }
  }

  uint64_t answers() const { return answers_; }
  uint64_t reorganised() const { return reorganised_; }
  const std::set<std::string>& pivots() const { return pivots_; }

 private:
  ForkBlock AnyBlock() {
    const ForkEpochPtr epoch = registry_.Any(random_);
    return epoch->blocks[random_.Below(epoch->blocks.size())];
  }

  // What must be there at an epoch that an answer names. Lives until the next call.
  const Recount* RecountAt(const std::string& pivot) {
    if (recount_ == nullptr || recount_->epochs.back()->hash() != pivot) recount_ = registry_.At(pivot);
    return recount_.get();
  }

  // Looks at an error and at the name of the epoch; sets `recount` if there is an answer to compare.
  template <typename Answer>
  std::string Examine(const Result<Answer>& answer, const std::string& at, const Recount*& recount) {
    recount = nullptr;
    if (!answer.ok()) {
      const bool gone = !at.empty() && answer.error().code() == Code::kTimelineReorganised;
      reorganised_ += gone ? 1 : 0;
      return gone ? "" : answer.error().ToString();
    }
    if (!at.empty() && answer->at.pivot != at) return StrCat("asked at ", at, ", answered at ", answer->at.pivot);
    const Recount* found = RecountAt(answer->at.pivot);
    if (found == nullptr) return StrCat("nobody made the pivot ", answer->at.pivot);
    if (found->epochs.back()->number != answer->at.epoch) return StrCat("pivot of another epoch: ", answer->at.pivot);
    ++answers_;
    pivots_.insert(answer->at.pivot);
    recount = found;
    return "";
  }

  std::string AskForBlock(const std::string& at) {
    const std::string hash = AnyBlock().hash;
    const auto answer = explorer_.Block(hash, at);
    const Recount* recount = nullptr;
    std::string wrong = Examine(answer, at, recount);
    if (recount == nullptr) return wrong;
    const auto score = recount->block_scores.find(hash);
    Texts expected;
    if (score != recount->block_scores.end()) {
      const Recount::Block& block = recount->blocks[score->second];
      expected = {hash, StrCat(score->second), block.pivot ? "0x1" : "0x0",
                  HexQuantity(block.block->transactions.size()),
                  HexQuantity(static_cast<uint64_t>(block.new_transactions))};
    }
    Texts got;
    if (const bson_t* document = answer->document.get(); document != nullptr) {
      got = {std::string(client::TextOf(document, "hash")), StrCat(client::IntegerOf(document, "score")),
             std::string(client::TextOf(document, "isPivot")),
             std::string(client::TextOf(document, "transactionCount")),
             std::string(client::TextOf(document, "newTransactionCount"))};
    }
    return Compare("block", got, expected, answer->at);
  }

  std::string AskForTransaction(const std::string& at) {
    const ForkBlock block = AnyBlock();
    if (block.transactions.empty()) return "";
    const std::string hash = block.transactions[random_.Below(block.transactions.size())].hash;
    const auto answer = explorer_.Transaction(hash, at);
    const Recount* recount = nullptr;
    std::string wrong = Examine(answer, at, recount);
    if (recount == nullptr) return wrong;
    const auto score = recount->transaction_scores.find(hash);
    Texts expected;
    if (score != recount->transaction_scores.end()) {
      expected = {hash, StrCat(score->second),
                  HexQuantity(recount->transactions[score->second].first_block->timestamp)};
    }
    Texts got;
    if (const bson_t* document = answer->document.get(); document != nullptr) {
      got = {std::string(client::TextOf(document, "hash")), StrCat(client::IntegerOf(document, "score")),
             std::string(client::TextOf(document, "timestamp"))};
    }
    return Compare("transaction", got, expected, answer->at);
  }

  std::string AskForLatest(const std::string& at) {
    const auto answer = explorer_.LatestBlocks(at);
    const Recount* recount = nullptr;
    std::string wrong = Examine(answer, at, recount);
    if (recount == nullptr) return wrong;
    const auto blocks = static_cast<int64_t>(recount->blocks.size());
    const int64_t first = std::max<int64_t>(0, blocks - explorer_.options().window_blocks);
    uint64_t difficulty = 0;
    uint64_t transactions = 0;
    for (int64_t i = first; i < blocks; ++i) {
      const ForkBlock& block = *recount->blocks[static_cast<size_t>(i)].block;
      difficulty += block.difficulty;
      transactions += block.transactions.size();
    }
    return Compare("latest", {StrCat(answer->blocks), answer->difficulty, StrCat(answer->transactions)},
                   {StrCat(blocks - first), StrCat(difficulty), StrCat(transactions)}, answer->at);
  }

  using ReadPage = std::function<Result<Page>(const PageRequest&)>;
  using RowText = std::function<std::string(const bson_t&)>;

  // Reads page by page, the first where `at` says and the others where the first was, and compares with what
  // `expected` gives for that epoch; null: what was asked for is not there at all.
  std::string AskForList(const char* name, const std::string& at, const ReadPage& read, const RowText& text_of,
                         const std::function<std::optional<Texts>(const Recount&)>& expected) {
    PageRequest request{.at = at, .limit = static_cast<int64_t>(1 + random_.Below(random_.Chance(1, 3) ? 1000 : 7))};
    Texts got;
    std::optional<Texts> wanted;
    const uint64_t pages = 1 + random_.Below(6);
    for (uint64_t i = 0; i < pages; ++i) {
      const auto page = read(request);
      const Recount* recount = nullptr;
      std::string wrong = Examine(page, request.at, recount);
      if (recount == nullptr) return wrong;
      wanted = expected(*recount);
      if (page->found != wanted.has_value()) {
        return StrCat(name, " at ", page->at.pivot, page->found ? ": found" : ": not found");
      }
      if (!wanted) return "";
      for (const auto& row : page->rows) got.push_back(text_of(*row));
      request.at = page->at.pivot;
      request.after = page->next;
      if (request.after.empty()) break;
      if (page->rows.size() != static_cast<size_t>(request.limit)) return StrCat(name, ": a page that is not full");
    }
    if (!request.after.empty() && got.size() < wanted->size()) wanted->resize(got.size());
    return Compare(name, got, *wanted, {.epoch = -1, .pivot = request.at});
  }

  static std::string HashOf(const bson_t& row) { return std::string(client::TextOf(&row, "hash")); }
  static std::string HashAndScoreOf(const bson_t& row) {
    return StrCat(client::TextOf(&row, "hash"), " ", client::IntegerOf(&row, "score"));
  }

  std::string AskForBlocks(const std::string& at) {
    return AskForList(
        "blocks", at, [&](const PageRequest& page) { return explorer_.Blocks(page); }, HashAndScoreOf,
        [](const Recount& recount) {
          Texts rows;
          for (size_t i = recount.blocks.size(); i-- > 0;) {
            rows.push_back(StrCat(recount.blocks[i].block->hash, " ", i));
          }
          return rows;
        });
  }

  std::string AskForTransactions(const std::string& at) {
    return AskForList(
        "transactions", at, [&](const PageRequest& page) { return explorer_.Transactions(page); }, HashAndScoreOf,
        [](const Recount& recount) {
          Texts rows;
          for (size_t i = recount.transactions.size(); i-- > 0;) {
            rows.push_back(StrCat(recount.transactions[i].transaction->hash, " ", i));
          }
          return rows;
        });
  }

  std::string AskForPivots(const std::string& at) {
    const RowText text_of = [](const bson_t& row) {
      return StrCat(HashOf(row), " ", client::IntegerOf(&row, "epoch"));
    };
    return AskForList(
        "pivot", at, [&](const PageRequest& page) { return explorer_.Pivots(page); }, text_of,
        [](const Recount& recount) {
          Texts rows;
          for (size_t i = recount.epochs.size(); i-- > 0;) {
            rows.push_back(StrCat(recount.epochs[i]->hash(), " ", recount.epochs[i]->number));
          }
          return rows;
        });
  }

  std::string AskForEpoch(const std::string& at) {
    const int64_t number = registry_.Any(random_)->number;
    return AskForList(
        "epoch", at, [&](const PageRequest& page) { return explorer_.EpochBlocks(number, page); }, HashOf,
        [&](const Recount& recount) -> std::optional<Texts> {
          const auto place = static_cast<size_t>(number - recount.epochs.front()->number);
          if (place >= recount.epochs.size()) return std::nullopt;
          Texts rows;
          for (const ForkBlock& block : recount.epochs[place]->blocks) rows.push_back(block.hash);
          return rows;
        });
  }

  std::string AskForAccount(const std::string& at) {
    const std::string account = maker_.accounts()[random_.Below(maker_.accounts().size())];
    const RowText text_of = [](const bson_t& row) { return StrCat(HashOf(row), " ", client::TextOf(&row, "type")); };
    return AskForList(
        "account", at, [&](const PageRequest& page) { return explorer_.AccountTransactions(account, page); }, text_of,
        [&](const Recount& recount) {
          Texts rows;
          const auto found = recount.accounts.find(account);
          if (found == recount.accounts.end()) return rows;
          for (const Recount::Entry& entry : found->second) rows.push_back(StrCat(entry.hash, " ", entry.type));
          std::ranges::reverse(rows);
          return rows;
        });
  }

  std::string AskForMiner(const std::string& at) {
    const std::string miner = maker_.miners()[random_.Below(maker_.miners().size())];
    return AskForList(
        "miner", at, [&](const PageRequest& page) { return explorer_.MinerBlocks(miner, page); }, HashOf,
        [&](const Recount& recount) {
          const auto found = recount.miners.find(miner);
          if (found == recount.miners.end()) return Texts();
          return Texts(found->second.rbegin(), found->second.rend());
        });
  }

  std::string AskForMiners(const std::string& at) {
    const auto read = [&](const PageRequest& page) { return explorer_.Miners(page); };
    const RowText text_of = [](const bson_t& row) {
      return StrCat(client::TextOf(&row, "miner"), " ", client::TextOf(&row, "block"));
    };
    return AskForList("miners", at, read, text_of, [](const Recount& recount) {
      Texts rows;
      for (const auto& [miner, blocks] : recount.miners) rows.push_back(StrCat(miner, " ", blocks.front()));
      return rows;
    });
  }

  std::string AskForBlockTransactions(const std::string& at) {
    const std::string hash = AnyBlock().hash;
    return AskForList(
        "block-transactions", at, [&](const PageRequest& page) { return explorer_.BlockTransactions(hash, page); },
        HashOf,
        [&](const Recount& recount) -> std::optional<Texts> {
          const auto score = recount.block_scores.find(hash);
          if (score == recount.block_scores.end()) return std::nullopt;
          Texts rows;
          for (const auto& one : recount.blocks[score->second].block->transactions) {
            rows.push_back(one.hash);
          }
          return rows;
        });
  }

  static std::string Compare(const char* query, const Texts& got, const Texts& expected, const At& at) {
    if (got == expected) return "";
    return StrCat(query, " at ", at.pivot, ": ", Joined(got), " instead of ", Joined(expected));
  }

  Explorer& explorer_;
  ForkRegistry& registry_;
  const ForkMaker& maker_;
  Random random_;
  std::shared_ptr<const Recount> recount_;  // the one that was needed last
  uint64_t answers_ = 0;
  uint64_t reorganised_ = 0;
  std::set<std::string> pivots_;
};

}  // namespace braid::explorer::forks
