// The single runs that the explorer's benchmark is made of, and the chain that they work on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/explorer.h"
#include "services/explorer/explorer.h"

namespace braid::bench {

/// Rows of a page, as the command line asks for.
constexpr int64_t kExplorerPage = 20;

/// A made-up chain without forks in which everything follows from its number, so that nothing has to be remembered. Of
/// each kind the proportions are the same at every length: a chain that is a hundred times as long has a hundred times
/// the accounts and miners, with as many entries each. The first block of an epoch carries the last transaction of the
/// epoch before once more. Any thread.
class ExplorerChain {
 public:
  explicit ExplorerChain(const ExplorerBenchOptions& options) : options_(options) {}

  /// The epoch of this number, as one line of JSON.
  std::string Line(uint64_t epoch) const;

  std::string PivotHash(uint64_t epoch) const { return BlockHash((epoch + 1) * options_.epoch_blocks - 1); }
  std::string BlockHash(uint64_t block) const { return Hash(1, block); }
  std::string TransactionHash(uint64_t transaction) const { return Hash(2, transaction); }
  /// The account that sends a transaction, and the miner of a block.
  std::string Sender(uint64_t transaction) const { return Account(transaction, 0); }
  std::string Miner(uint64_t block) const;
  /// An early account, which every chain of this kind has.
  std::string EarlyAccount(uint64_t number) const { return Address(3, number); }

  /// Epochs that have so many transactions, at least one.
  uint64_t EpochsFor(uint64_t transactions) const;
  const ExplorerBenchOptions& options() const { return options_; }

 private:
  uint64_t Mix(uint64_t kind, uint64_t number) const;
  std::string Hash(uint64_t kind, uint64_t number) const;
  std::string Address(uint64_t kind, uint64_t number) const;
  std::string Account(uint64_t transaction, uint64_t side) const;
  /// Where a transaction stands.
  struct Place {
    uint64_t block;  // of all blocks
    uint64_t index;  // in the block
  };
  void AddTransaction(uint64_t transaction, const Place& place, std::string& line) const;
  void AddReceipts(uint64_t epoch, std::string& line) const;
  void AddBlock(uint64_t epoch, uint64_t block, std::string& line) const;
  bool creates_contract(uint64_t transaction) const { return transaction % 100 == 99; }
  // Transactions of block b of an epoch: [first, last) within the epoch.
  uint64_t FirstOf(uint64_t block_in_epoch) const {
    return block_in_epoch * options_.epoch_transactions / options_.epoch_blocks;
  }

  const ExplorerBenchOptions options_;
};

/// Asks queries about a chain whose first epochs are stored. One thread.
class ExplorerReader {
 public:
  ExplorerReader(explorer::Explorer& explorer, const ExplorerChain& chain, uint64_t seed)
      : explorer_(explorer), chain_(chain), random_(seed) {}

  /// Walks to the middle of the chain and of some long accounts. Before it the queries that begin there are pages
  /// from the beginning.
  Status FindMiddles();
  /// One query about something among the first `epochs`; kInternalError if the answer lacks what must be there.
  Status Ask(ExplorerQuery query, uint64_t epochs);
  Random& random() { return random_; }

 private:
  Status AskForPage(ExplorerQuery query, uint64_t epochs);

  explorer::Explorer& explorer_;
  const ExplorerChain& chain_;
  Random random_;
  std::string middle_of_blocks_;
  std::vector<std::string> middles_of_accounts_;
};

/// Drops the database and opens the index in it.
Result<std::unique_ptr<explorer::Explorer>> RenewExplorer(Clients& clients, const ExplorerBenchOptions& options);

/// Takes in the epochs from … to - 1 with row.readers readers beside it; fills the row in.
Status MeasureImport(Clients& clients, explorer::Explorer& explorer, const ExplorerChain& chain,
                     std::pair<uint64_t, uint64_t> epochs, ExplorerImportRow& row);

/// Every query by turns on a chain of so many epochs.
Result<std::vector<ExplorerQueryRow>> MeasureQueries(explorer::Explorer& explorer, const ExplorerChain& chain,
                                                     uint64_t epochs);

/// Pops the newest epochs one by one and grows them again, some at a time.
Result<ExplorerPopRow> MeasurePops(explorer::Explorer& explorer, const ExplorerChain& chain, uint64_t epochs);

/// Recounts; kInternalError if something is damaged or it is not a chain of so many epochs.
Result<ExplorerVerifyRow> VerifyExplorer(explorer::Explorer& explorer, const ExplorerChain& chain, uint64_t epochs);

}  // namespace braid::bench
