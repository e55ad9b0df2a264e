// The profiler under threads: nobody waits for it, nothing is lost that it does not say, whatever is switched, dropped
// or read meanwhile.
#include "engine/commands/profiler.h"

#include <atomic>
#include <thread>
#include <vector>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/json.h"
#include "engine/bson/number.h"
#include "engine/commands/engine.h"
#include "engine/commands/parts.h"

namespace braid::commands {
namespace {

class ProfilerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto opened = Engine::Open({.directory = directory_.path(), .cache_bytes = 16u << 20});
    ASSERT_OK(opened);
    engine_ = *std::move(opened);
  }
  bson::Document Run(Client& client, const std::string& text) {
    const bson::Document body = bson::J(text);
    const Request request{.body = body, .sequences = {}, .name = body.view().begin()->name, .database = "test"};
    return std::move(engine_->Run(client, request).body);
  }
  int64_t Entries(Client& client) {
    return bson::Number::Of(Run(client, "{'count': 'system.profile'}").Find("n")).ToInt64Clamped();
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(ProfilerTest, EveryOperationOfManyThreadsIsWrittenOrCounted) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 50;
  Client client = engine_->Connect("test:1");
  Run(client, "{'create': 'system.profile', 'capped': true, 'size': 16777216}");
  Run(client, "{'profile': 2}");
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Client own = engine_->Connect(StrCat("thread:", t));
      for (int i = 0; i < kRounds; ++i) {
        Run(own, "{'update': 'c', 'updates': [{'q': {'_id': 1}, 'u': {'$inc': {'n': 1}}, 'upsert': true}]}");
        Run(own, "{'find': 'c', 'filter': {'n': {'$gt': 0}}}");
        if (i % 10 == 0) Entries(own);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const int64_t entries = Entries(client);
  const ProfileWriter::Figures figures = engine_->parts().profiler.writer().figures();
  EXPECT_EQ(entries, static_cast<int64_t>(figures.written));
  EXPECT_EQ(figures.written + figures.dropped, uint64_t{2 * kThreads * kRounds});
}

TEST_F(ProfilerTest, SwitchingAndDroppingMeanwhileDisturbsNobody) {
  std::atomic<bool> over{false};
  std::thread busy([&] {
    Client own = engine_->Connect("busy:1");
    while (!over) EXPECT_TRUE(bson::IsTruthy(Run(own, "{'insert': 'c', 'documents': [{}]}").Find("ok")));
  });
  Client client = engine_->Connect("test:1");
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(bson::IsTruthy(Run(client, "{'profile': 2}").Find("ok")));
    EXPECT_FALSE(bson::IsTruthy(Run(client, "{'drop': 'system.profile'}").Find("ok")));
    EXPECT_TRUE(bson::IsTruthy(Run(client, "{'profile': 0}").Find("ok")));
    EXPECT_TRUE(bson::IsTruthy(Run(client, "{'drop': 'system.profile'}").Find("ok")));
  }
  over = true;
  busy.join();
  engine_->parts().profiler.writer().Flush();
  EXPECT_EQ(engine_->parts().catalog->Find("test", kProfileCollection), nullptr);  // no late entry has made it again
}

}  // namespace
}  // namespace braid::commands
