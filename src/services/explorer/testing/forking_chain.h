// A chain that forks, for tests: epochs with blocks and transactions that both branches may carry, and what a reader at
// any of them must see, recounted from the epochs alone.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "base/strings.h"
#include "services/explorer/epoch.h"

namespace braid::explorer::forks {

struct ForkTransaction {
  std::string hash;
  std::string from;
  std::string to;       // empty: it creates the contract
  std::string created;  // empty: it creates none
};

struct ForkBlock {
  std::string hash;
  std::string miner;
  uint64_t difficulty = 0;
  uint64_t timestamp = 0;
  std::vector<ForkTransaction> transactions;
};

struct ForkEpoch {
  int64_t number = 0;
  std::string parent;             // the pivot of the epoch before
  std::vector<ForkBlock> blocks;  // the pivot last

  const std::string& hash() const { return blocks.back().hash; }
};
using ForkEpochPtr = std::shared_ptr<const ForkEpoch>;

inline std::string HexQuantity(uint64_t value) {
  char digits[20];
  return StrCat(
      "0x", std::string_view(
                digits, static_cast<size_t>(std::to_chars(digits, digits + sizeof(digits), value, 16).ptr - digits)));
}

/// As a source would give it (F3).
inline std::string LineOf(const ForkEpoch& epoch) {
  std::string line = StrCat(R"({"epochNumber":")", HexQuantity(static_cast<uint64_t>(epoch.number)),
                            R"(","pivotHash":")", epoch.hash(), R"(","blocks":[)");
  for (const ForkBlock& block : epoch.blocks) {
    line += StrCat(line.ends_with('[') ? "" : ",", R"({"hash":")", block.hash, R"(","miner":")", block.miner,
                   R"(","difficulty":")", HexQuantity(block.difficulty), R"(","timestamp":")",
                   HexQuantity(block.timestamp), R"(","transactions":[)");
    for (const ForkTransaction& one : block.transactions) {
      line += StrCat(line.ends_with('[') ? "" : ",", R"({"hash":")", one.hash, R"(","from":")", one.from);
      line += one.to.empty() ? StrCat(R"(","to":null,"contractCreated":")", one.created, R"("})")
                             : StrCat(R"(","to":")", one.to, R"("})");
    }
    // Of other blocks it is left out, for they may be of several epochs in turn.
    line += &block == &epoch.blocks.back() ? StrCat(R"(],"parentHash":")", epoch.parent, R"("})") : "]}";
  }
  return line + "]}";
}

/// Makes epochs up. One thread.
class ForkMaker {
 public:
  explicit ForkMaker(uint64_t seed) : random_(seed) {
    for (int i = 0; i < 6; ++i) accounts_.push_back(HexDigits(40));
    for (int i = 0; i < 4; ++i) miners_.push_back(HexDigits(40));
  }

  struct Size {
    uint64_t blocks_max = 3;
    uint64_t transactions_max = 4;  // per block
    bool exact = false;             // as many as the maxima
  };
  /// The epoch after `parent`, or the first one if it is null. Takes over some of the blocks that `spare` has, and
  /// removes them from it; they must not be in the chain.
  ForkEpochPtr Make(const ForkEpochPtr& parent, const Size& size, std::vector<ForkBlock>& spare) {
    ForkEpoch epoch;
    epoch.number = parent == nullptr ? 7 : parent->number + 1;
    epoch.parent = parent == nullptr ? HexDigits(64) : parent->hash();
    const uint64_t blocks = size.exact ? size.blocks_max : 1 + random_.Below(size.blocks_max);
    while (epoch.blocks.size() + 1 < blocks) {
      if (!size.exact && !spare.empty() && random_.Chance(1, 2)) {
        epoch.blocks.push_back(std::move(spare.back()));
        spare.pop_back();
      } else {
        epoch.blocks.push_back(MakeBlock(epoch.number, size));
      }
    }
    epoch.blocks.push_back(MakeBlock(epoch.number, size));  // a pivot is never taken over: its parent has changed
    return std::make_shared<const ForkEpoch>(std::move(epoch));
  }

  Random& random() { return random_; }
  const std::vector<std::string>& accounts() const { return accounts_; }
  const std::vector<std::string>& miners() const { return miners_; }

 private:
  std::string HexDigits(size_t digits) {
    std::string text = "0x";
    while (text.size() < digits + 2) text += "0123456789abcdef"[random_.Below(16)];
    return text;
  }
  const std::string& AnyOf(const std::vector<std::string>& texts) { return texts[random_.Below(texts.size())]; }

  ForkBlock MakeBlock(int64_t number, const Size& size) {
    ForkBlock block{.hash = HexDigits(64),
                    .miner = AnyOf(miners_),
                    .difficulty = random_.Next() >> 8,  // so that the sum of a window fits
                    .timestamp = 1'000'000 + static_cast<uint64_t>(number)};
    const uint64_t count = size.exact ? size.transactions_max : random_.Below(size.transactions_max + 1);
    std::set<std::string> carried;
    while (block.transactions.size() < count) {
      ForkTransaction one = AnyTransaction();
      if (carried.insert(one.hash).second) block.transactions.push_back(std::move(one));
    }
    return block;
  }

  // Two of three are new; the others were carried before, by a block that may be in the chain or not.
  ForkTransaction AnyTransaction() {
    if (!recent_.empty() && random_.Chance(1, 3)) return recent_[random_.Below(recent_.size())];
    ForkTransaction one{.hash = HexDigits(64), .from = AnyOf(accounts_), .to = AnyOf(accounts_)};
    if (random_.Chance(1, 8)) {
      one.to.clear();
      one.created = AnyOf(accounts_);
    }
    if (recent_.size() < 30) return recent_.emplace_back(std::move(one));
    return recent_[random_.Below(recent_.size())] = std::move(one);
  }

  Random random_;
  std::vector<std::string> accounts_;
  std::vector<std::string> miners_;
  std::vector<ForkTransaction> recent_;
};

/// What a reader must see at one epoch.
struct Recount {
  struct Block {
    const ForkBlock* block;
    int64_t epoch;
    bool pivot;
    int64_t new_transactions;
  };
  struct Entry {
    std::string hash;
    std::string type;  // of an account's transaction
    bool operator==(const Entry&) const = default;
  };
  std::vector<ForkEpochPtr> epochs;  // oldest first
  std::vector<Block> blocks;         // in execution order
  struct Listed {
    const ForkTransaction* transaction;
    const ForkBlock* first_block;
  };
  std::vector<Listed> transactions;                        // in execution order
  std::map<std::string, size_t> block_scores;              // by hash
  std::map<std::string, size_t> transaction_scores;        // by hash
  std::map<std::string, std::vector<Entry>> accounts;      // oldest first
  std::map<std::string, std::vector<std::string>> miners;  // hashes of their blocks, oldest first

  explicit Recount(std::vector<ForkEpochPtr> chain) : epochs(std::move(chain)) {
    for (const ForkEpochPtr& epoch : epochs) {
      for (const ForkBlock& block : epoch->blocks) Add(*epoch, block);
    }
  }

 private:
  void Add(const ForkEpoch& epoch, const ForkBlock& block) {
    int64_t fresh = 0;
    for (const ForkTransaction& one : block.transactions) {
      if (!transaction_scores.emplace(one.hash, transactions.size()).second) continue;
      ++fresh;
      transactions.push_back({&one, &block});
      accounts[one.from].push_back({one.hash, "sender"});
      if (!one.to.empty() && one.to != one.from) accounts[one.to].push_back({one.hash, "receiver"});
      if (one.to.empty() && one.created != one.from) accounts[one.created].push_back({one.hash, "created"});
    }
    block_scores.emplace(block.hash, blocks.size());
    blocks.push_back({&block, epoch.number, &block == &epoch.blocks.back(), fresh});
    miners[block.miner].push_back(block.hash);
  }
};

/// Every epoch that was ever made, by its hash. Any thread.
class ForkRegistry {
 public:
  void Add(const ForkEpochPtr& epoch) {
    const MutexLock lock(mutex_);
    if (epochs_.emplace(epoch->hash(), epoch).second) in_order_.push_back(epoch);
  }
  /// The recount at an epoch; null if nobody has made it.
  std::shared_ptr<const Recount> At(const std::string& pivot) {
    std::vector<ForkEpochPtr> chain;
    {
      const MutexLock lock(mutex_);
      for (const auto& recount : recounts_) {
        if (recount->epochs.back()->hash() == pivot) return recount;
      }
      for (auto found = epochs_.find(pivot); found != epochs_.end(); found = epochs_.find(found->second->parent)) {
        chain.push_back(found->second);
      }
    }
    if (chain.empty()) return nullptr;
    std::ranges::reverse(chain);
    auto recount = std::make_shared<const Recount>(std::move(chain));
    const MutexLock lock(mutex_);
    recounts_.push_back(recount);
    if (recounts_.size() > 16) recounts_.pop_front();
    return recount;
  }
  /// One that may be in the chain or not; most often a new one.
  ForkEpochPtr Any(Random& random) {
    const MutexLock lock(mutex_);
    const size_t among = random.Chance(3, 4) ? std::min<size_t>(in_order_.size(), 20) : in_order_.size();
    return in_order_[in_order_.size() - 1 - random.Below(among)];
  }

 private:
  Mutex mutex_;
  std::map<std::string, ForkEpochPtr> epochs_ BRAID_GUARDED_BY(mutex_);
  std::vector<ForkEpochPtr> in_order_ BRAID_GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<const Recount>> recounts_ BRAID_GUARDED_BY(mutex_);  // those that were needed last
};

}  // namespace braid::explorer::forks
