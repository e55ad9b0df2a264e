// ChainGenerator: a chain that grows and now and then switches its pivot; the same seed makes the same chain.
#pragma once

#include <deque>
#include <unordered_set>
#include <vector>

#include "base/random.h"
#include "braid/status.h"
#include "services/explorer/source/made_chain.h"

namespace braid::explorer::source {

struct ChainOptions {
  uint64_t seed = 1;
  int64_t first_epoch = 0;
  /// The percentage of steps that replace the newest epochs by others. Default 5, 0..90.
  uint32_t switch_percent = 5;
  /// The most epochs that a switch replaces. Default 8, 1..1000.
  uint32_t switch_depth_max = 8;
  /// The most blocks of an epoch. Default 4, 1..1000.
  uint32_t blocks_max = 4;
  /// The most transactions of a block; on average it has half of that. Default 20, 0..200 000.
  uint32_t transactions_max = 20;
  /// The percentage of a block's transactions that an earlier block of the chain carries, too. Default 5, 0..90.
  uint32_t shared_percent = 5;
  uint32_t accounts = 1000;  // from 1
  uint32_t miners = 20;      // from 1
  /// How many epochs later the receipts of an epoch become known. Default 5, 0..1000.
  int64_t receipts_after = 5;

  Status Validate() const;  ///< OK, or the first field out of range, its value and its range.
};

/// Not thread-safe.
class ChainGenerator {
 public:
  /// `real` transactions, each of another hash, are carried before any are made up.
  explicit ChainGenerator(const ChainOptions& options, std::vector<TransactionPtr> real = {});

  struct Step {
    int64_t popped = 0;           // epochs that are no longer in the chain
    std::vector<MadeLink> grown;  // popped + 1
  };
  /// Adds one epoch, or replaces the newest ones by as many others and one more.
  Step Next();
  /// Real transactions that no block of the chain carries yet.
  size_t real_left() const { return real_.size() - real_used_ + (real_.empty() ? 0 : waiting_.size()); }

 private:
  void Grow(Step& step);
  std::string NewDifficulty();
  MadeBlock NewBlock(int64_t height, const std::string& parent);
  void FillBlock(MadeEpoch& epoch);
  TransactionPtr NewTransaction();
  TransactionPtr SharedTransaction(const MadeEpoch& epoch);
  MadeReceipt ReceiptOf(const MadeEpoch& epoch, TransactionPtr transaction);
  std::string RandomHex(size_t digits);
  std::string AddressOf(char kind, uint64_t n) const;

  const ChainOptions options_;
  const std::vector<TransactionPtr> real_;
  size_t real_used_ = 0;
  Random random_;
  std::deque<EpochPtr> chain_;                           // the newest epochs, as many as are needed
  bool begun_ = false;                                   // the first epoch, which stays, was made
  std::deque<TransactionPtr> waiting_;                   // of epochs that were popped
  std::unordered_set<const MadeTransaction*> in_block_;  // that is being filled
  int64_t now_ = 1'600'000'000;
};

/// The transactions of Ethereum blocks, DIR/*.json.gz or *.json with one block each (JSON-RPC), in the order of the
/// files' names. kBadValue names the file that cannot be used.
Result<std::vector<TransactionPtr>> ReadRealTransactions(const std::string& directory);

}  // namespace braid::explorer::source
