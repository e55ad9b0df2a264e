#include "services/explorer/source/chain_generator.h"

#include <algorithm>

#include "base/assert.h"
#include "base/strings.h"
#include "services/explorer/source/range.h"

namespace braid::explorer::source {
namespace {

// The number of epochs within which a transaction is carried again.
constexpr size_t kSharedEpochs = 4;

std::string HexOf(Random& random, size_t digits) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "0x";
  text.reserve(digits + 2);
  while (text.size() < digits + 2) {
    uint64_t bits = random.Next();
    for (int i = 0; i < 16 && text.size() < digits + 2; ++i, bits >>= 4) text += kDigits[bits & 15];
  }
  return text;
}

}  // namespace

Status ChainOptions::Validate() const {
  constexpr int64_t kNumberMax = int64_t{1} << 40;
  BRAID_CHECK_OK(CheckRange("first_epoch", first_epoch, 0, kNumberMax));
  BRAID_CHECK_OK(CheckRange("switch_percent", switch_percent, 0, 90));
  BRAID_CHECK_OK(CheckRange("switch_depth_max", switch_depth_max, 1, 1000));
  BRAID_CHECK_OK(CheckRange("blocks_max", blocks_max, 1, 1000));
  BRAID_CHECK_OK(CheckRange("transactions_max", transactions_max, 0, 200'000));
  BRAID_CHECK_OK(CheckRange("shared_percent", shared_percent, 0, 90));
  BRAID_CHECK_OK(CheckRange("accounts", accounts, 1, UINT32_MAX));
  BRAID_CHECK_OK(CheckRange("miners", miners, 1, UINT32_MAX));
  return CheckRange("receipts_after", receipts_after, 0, 1000);
}

ChainGenerator::ChainGenerator(const ChainOptions& options, std::vector<TransactionPtr> real)
    : options_(options), real_(std::move(real)), random_(options.seed) {}

std::string ChainGenerator::RandomHex(size_t digits) { return HexOf(random_, digits); }

// The address of the n-th account or miner.
std::string ChainGenerator::AddressOf(char kind, uint64_t n) const {
  Random random(options_.seed * 1'000'003 + n * 2 + static_cast<uint64_t>(kind));
  return HexOf(random, 40);
}

TransactionPtr ChainGenerator::NewTransaction() {
  if (!waiting_.empty()) {
    TransactionPtr transaction = std::move(waiting_.front());
    waiting_.pop_front();
    return transaction;
  }
  if (real_used_ < real_.size()) return real_[real_used_++];
  // Few accounts have most of the transactions.
  const double unit = random_.Unit();
  const auto sender = static_cast<uint64_t>(unit * unit * options_.accounts);
  const bool creates = random_.Chance(1, 20);
  const uint64_t receiver = random_.Below(options_.accounts);
  return std::make_shared<const MadeTransaction>(MadeTransaction{.hash = RandomHex(64),
                                                                 .from = AddressOf('a', sender),
                                                                 .to = creates ? "" : AddressOf('a', receiver),
                                                                 .value = ToHex(random_.Next() >> random_.Below(64)),
                                                                 .gas = "0x5208",
                                                                 .gas_price = ToHex(1 + random_.Below(1'000'000'000)),
                                                                 .nonce = ToHex(random_.Below(100'000)),
                                                                 .data = creates ? RandomHex(64) : "0x",
                                                                 .r = RandomHex(64),
                                                                 .s = RandomHex(64),
                                                                 .v = ToHex(random_.Below(2))});
}

// One that an earlier block carries; null if there is none.
TransactionPtr ChainGenerator::SharedTransaction(const MadeEpoch& epoch) {
  const size_t epochs = std::min(kSharedEpochs, chain_.size());
  const size_t back = random_.Below(epochs + 1);  // 0: this epoch
  BRAID_ASSERT(back <= chain_.size());
  const MadeEpoch& other = back == 0 ? epoch : *chain_[chain_.size() - back];
  const size_t blocks = other.blocks.size() - (back == 0 ? 1 : 0);  // not the one that is being filled
  if (blocks == 0) return nullptr;
  const MadeBlock& block = other.blocks[random_.Below(blocks)];
  if (block.transactions.empty()) return nullptr;
  const TransactionPtr& transaction = block.transactions[random_.Below(block.transactions.size())];
  return in_block_.contains(transaction.get()) ? nullptr : transaction;
}

MadeReceipt ChainGenerator::ReceiptOf(const MadeEpoch& epoch, TransactionPtr transaction) {
  BRAID_ASSERT(!epoch.blocks.empty() && transaction != nullptr);
  MadeReceipt receipt{.transaction = std::move(transaction),
                      .block = epoch.blocks.size() - 1,
                      .index = epoch.blocks.back().transactions.size(),
                      .gas_used = static_cast<int64_t>(21'000 + random_.Below(100'000)),
                      .failed = random_.Chance(1, 50)};
  if (receipt.transaction->to.empty() && !receipt.failed) receipt.contract = RandomHex(40);
  return receipt;
}

// From 32 bits to more than 64. In two statements: in which order arguments are evaluated is up to the compiler, and a
// seed makes the same chain with each.
std::string ChainGenerator::NewDifficulty() {
  const std::string rest = RandomHex(8 + random_.Below(12)).substr(2);
  return StrCat(ToHex(1 + random_.Below(15)), rest);
}

MadeBlock ChainGenerator::NewBlock(int64_t height, const std::string& parent) {
  now_ += static_cast<int64_t>(random_.Below(2));
  return MadeBlock{.hash = RandomHex(64),
                   .parent = parent,
                   .height = height,
                   .miner = AddressOf('m', random_.Below(options_.miners)),
                   .difficulty = NewDifficulty(),
                   .timestamp = now_,
                   .nonce = ToHex(random_.Next()),
                   .state_root = RandomHex(64),
                   .receipts_root = RandomHex(64),
                   .transactions_root = RandomHex(64)};
}

// Transactions of the newest block of the epoch, and their receipts if it is the first to carry them.
void ChainGenerator::FillBlock(MadeEpoch& epoch) {
  const uint64_t count = random_.Below(uint64_t{options_.transactions_max} + 1);
  in_block_.clear();
  for (uint64_t i = 0; i < count; ++i) {
    TransactionPtr transaction;
    if (random_.Chance(options_.shared_percent, 100)) transaction = SharedTransaction(epoch);
    if (transaction == nullptr) {
      transaction = NewTransaction();
      epoch.receipts.push_back(ReceiptOf(epoch, transaction));
    }
    in_block_.insert(transaction.get());
    epoch.blocks.back().transactions.push_back(std::move(transaction));
  }
}

void ChainGenerator::Grow(Step& step) {
  auto epoch = std::make_shared<MadeEpoch>();
  const std::string parent = chain_.empty() ? "0x0000000000000000000000000000000000000000000000000000000000000000"
                                            : chain_.back()->pivot().hash;
  epoch->number = chain_.empty() ? options_.first_epoch : chain_.back()->number + 1;
  const uint64_t blocks = 1 + random_.Below(options_.blocks_max);
  std::vector<std::string> referees;
  for (uint64_t i = 0; i < blocks; ++i) {
    // A block that is not of the pivot chain may hang below it.
    const bool is_pivot = i + 1 == blocks;
    const auto below = static_cast<int64_t>(is_pivot ? 0 : random_.Below(3));
    epoch->blocks.push_back(NewBlock(std::max<int64_t>(0, epoch->number - below), parent));
    if (is_pivot) epoch->blocks.back().referees = referees;
    referees.push_back(epoch->blocks.back().hash);
    FillBlock(*epoch);
  }
  chain_.push_back(epoch);
  begun_ = true;
  const auto after = static_cast<size_t>(options_.receipts_after);
  step.grown.push_back(
      {.epoch = epoch, .executed = chain_.size() > after ? chain_[chain_.size() - 1 - after] : nullptr});
}

ChainGenerator::Step ChainGenerator::Next() {
  Step step;
  const size_t kept =
      options_.switch_depth_max + std::max(static_cast<size_t>(options_.receipts_after), kSharedEpochs) + 1;
  if (begun_ && chain_.size() > 1 && random_.Chance(options_.switch_percent, 100)) {
    // The first epoch of all stays, and below the new ones there is what receipts and shared transactions need.
    const size_t most = std::min<size_t>(options_.switch_depth_max, chain_.size() - 1);
    step.popped = static_cast<int64_t>(1 + random_.Below(most));
    for (int64_t i = 0; i < step.popped; ++i) {
      for (const MadeReceipt& receipt : chain_.back()->receipts) waiting_.push_back(receipt.transaction);
      chain_.pop_back();
    }
    BRAID_ASSERT(!chain_.empty());  // the first epoch of all stays
  }
  for (int64_t i = 0; i <= step.popped; ++i) Grow(step);
  while (chain_.size() > kept) chain_.pop_front();
  return step;
}

}  // namespace braid::explorer::source
