#include "cli/shop/line_runner.h"

#include <atomic>
#include <map>

#include "base/mutex.h"
#include "base/random.h"
#include "base/strings.h"
#include "base/testing/testing.h"

namespace braid::cli::shop {
namespace {

using braid::shop::Touched;

// Lines are "NUMBER KEY KEY?…", a key with ? is shared; the result of a line is the line.
std::vector<Touched> KeysOfLine(std::string_view line) {
  std::vector<Touched> touched;
  const auto words = Split(line, ' ');
  for (size_t i = 1; i < words.size(); ++i) {
    const bool shared = words[i].ends_with('?');
    touched.push_back({.key = std::string(words[i].substr(0, words[i].size() - shared)), .shared = shared});
  }
  return touched;
}

// Which lines of a key run at a moment, and which ran last.
class KeyWatch {
 public:
  void Enter(std::string_view line) {
    const MutexLock lock(mu_);
    for (const Touched& one : KeysOfLine(line)) {
      Key& key = keys_[one.key];
      if (one.shared ? key.writers > 0 : key.writers + key.readers > 0) ++overlaps_;
      ++(one.shared ? key.readers : key.writers);
      const int number = std::stoi(std::string(line));
      if (number < (one.shared ? key.last_writer : key.last)) ++disorders_;
      key.last = std::max(key.last, number);
      if (!one.shared) key.last_writer = number;
    }
  }
  void Leave(std::string_view line) {
    const MutexLock lock(mu_);
    for (const Touched& one : KeysOfLine(line)) --(one.shared ? keys_[one.key].readers : keys_[one.key].writers);
  }
  int faults() const { return overlaps_ + disorders_; }

 private:
  struct Key {
    int readers = 0;
    int writers = 0;
    int last = -1;
    int last_writer = -1;
  };
  Mutex mu_;
  std::map<std::string, Key> keys_;
  int overlaps_ = 0;
  int disorders_ = 0;
};

TEST(LineRunnerTest, KeepsTheOrderOfKeysAndOfResults) {
  Random random(test::Seed());
  KeyWatch watch;
  std::string printed;
  std::string expected;
  {
    LineRunner runner(
        8,
        [&](std::string_view line) {
          watch.Enter(line);
          std::this_thread::yield();
          watch.Leave(line);
          return std::string(line);
        },
        [&](std::string_view results) {
          printed += results;
          return Status();
        });
    for (int i = 0; i < 20'000; ++i) {
      std::string line = StrCat(i);
      // Up to three different keys.
      const uint64_t first = random.Below(6);
      for (uint64_t keys = random.Below(4); keys > 0; --keys) {
        line += StrCat(" k", (first + keys) % 6, random.Chance(1, 2) ? "?" : "");
      }
      ASSERT_TRUE(runner.Add(line, KeysOfLine(line)));
      expected += line + "\n";
    }
    EXPECT_OK(runner.Finish());
  }
  EXPECT_EQ(printed, expected);
  EXPECT_EQ(watch.faults(), 0);
}

TEST(LineRunnerTest, LinesWithoutACommonKeyRunSideBySide) {
  Mutex mu;
  CondVar changed;
  int running = 0;
  // Each waits for the other three: were they run one after another, none would end.
  LineRunner runner(
      4,
      [&](std::string_view line) {
        MutexLock lock(mu);
        ++running;
        changed.NotifyAll();
        const bool met =
            changed.WaitFor(lock, std::chrono::seconds(60), [&]() BRAID_REQUIRES(mu) { return running == 4; });
        return StrCat(line, met ? " met" : " alone");
      },
      [&](std::string_view results) {
        EXPECT_EQ(results.find("alone"), std::string_view::npos);
        return Status();
      });
  for (const char* line : {"0 a", "1 b", "2 c?", "3 c?"}) ASSERT_TRUE(runner.Add(line, KeysOfLine(line)));
  EXPECT_OK(runner.Finish());
}

TEST(LineRunnerTest, LineThatNamesAKeyTwiceDoesNotWaitForItself) {
  std::string printed;
  LineRunner runner(
      2, [](std::string_view line) { return std::string(line); },
      [&](std::string_view results) {
        printed += results;
        return Status();
      });
  for (const char* line : {"0 a a?", "1 a? a", "2 a"}) ASSERT_TRUE(runner.Add(line, KeysOfLine(line)));
  EXPECT_OK(runner.Finish());
  EXPECT_EQ(printed, "0 a a?\n1 a? a\n2 a\n");
}

TEST(LineRunnerTest, HoldsABoundedNumberOfLines) {
  std::atomic<bool> go = false;
  std::atomic<int> added = 0;
  std::atomic<int> printed = 0;
  LineRunner runner(
      2,
      [&](std::string_view) {
        go.wait(false);
        return std::string();
      },
      [&](std::string_view results) {
        printed += static_cast<int>(results.size());
        return Status();
      });
  constexpr int kLines = 50'000;
  std::thread adding([&] {
    for (int i = 0; i < kLines; ++i) {
      runner.Add("x", {});
      ++added;
    }
  });
  while (added < 4096) std::this_thread::yield();
  // The next Add() waits until a line is printed, and none is before `go`.
  EXPECT_EQ(added.load(), 4096);
  go = true;
  go.notify_all();
  adding.join();
  EXPECT_OK(runner.Finish());
  EXPECT_EQ(printed.load(), kLines);
}

TEST(LineRunnerTest, EndsWhenPrintingFails) {
  LineRunner runner(
      2, [](std::string_view line) { return std::string(line); },
      [](std::string_view) { return Status(Code::kOutOfDiskSpace, "full"); });
  bool more = true;
  while (more) more = runner.Add("0 a", KeysOfLine("0 a"));
  EXPECT_EQ(runner.Finish().code(), Code::kOutOfDiskSpace);
}

}  // namespace
}  // namespace braid::cli::shop
