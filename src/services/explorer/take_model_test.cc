// D6 as a property: after any takes and pops the index is that of the surviving epochs alone, document by document.
#include "base/testing/testing.h"
#include "services/explorer/testing/fixture.h"

namespace braid::explorer::testkit {
namespace {

class TakeModelTest : public IndexTest {
 protected:
  static constexpr int kSteps = braid::test::Rounds(150, 50);

  std::string PickAccount() { return AddressOf('a', random_.Below(6)); }

  TransactionDraft MakeTransaction() {
    TransactionDraft one{.hash = HashOf('t', next_++), .from = PickAccount()};
    if (random_.Chance(4, 5)) one.to = PickAccount();
    if (random_.Chance(1, 8)) one.created = random_.Chance(1, 4) ? PickAccount() : AddressOf('c', random_.Below(4));
    if (random_.Chance(1, 2)) one.value = HexText(random_.Next());
    return one;
  }

  BlockDraft MakeBlock(bool fresh) {
    // Some that were popped come again, in an epoch of another branch, but not as its pivot: that would be the same
    // epoch.
    if (!fresh && !popped_.empty() && random_.Chance(1, 3)) {
      const size_t place = random_.Below(popped_.size());
      BlockDraft block = popped_[place];
      popped_.erase(popped_.begin() + static_cast<ptrdiff_t>(place));
      return block;
    }
    BlockDraft block{.hash = HashOf('b', next_++), .miner = AddressOf('m', random_.Below(5))};
    block.difficulty = (Big{random_.Next()} << random_.Below(40)) + 1;
    block.timestamp += next_;
    if (random_.Chance(1, 3)) block.referees.push_back(HashOf('b', random_.Below(next_)));
    const uint64_t count = random_.Chance(1, 20) ? 130 : random_.Below(5);
    std::set<std::string> here;
    for (uint64_t i = 0; i < count; ++i) {
      const bool again = !known_.empty() && random_.Chance(1, 4);
      const TransactionDraft one = again ? known_[random_.Below(known_.size())] : MakeTransaction();
      if (!here.insert(one.hash).second) continue;
      if (!again) known_.push_back(one);
      block.transactions.push_back(one);
    }
    return block;
  }

  /// Of transactions of this epoch and of those before; some once more.
  void AddReceipts(const std::vector<EpochDraft>& before, EpochDraft& epoch) {
    std::vector<std::string> hashes;
    const auto collect = [&](const EpochDraft& one) {
      for (const BlockDraft& block : one.blocks) {
        for (const TransactionDraft& each : block.transactions) hashes.push_back(each.hash);
      }
    };
    collect(epoch);
    for (size_t i = before.size(); i-- > 0 && i + 4 > before.size();) collect(before[i]);
    std::set<std::string> given;
    for (uint64_t i = random_.Below(4); i > 0 && !hashes.empty(); --i) {
      ReceiptDraft receipt{.transaction = hashes[random_.Below(hashes.size())], .status = HexText(random_.Below(3))};
      if (random_.Chance(1, 2)) {
        receipt.created = random_.Chance(1, 4) ? PickAccount() : AddressOf('c', random_.Below(4));
      }
      if (given.insert(receipt.transaction).second) epoch.receipts.push_back(receipt);
    }
  }

  EpochDraft MakeEpoch(const std::vector<EpochDraft>& before) {
    EpochDraft epoch{.number = 3};
    if (!before.empty()) epoch = {.number = before.back().number + 1, .parent = before.back().hash()};
    for (uint64_t i = 1 + random_.Below(3); i > 0; --i) epoch.blocks.push_back(MakeBlock(i == 1));
    AddReceipts(before, epoch);
    return epoch;
  }

  void Cut(size_t count) {
    for (; count > 0; --count) {
      for (const BlockDraft& block : chain_.back().blocks) popped_.push_back(block);
      chain_.pop_back();
    }
  }

  void GrowSome() {
    std::vector<EpochDraft> given;
    // Duplicates of what is stored in front.
    for (size_t i = chain_.size() - std::min<size_t>(chain_.size(), random_.Below(3)); i < chain_.size(); ++i) {
      given.push_back(chain_[i]);
    }
    for (uint64_t i = 1 + random_.Below(3); i > 0; --i) {
      chain_.push_back(MakeEpoch(chain_));
      given.push_back(chain_.back());
    }
    ASSERT_OK(TakeAll(given));
  }
  void ForkSome() {
    if (chain_.empty()) return;
    const size_t depth = 1 + random_.Below(std::min<size_t>(chain_.size(), 4));
    const std::vector<EpochDraft> old(chain_.end() - static_cast<ptrdiff_t>(depth), chain_.end());
    Cut(depth);
    chain_.push_back(MakeEpoch(chain_));
    ASSERT_OK(TakeAll({chain_.back()}));
    if (!random_.Chance(1, 3)) return;
    // And back.
    Cut(1);
    for (const EpochDraft& epoch : old) chain_.push_back(epoch);
    popped_.clear();  // some of them are in the chain again
    ASSERT_OK(TakeAll(old));
  }
  void PopSome() {
    const size_t depth = random_.Below(std::min<size_t>(chain_.size(), random_.Chance(1, 10) ? 1000 : 3) + 1);
    ASSERT_OK(explorer_->Pop(static_cast<int64_t>(depth)));
    Cut(depth);
  }
  void RefuseSome() {
    EpochDraft bad = MakeEpoch(chain_);
    switch (random_.Below(3)) {
      case 0: bad.receipts.push_back({.transaction = HashOf('t', 1'000'000'000)}); break;
      case 1:
        if (chain_.empty()) return;
        bad.number += 1 + static_cast<int64_t>(random_.Below(3));
        break;
      default:
        if (chain_.empty()) return;
        bad.blocks.insert(bad.blocks.begin(), chain_[random_.Below(chain_.size())].blocks[0]);
    }
    EXPECT_FALSE(TakeAll({bad}).ok());
  }

  Random random_{braid::test::Seed()};
  uint64_t next_ = 0;
  std::vector<EpochDraft> chain_;
  std::vector<BlockDraft> popped_;
  std::vector<TransactionDraft> known_;
};

TEST_P(TakeModelTest, AnyTakesAndPopsLeaveWhatTheSurvivorsAloneMake) {
  for (int step = 0; step < kSteps && !HasFailure(); ++step) {
    SCOPED_TRACE(StrCat("step ", step));
    const uint64_t dice = random_.Below(100);
    if (dice < 50) {
      GrowSome();
    } else if (dice < 75) {
      ForkSome();
    } else if (dice < 85) {
      PopSome();
    } else if (dice < 97) {
      RefuseSome();
    } else {
      explorer_.reset();
      store_.Restart();
      Reopen({});
    }
    if (step % 10 == 0) ExpectIndexOf(chain_);
  }
  ExpectIndexOf(chain_);
  const std::string digest = VerifiedDigest(chain_);
  ASSERT_OK(explorer_->Pop(static_cast<int64_t>(chain_.size())));
  ExpectIndexOf({});
  ASSERT_OK(TakeAll(chain_));
  EXPECT_EQ(VerifiedDigest(chain_), digest);
}

INSTANTIATE_ON_STORES(TakeModelTest);

}  // namespace
}  // namespace braid::explorer::testkit
