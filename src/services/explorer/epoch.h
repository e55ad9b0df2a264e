// Epoch: one line of the interchange format (F3), checked, with the fields as they will be stored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "braid/status.h"
#include "client/handles.h"

namespace braid::explorer {

/// A line with more bytes than this is refused.
inline constexpr size_t kEpochBytesMax = size_t{128} << 20;

/// A transaction as a block carries it.
struct EpochTransaction {
  std::string hash;
  std::string from;
  std::string to;                // empty: none, it creates a contract
  std::string contract_created;  // empty: not known, or none
  std::string index;             // transactionIndex in hexadecimal; its place in the block if it was not given
  client::BsonPtr fields;        // every field but `hash` and those that are null or attached on insert
};

struct EpochBlock {
  std::string hash;
  std::string parent_hash;  // empty: not given
  std::string miner;
  std::string difficulty;  // hexadecimal, as given
  std::string timestamp;   // hexadecimal, as given
  client::BsonPtr fields;  // every field but `hash`, `transactions` and those that are null or attached on insert
  std::vector<EpochTransaction> transactions;
};

/// The receipt of a transaction of this epoch or an earlier one.
struct EpochReceipt {
  std::string transaction;       // its hash
  std::string contract_created;  // empty: none
  client::BsonPtr fields;        // every field that is not null
};

struct Epoch {
  int64_t number = 0;
  std::string pivot_hash;
  std::string parent_hash;         // of the pivot block: the pivot of the epoch before
  std::vector<EpochBlock> blocks;  // in execution order, the pivot last
  std::vector<EpochReceipt> receipts;
  size_t bytes = 0;  // of the line

  size_t transaction_count() const;
};

/// Reads a line and checks everything that can be checked without the store: hexadecimal of the right length, heights,
/// the pivot in its place, no block and no transaction of a block twice. kBadValue, with the path of the field and its
/// value, such as "epoch 7, blocks[2].transactions[0].from: …". Addresses and hashes become lower case.
Result<Epoch> ParseEpoch(std::string_view line);

}  // namespace braid::explorer
