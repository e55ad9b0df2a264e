#include "http/live.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "base/mutex.h"
#include "base/strings.h"
#include "http/live_sample.h"

namespace braid::http {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// Counts what it is woken for.
class LiveListener {
 public:
  explicit LiveListener(std::unique_ptr<Feed> feed) : feed_(std::move(feed)) {
    feed_->Listen([this] {
      const MutexLock lock(mu_);
      ++wakes_;
      woken_.NotifyAll();
    });
  }

  // What came up to the `count`-th sample from the start.
  std::string Await(int count) {
    {
      MutexLock lock(mu_);
      woken_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return wakes_ >= count; });
    }
    std::string text;
    feed_->Take(text);
    return text;
  }

 private:
  Mutex mu_;
  CondVar woken_;
  int wakes_ BRAID_GUARDED_BY(mu_) = 0;
  const std::unique_ptr<Feed> feed_;  // last: it wakes no more once it is gone
};

// The numbers that the samples carry.
std::vector<std::string> NumbersIn(std::string_view text) {
  std::vector<std::string> numbers;
  for (const std::string_view line : Split(text, '\n')) {
    if (line.starts_with("data: ")) numbers.emplace_back(line.substr(6));
  }
  return numbers;
}

TEST(LiveTest, SamplesOnlyOnceSomebodyListens) {
  std::atomic<int> samples = 0;
  Live live({.period = milliseconds(1)}, [&] { return StrCat(++samples); });
  EXPECT_EQ(samples, 0);
  LiveListener listener(live.Listen(0, 0));
  EXPECT_THAT(listener.Await(3), StartsWith("retry: "));
}

TEST(LiveTest, ListenersShareTheSamplesAndMissNone) {
  std::atomic<int> samples = 0;
  Live live({.period = milliseconds(1)}, [&] { return StrCat(++samples); });
  LiveListener first(live.Listen(0, 0));
  LiveListener second(live.Listen(0, 0));
  std::string text;
  while (NumbersIn(text).size() < 5) text += first.Await(1);
  std::vector<std::string> wanted;
  for (int i = 1; i <= 5; ++i) wanted.push_back(StrCat(i));
  auto numbers = NumbersIn(text);
  numbers.resize(5);
  EXPECT_EQ(numbers, wanted);
  EXPECT_THAT(second.Await(1), HasSubstr("data: "));
}

TEST(LiveTest, OldSamplesAreForgottenAndNewListenersGetTheHistoryTheyAskFor) {
  std::atomic<int> samples = 0;
  Live live({.period = milliseconds(1), .kept = 4}, [&] {
    if (samples == 6) return StrCat(6);  // from here on always the same
    return StrCat(++samples);
  });
  {
    LiveListener listener(live.Listen(0, 0));
    listener.Await(20);
  }
  std::string text;
  live.Listen(0, 2)->Take(text);
  EXPECT_THAT(NumbersIn(text), ElementsAre("6", "6"));
  text.clear();
  live.Listen(0, 100)->Take(text);
  EXPECT_EQ(NumbersIn(text).size(), 4U);
}

TEST(LiveTest, AListenerThatComesBackGoesOnWhereItWas) {
  std::atomic<int> samples = 0;
  Live live({.period = milliseconds(1)}, [&] { return StrCat(++samples); });
  std::string text;
  {
    LiveListener listener(live.Listen(0, 0));
    text = listener.Await(3);
  }
  const size_t id = text.rfind("id: ") + 4;
  const int64_t seen = std::stoll(text.substr(id));
  const int last = std::stoi(NumbersIn(text).back());
  LiveListener again(live.Listen(seen, 0));
  std::string more = again.Await(1);
  EXPECT_EQ(NumbersIn(more).front(), StrCat(last + 1));
  // A number of the future, from a clock that was set back since.
  LiveListener late(live.Listen(INT64_MAX, 0));
  EXPECT_THAT(late.Await(1), HasSubstr("data: "));
}

TEST(LiveSampleTest, PercentilesAreBoundsOfBuckets) {
  const std::vector<LatencyBucket> buckets = {{0, 50}, {100, 45}, {1000, 4}, {10'000, 1}};
  EXPECT_EQ(PercentileOf(buckets, 0.50), 100);
  EXPECT_EQ(PercentileOf(buckets, 0.95), 1000);
  EXPECT_EQ(PercentileOf(buckets, 0.99), 10'000);
  EXPECT_EQ(PercentileOf(buckets, 1.0), 10'000);
  EXPECT_EQ(PercentileOf({{0, 0}, {100, 0}}, 0.5), 0);
  EXPECT_EQ(PercentileOf({}, 0.5), 0);
}

}  // namespace
}  // namespace braid::http
