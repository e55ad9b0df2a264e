// A store that fails: batches are tried again and nothing passes them (C4).
#include <thread>

#include "embedded/testing/stores.h"
#include "patterns/chains/testing.h"

namespace braid::chains {
namespace {

class ChainRetryTest : public ChainsStoreTest {
 protected:
  void SetUp() override {
    auto opened = Chains::Open(flaky_, Options());
    ASSERT_OK(opened);
    chains_ = *std::move(opened);
    ChainWritersOptions options;
    options.writers = 1;
    options.batch_records_max = 2;
    options.retry_first = std::chrono::milliseconds(1);
    options.retry_most = std::chrono::milliseconds(5);
    auto started = ChainWriters::Start(*chains_, options);
    ASSERT_OK(started);
    writers_ = *std::move(started);
    ASSERT_OK(writers_->Submit(RecordOf(1, 1))->get().status);
  }
  void AwaitRetries() {
    while (writers_->Figures()[0].retries < 3) std::this_thread::yield();
  }

  test::FlakyClients flaky_{store_.clients()};
  std::unique_ptr<Chains> chains_;
  std::unique_ptr<ChainWriters> writers_;
};
INSTANTIATE_ON_STORES(ChainRetryTest);

TEST_P(ChainRetryTest, WhatFailedIsTriedAgainInOrder) {
  flaky_.Fail(true);
  std::vector<std::future<Appended>> answers;
  for (int64_t i = 2; i <= 7; ++i) answers.push_back(*writers_->Submit(RecordOf(1, i)));
  AwaitRetries();
  EXPECT_FALSE(writers_->Figures()[0].last_error.empty());
  flaky_.Fail(false);
  for (auto& answer : answers) EXPECT_OK(answer.get().status);
  EXPECT_TRUE(writers_->Figures()[0].last_error.empty());
  EXPECT_EQ(Merged(*chains_).size(), 7u);
  ExpectSound(*chains_);
}

TEST_P(ChainRetryTest, AStopThatRunsOutOfPatienceTellsEachRecord) {
  flaky_.Fail(true);
  std::vector<std::future<Appended>> answers;
  for (int64_t i = 2; i <= 7; ++i) answers.push_back(*writers_->Submit(RecordOf(1, i)));
  AwaitRetries();
  EXPECT_EQ(writers_->Stop(std::chrono::milliseconds(10)).code(), Code::kHostUnreachable);
  for (auto& answer : answers) EXPECT_EQ(answer.get().status.code(), Code::kHostUnreachable);
  flaky_.Fail(false);
  EXPECT_EQ(Merged(*chains_).size(), 1u);
  ExpectSound(*chains_);
}

// Nobody waits for a store that cannot come back.
TEST_P(ChainRetryTest, AStoreThatFailedForGoodIsNotTriedAgain) {
  EXPECT_OK(writers_->failure());
  flaky_.FailForGood();
  std::vector<std::future<Appended>> answers;
  for (int64_t i = 2; i <= 7; ++i) answers.push_back(*writers_->Submit(RecordOf(1, i)));
  for (auto& answer : answers) EXPECT_EQ(answer.get().status.code(), Code::kHostUnreachable);
  EXPECT_EQ(writers_->failure().code(), Code::kHostUnreachable);
  EXPECT_EQ(writers_->Submit(RecordOf(2, 8))->get().status.code(), Code::kHostUnreachable);
  flaky_.Fail(false);  // what comes later must not pass what was lost
  EXPECT_EQ(writers_->Submit(RecordOf(1, 9))->get().status.code(), Code::kHostUnreachable);
  EXPECT_EQ(writers_->Stop().code(), Code::kHostUnreachable);
  EXPECT_EQ(Merged(*chains_).size(), 1u);
}

}  // namespace
}  // namespace braid::chains
