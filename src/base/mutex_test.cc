#include "base/mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace braid {
namespace {

// A number that threads wait for and change.
class Level {
 public:
  void Raise() BRAID_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    Add(1);
    lock.Unlock();  // so that what has been woken does not find the lock taken
    changed_.NotifyAll();
    lock.Lock();
    Add(0);
  }
  // Lets others in between, and is called with the lock.
  void RaiseTwice() BRAID_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    Add(1);
    Pause();
    Add(1);
    changed_.NotifyAll();
  }
  void Await(int value) BRAID_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    changed_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return value_ >= value; });
  }
  bool AwaitFor(int value, CondVar::Clock::duration longest) BRAID_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return changed_.WaitFor(lock, longest, [&]() BRAID_REQUIRES(mu_) { return value_ >= value; });
  }

 private:
  void Add(int more) BRAID_REQUIRES(mu_) { value_ += more; }
  void Pause() BRAID_REQUIRES(mu_) {
    mu_.Unlock();
    mu_.Lock();
  }

  Mutex mu_;
  CondVar changed_;
  int value_ BRAID_GUARDED_BY(mu_) = 0;
};

TEST(MutexTest, WaitersSeeEveryChange) {
  Level level;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 100; ++n) level.Raise();
      for (int n = 0; n < 50; ++n) level.RaiseTwice();
    });
  }
  level.Await(800);
  EXPECT_TRUE(level.AwaitFor(800, std::chrono::seconds(0)));
  EXPECT_FALSE(level.AwaitFor(801, std::chrono::seconds(0)));
  for (std::thread& thread : threads) thread.join();
}

TEST(SharedMutexTest, ReadersMeetAndAWriterIsAlone) {
  SharedMutex mutex;
  int value = 0;
  {
    const ReaderLock first(mutex);
    std::thread([&] {
      const ReaderLock second(mutex);  // would wait for ever if readers shut each other out
      EXPECT_EQ(value, 0);
    }).join();
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 100; ++n) {
        const WriterLock lock(mutex);
        ++value;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(value, 400);
}

}  // namespace
}  // namespace braid
