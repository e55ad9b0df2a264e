// A made-up chain: epochs of blocks and transactions, and the JSON that a node or a file has of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace braid::explorer::source {

/// Quantities and hashes are hexadecimal with 0x.
struct MadeTransaction {
  std::string hash;
  std::string from;
  std::string to;  // empty: creates a contract
  std::string value;
  std::string gas;
  std::string gas_price;
  std::string nonce;
  std::string data;
  std::string r, s, v;
};
using TransactionPtr = std::shared_ptr<const MadeTransaction>;

struct MadeBlock {
  std::string hash;
  std::string parent;
  int64_t height = 0;
  std::string miner;
  std::string difficulty;
  int64_t timestamp = 0;
  std::string nonce;
  std::string state_root;
  std::string receipts_root;
  std::string transactions_root;
  std::vector<std::string> referees;
  std::vector<TransactionPtr> transactions;
};

/// What a transaction did: known once its epoch is executed, in the first block that carries it.
struct MadeReceipt {
  TransactionPtr transaction;
  size_t block = 0;  // of its epoch
  size_t index = 0;  // in the block
  int64_t gas_used = 0;
  bool failed = false;
  std::string contract;  // created; empty: none
};

struct MadeEpoch {
  int64_t number = 0;
  std::vector<MadeBlock> blocks;      // in execution order, the pivot last
  std::vector<MadeReceipt> receipts;  // of the transactions that no earlier block of the chain carries

  const MadeBlock& pivot() const { return blocks.back(); }
  size_t transaction_count() const;  ///< carried, those of earlier blocks too
};
using EpochPtr = std::shared_ptr<const MadeEpoch>;

/// An epoch as the chain goes on with it.
struct MadeLink {
  EpochPtr epoch;
  EpochPtr executed;  // the epoch whose receipts become known with this one; may be null
};

std::string ToHex(uint64_t value);                            ///< "0x1f"
std::string BlockJson(const MadeEpoch& epoch, size_t block);  ///< with whole transactions
std::string ReceiptJson(const MadeEpoch& epoch, size_t receipt);
std::string EpochLine(const MadeLink& link);  ///< a line of the interchange format (F3)

}  // namespace braid::explorer::source
