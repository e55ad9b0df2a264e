// Readers beside reorganisations: every answer is what a recount of the chain that it names gives, so that nobody ever
// sees a part of an epoch, or parts of two branches.
#include <atomic>
#include <thread>

#include "base/testing/testing.h"
#include "embedded/testing/stores.h"
#include "services/explorer/collections.h"
#include "services/explorer/testing/checking_reader.h"

namespace braid::explorer {
namespace {

using forks::CheckingReader;
using forks::ForkBlock;
using forks::ForkEpochPtr;
using forks::ForkMaker;
using forks::ForkRegistry;
using forks::Recount;

constexpr int64_t kReadersWindow = 9;  // blocks; small, so that it moves with every epoch
constexpr int kReaders = 2;
constexpr int64_t kReadersTransactionMax = 1000;  // documents

constexpr int kSwitches = test::Rounds(1000, 60);

/// Readers on threads of their own, until the first wrong answer.
class CheckingReaders {
 public:
  CheckingReaders(Explorer& explorer, ForkRegistry& registry, const ForkMaker& maker, uint64_t seed) {
    for (uint64_t i = 0; i < kReaders; ++i) {
      readers_.push_back(std::make_unique<CheckingReader>(explorer, registry, maker, seed + i));
    }
    for (uint64_t i = 0; i < kReaders; ++i) {
      threads_.emplace_back([this, i] {
        while (!stop_.load() && wrong_[i].empty()) wrong_[i] = readers_[i]->Ask();
        if (!wrong_[i].empty()) failed_ = true;
      });
    }
  }
  ~CheckingReaders() { End(); }

  bool failed() const { return failed_.load(); }
  void Finish() {
    End();
    for (size_t i = 0; i < readers_.size(); ++i) {
      EXPECT_EQ(wrong_[i], "") << "reader " << i;
      answers += readers_[i]->answers();
      reorganised += readers_[i]->reorganised();
      pivots.insert(readers_[i]->pivots().begin(), readers_[i]->pivots().end());
    }
  }

  uint64_t answers = 0;
  uint64_t reorganised = 0;
  std::set<std::string> pivots;  // at which something was read

 private:
  void End() {
    stop_ = true;
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

  std::atomic<bool> stop_ = false;
  std::atomic<bool> failed_ = false;
  std::string wrong_[kReaders];
  std::vector<std::unique_ptr<CheckingReader>> readers_;
  std::vector<std::thread> threads_;
};

class ExplorerReadersTest : public test::StoreTest {
 protected:
  void SetUp() override {
    auto opened = Explorer::Open(store_.clients(), {.database = store_.database(),
                                                    .window_blocks = kReadersWindow,
                                                    .transaction_documents_max = kReadersTransactionMax});
    ASSERT_OK(opened);
    explorer_ = *std::move(opened);
  }

  // Takes in a branch; its epochs can be read about from the moment that they are given.
  void Take(const std::vector<ForkEpochPtr>& branch) {
    std::vector<Epoch> epochs;
    for (const ForkEpochPtr& epoch : branch) {
      registry_.Add(epoch);
      auto parsed = ParseEpoch(LineOf(*epoch));
      ASSERT_OK(parsed);
      epochs.push_back(*std::move(parsed));
    }
    for (std::span<const Epoch> rest = epochs; !rest.empty();) {
      const auto taken = explorer_->Take(rest);
      ASSERT_OK(taken);
      ASSERT_GT(taken->taken, 0);
      rest = rest.subspan(static_cast<size_t>(taken->taken));
    }
  }

  // Epochs after the chain's tip, without the newest `depth` of it.
  std::vector<ForkEpochPtr> MakeBranch(size_t depth, size_t length, const ForkMaker::Size& size = {}) {
    std::vector<ForkBlock> spare;
    for (size_t i = chain_.size() - depth; i < chain_.size(); ++i) {
      spare.insert(spare.end(), chain_[i]->blocks.begin(), chain_[i]->blocks.end() - 1);
    }
    std::vector<ForkEpochPtr> branch;
    ForkEpochPtr parent = depth < chain_.size() ? chain_[chain_.size() - depth - 1] : nullptr;
    while (branch.size() < length) branch.push_back(parent = maker_.Make(parent, size, spare));
    return branch;
  }

  // Replaces the newest `depth` epochs of the chain; gives those back that are no more.
  std::vector<ForkEpochPtr> Switch(size_t depth, const std::vector<ForkEpochPtr>& branch) {
    std::vector<ForkEpochPtr> popped(chain_.end() - static_cast<std::ptrdiff_t>(depth), chain_.end());
    chain_.resize(chain_.size() - depth);
    chain_.insert(chain_.end(), branch.begin(), branch.end());
    Take(branch);
    return popped;
  }

  // A switch to a new branch, or back to the one that was left last.
  void SwitchSomehow() {
    Random& random = maker_.random();
    if (!left_.empty() && random.Chance(1, 4)) {
      left_ = Switch(left_depth_, left_);
      left_depth_ = 0;  // back again only after another switch
      left_.clear();
      return;
    }
    const size_t depth = 1 + random.Below(4);
    // The chain stays between 10 and 40 epochs, so that a recount is quick.
    const size_t longer = chain_.size() < 10 ? 2 : chain_.size() > 40 ? 0 : random.Below(3);
    const std::vector<ForkEpochPtr> branch = MakeBranch(depth, std::max<size_t>(1, depth + longer - 1));
    left_ = Switch(depth, branch);
    left_depth_ = branch.size();
  }

  std::unique_ptr<Explorer> explorer_;
  const uint64_t seed_ = test::Seed();
  ForkMaker maker_{seed_};
  ForkRegistry registry_;
  std::vector<ForkEpochPtr> chain_;
  std::vector<ForkEpochPtr> left_;  // the branch before the last switch
  size_t left_depth_ = 0;           // what has to go for it
};
INSTANTIATE_ON_STORES(ExplorerReadersTest);

TEST_P(ExplorerReadersTest, NeverSeeAHalfAppliedEpochDuringAThousandSwitches) {
  Switch(0, MakeBranch(0, 15));
  CheckingReaders readers(*explorer_, registry_, maker_, seed_);
  int switches = 0;
  for (; switches < kSwitches && !readers.failed() && !HasFatalFailure(); ++switches) SwitchSomehow();
  readers.Finish();
  EXPECT_EQ(switches, kSwitches);
  // They were there while it happened.
  EXPECT_GT(readers.answers, static_cast<uint64_t>(kSwitches));
  EXPECT_GT(readers.pivots.size(), static_cast<size_t>(kSwitches / 5));
  EXPECT_GT(readers.reorganised, static_cast<uint64_t>(kSwitches / 100));
  const auto found = explorer_->Verify(nullptr);
  ASSERT_OK(found);
  EXPECT_TRUE(found->timeline.ok()) << found->timeline.damage.front().what;
  EXPECT_EQ(found->timeline.tip.hash, chain_.back()->hash());
  EXPECT_EQ(static_cast<size_t>(found->transactions), Recount(chain_).transactions.size());
}

// Otherwise the readers would prove nothing.
TEST_P(ExplorerReadersTest, NoticeADocumentThatIsMissing) {
  Switch(0, MakeBranch(0, 4, {.blocks_max = 2, .transactions_max = 3, .exact = true}));
  CheckingReader reader(*explorer_, registry_, maker_, seed_);
  for (int i = 0; i < 300; ++i) ASSERT_EQ(reader.Ask(), "");
  constexpr std::pair<const char*, const char*> kQueryOf[] = {
      {kAccountTransactions, "account at "},          {kMinerBlocks, "miner at "},        {kMiners, "miners at "},
      {kBlockTransactions, "block-transactions at "}, {kTransactions, "transaction at "}, {kBlocks, "block at "}};
  for (const auto& [collection, query] : kQueryOf) {
    const client::Bson any;
    const Client client = store_.clients().Acquire();
    const auto handle = client::CollectionOf(client.get(), store_.database(), collection);
    bson_error_t error{};
    ASSERT_TRUE(mongoc_collection_delete_one(handle.get(), any.get(), nullptr, nullptr, &error)) << error.message;
    bool noticed = false;
    for (int i = 0; i < 10'000 && !noticed; ++i) noticed = reader.Ask().starts_with(query);
    EXPECT_TRUE(noticed) << collection;
  }
}

// Such an epoch is added, and removed, in several transactions.
TEST_P(ExplorerReadersTest, NeverSeePartOfAnEpochThatIsLargerThanATransaction) {
  Switch(0, MakeBranch(0, 3));
  const ForkMaker::Size large{.blocks_max = 2, .transactions_max = 300, .exact = true};
  std::vector<ForkEpochPtr> branch = MakeBranch(1, 1, large);
  const Recount alone(branch);
  size_t documents = alone.transactions.size();
  for (const auto& [account, entries] : alone.accounts) documents += entries.size();
  ASSERT_GT(documents, static_cast<size_t>(kReadersTransactionMax));
  CheckingReaders readers(*explorer_, registry_, maker_, seed_);
  for (int i = 0; i < test::Rounds(10, 3) && !readers.failed() && !HasFatalFailure(); ++i) {
    branch = Switch(1, branch);  // to the large one, and back to the small one
    branch = Switch(1, branch);
  }
  readers.Finish();
  EXPECT_GE(readers.pivots.size(), 2U);
  const auto found = explorer_->Verify(nullptr);
  ASSERT_OK(found);
  EXPECT_TRUE(found->timeline.ok()) << found->timeline.damage.front().what;
}

}  // namespace
}  // namespace braid::explorer
