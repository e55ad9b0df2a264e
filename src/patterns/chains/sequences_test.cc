// One sequence in two chains: refused by the process that has just appended the first, found by every verification.
#include "patterns/chains/sequences.h"

#include <gmock/gmock.h>

#include "patterns/chains/testing.h"

namespace braid::chains {
namespace {

using ::testing::HasSubstr;

class UniqueSequencesTest : public ChainsStoreTest {
 protected:
  std::unique_ptr<Chains> OpenUnique() {
    ChainsOptions options = Options();
    options.unique_sequences = true;
    return Open(options);
  }
};
INSTANTIATE_ON_STORES(UniqueSequencesTest);

TEST_P(UniqueSequencesTest, ASecondRecordOfASequenceBreaksItsChains) {
  const auto chains = OpenUnique();
  ASSERT_OK(AppendOne(*chains, RecordOf(0, 1)));
  const Status second = AppendOne(*chains, RecordOf(1, 1));
  EXPECT_EQ(second.code(), Code::kChainBroken);
  EXPECT_THAT(second.ToString(), HasSubstr("sequence 1 is a record of chain 0"));
  ChainRecord shared = RecordOf(2, 1);
  shared.also = {3};
  EXPECT_EQ(AppendOne(*chains, shared).code(), Code::kChainBroken);
  for (const int64_t chain : {1, 2, 3}) EXPECT_EQ(AppendOne(*chains, RecordOf(chain, 2)).code(), Code::kChainHalted);
  EXPECT_OK(AppendOne(*chains, RecordOf(0, 2)));
  EXPECT_OK(AppendOne(*chains, RecordOf(0, 1)));  // stored already
  ExpectSound(*chains);
}

TEST_P(UniqueSequencesTest, VerificationFindsWhatSeveralProcessesAppended) {
  ChainRecord shared = RecordOf(4, 9);
  shared.also = {2, 3};
  for (const ChainRecord& record :
       {RecordOf(0, 1), RecordOf(1, 1), RecordOf(2, 1), RecordOf(1, 2), shared, RecordOf(5, 9), RecordOf(5, 10)}) {
    ASSERT_OK(AppendOne(*Open(), record));
  }
  ExpectSound(*Open());  // of chains that each have their own sequences
  const auto report = OpenUnique()->Verify({});
  ASSERT_OK(report);
  std::vector<std::pair<int64_t, int64_t>> found;
  for (const ChainDamage& damage : report->damage) found.emplace_back(damage.chain, damage.sequence);
  EXPECT_THAT(found, ::testing::ElementsAre(std::pair(1, 1), std::pair(2, 1), std::pair(5, 9)));
  EXPECT_THAT(report->damage[0].what, HasSubstr("is a record of chain 0 too"));
  EXPECT_EQ(report->damaged, 3);
}

TEST(RecentSequencesTest, KeepsTheLatest) {
  RecentSequences recent;
  for (int64_t sequence = 1; sequence <= 1'000'000; ++sequence) EXPECT_EQ(recent.Claim(sequence, 1), std::nullopt);
  EXPECT_EQ(recent.Claim(999'999, 2), 1);
  EXPECT_EQ(recent.Claim(999'999, 1), std::nullopt);
  EXPECT_EQ(recent.Claim(1, 2), std::nullopt);  // too long ago to be told
  EXPECT_EQ(recent.Claim(1'000'000, 2), 1);
}

}  // namespace
}  // namespace braid::chains
