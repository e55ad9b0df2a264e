// The made-up chain: blocks, transactions, accounts and miners by number, as lines of JSON.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "bench/explorer_runs.h"

namespace braid::bench {
namespace {

constexpr uint64_t kChainStart = 0x5cb81529;  // the timestamp of the first epoch
// A new account with every 50 transactions and a new miner with every 400 blocks.
constexpr uint64_t kFirstAccounts = 20;
constexpr uint64_t kTransactionsPerAccount = 50;
constexpr uint64_t kFirstMiners = 4;
constexpr uint64_t kBlocksPerMiner = 400;
constexpr uint64_t kReceiptDelay = 5;  // in epochs, of late receipts

// The finalizer of SplitMix64: neighbouring numbers become unrelated ones.
uint64_t Scatter(uint64_t value) {
  value += 0x9E3779B97F4A7C15;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

}  // namespace

uint64_t ExplorerChain::Mix(uint64_t kind, uint64_t number) const {
  return Scatter(Scatter(options_.seed * 16 + kind) ^ number);
}

std::string ExplorerChain::Hash(uint64_t kind, uint64_t number) const {
  const uint64_t mixed = Mix(kind, number);
  return fmt::format("0x{:016x}{:016x}{:016x}{:016x}", mixed, Scatter(mixed), Scatter(mixed + 1), Scatter(mixed + 2));
}

std::string ExplorerChain::Address(uint64_t kind, uint64_t number) const {
  const uint64_t mixed = Mix(kind, number);
  return fmt::format("0x{:016x}{:016x}{:08x}", mixed, Scatter(mixed), Scatter(mixed + 1) >> 32);
}

std::string ExplorerChain::Account(uint64_t transaction, uint64_t side) const {
  const uint64_t accounts = kFirstAccounts + transaction / kTransactionsPerAccount;
  return Address(3, Mix(4 + side, transaction) % accounts);
}

std::string ExplorerChain::Miner(uint64_t block) const {
  return Address(6, Mix(7, block) % (kFirstMiners + block / kBlocksPerMiner));
}

uint64_t ExplorerChain::EpochsFor(uint64_t transactions) const {
  return std::max<uint64_t>(1, (transactions + options_.epoch_transactions - 1) / options_.epoch_transactions);
}

void ExplorerChain::AddTransaction(uint64_t transaction, const Place& place, std::string& line) const {
  const bool creates = creates_contract(transaction);
  const uint64_t mixed = Mix(8, transaction);
  const auto quoted = [](const std::string& text) { return fmt::format("\"{}\"", text); };
  // Every other one is a call of a contract.
  const std::string data = transaction % 2 == 0 ? "0x" : fmt::format("0xa9059cbb{:064x}{:064x}", mixed >> 8, mixed);
  fmt::format_to(
      std::back_inserter(line),
      R"({{"hash":"{}","nonce":"{:#x}","blockHash":"{}","transactionIndex":"{:#x}","from":"{}","to":{},"value":"{:#x}",)"
      R"("gasPrice":"{:#x}","gas":"0x5208","data":"{}","contractCreated":{},"v":"0x0","r":"{}","s":"{}"}})",
      TransactionHash(transaction), transaction / 100, BlockHash(place.block), place.index, Sender(transaction),
      creates ? "null" : quoted(Account(transaction, 1)), mixed, mixed % 1'000'000'007, data,
      creates && options_.receipts == ExplorerReceipts::kNone ? quoted(Address(9, transaction)) : "null",
      Hash(10, transaction), Hash(11, transaction));
}

void ExplorerChain::AddBlock(uint64_t epoch, uint64_t block, std::string& line) const {
  const uint64_t blocks = options_.epoch_blocks;
  const uint64_t in_epoch = block % blocks;
  const uint64_t first = FirstOf(in_epoch);
  const uint64_t last = FirstOf(in_epoch + 1);
  const std::string zeros(64, '0');
  fmt::format_to(std::back_inserter(line),
                 R"({{"hash":"{}","parentHash":"{}","epochNumber":"{:#x}","height":"{:#x}","miner":"{}",)"
                 R"("difficulty":"{:#x}","timestamp":"{:#x}","gasLimit":"0xb2d05e00","nonce":"{:#x}","size":"{:#x}",)"
                 R"("deferredReceiptsRoot":"{}","deferredStateRoot":"{}","transactionsRoot":"{}","refereeHashes":[)",
                 BlockHash(block), epoch == 0 ? "0x" + zeros : PivotHash(epoch - 1), epoch, epoch, Miner(block),
                 2'000'000'000 + Mix(12, block) % 1'000'000, kChainStart + epoch, Mix(13, block), (last - first) * 300,
                 Hash(14, block), Hash(15, block), Hash(0, block));
  // The pivot refers to the other blocks of its epoch.
  for (uint64_t other = 0; in_epoch == blocks - 1 && other < in_epoch; ++other) {
    fmt::format_to(std::back_inserter(line), "{}\"{}\"", other == 0 ? "" : ",", BlockHash(epoch * blocks + other));
  }
  line += R"(],"transactions":[)";
  uint64_t index = 0;
  const auto add = [&](uint64_t transaction) {
    if (index > 0) line += ',';
    AddTransaction(transaction, {.block = block, .index = index}, line);
    ++index;
  };
  const uint64_t before = epoch * options_.epoch_transactions;  // transactions of earlier epochs
  for (uint64_t i = first; i < last; ++i) add(before + i);
  if (in_epoch == 0 && before > 0) add(before - 1);
  line += "]}";
}

// Of all transactions of one epoch.
void ExplorerChain::AddReceipts(uint64_t epoch, std::string& line) const {
  const uint64_t first = epoch * options_.epoch_transactions;
  for (uint64_t i = first; i < first + options_.epoch_transactions; ++i) {
    fmt::format_to(std::back_inserter(line),
                   R"({}"{}":{{"epochNumber":"{:#x}","index":"{:#x}","gasUsed":"0x5208","outcomeStatus":"0x0",)"
                   R"("stateRoot":"{}","contractCreated":{},"logs":[]}})",
                   i == first ? "" : ",", TransactionHash(i), epoch, i - first, Hash(14, epoch),
                   creates_contract(i) ? fmt::format("\"{}\"", Address(9, i)) : "null");
  }
}

std::string ExplorerChain::Line(uint64_t epoch) const {
  std::string line;
  line.reserve((options_.epoch_transactions + 2 * options_.epoch_blocks) * 1000);
  fmt::format_to(std::back_inserter(line), R"({{"epochNumber":"{:#x}","pivotHash":"{}","blocks":[)", epoch,
                 PivotHash(epoch));
  for (uint64_t block = 0; block < options_.epoch_blocks; ++block) {
    if (block > 0) line += ',';
    AddBlock(epoch, epoch * options_.epoch_blocks + block, line);
  }
  line += ']';
  const uint64_t delay = options_.receipts == ExplorerReceipts::kLate ? kReceiptDelay : 0;
  if (options_.receipts != ExplorerReceipts::kNone && epoch >= delay) {
    line += R"(,"receipts":{)";
    AddReceipts(epoch - delay, line);
    line += '}';
  }
  return line + "}";
}

}  // namespace braid::bench
