// How connections end: with replies under way, with bytes that nobody will read, with a client that reads nothing, and
// with a store that fails.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "base/strings.h"
#include "services/settlement/listener_testing.h"

namespace braid::settlement {
namespace {

using ::testing::HasSubstr;

class ListenerEndTest : public ListenerStoreTest {};
INSTANTIATE_ON_STORES(ListenerEndTest);

// An engine that sends on and on must not keep the service from ending, nor lose the reply to what was stored.
TEST_P(ListenerEndTest, WhatIsStoredIsAnsweredAlthoughTheEngineSendsOn) {
  Listen();
  EngineClient client(listener_->port());
  std::thread sender([&] {
    for (int64_t i = 1; client.Send(Message(ToJson(OutputOf(i % 3, i)))); ++i) continue;
  });
  std::vector<Reply> replies;
  std::thread reader([&] { replies = client.Replies(); });
  while (listener_->totals().sum() < 200) std::this_thread::yield();
  listener_->Stop();
  reader.join();
  sender.join();
  EXPECT_EQ(replies.size(), Stored(settlement_->chains()).size());
  for (size_t i = 0; i < replies.size(); ++i) {
    ASSERT_EQ(replies[i].sequence, i + 1);
    ASSERT_EQ(replies[i].outcome, Outcome::kAccepted);
  }
}

// Closing a socket with bytes that were not read resets the connection, with the replies that are under way.
TEST_P(ListenerEndTest, BytesAfterALengthOutOfRangeDoNotResetTheConnection) {
  Listen();
  EngineClient client(listener_->port());
  EXPECT_TRUE(client.Send(Message(ToJson(OutputOf(1, 1))) + BigEndian(0, 4) + std::string(64 << 20, 'x')));
  client.End();
  const std::vector<Reply> replies = client.Replies();
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[0].outcome, Outcome::kAccepted);
  EXPECT_THAT(replies[1].rest, HasSubstr("a message of 0 bytes"));
}

// A reason of some thousand bytes: much to send back for little to store.
std::string LongReason() {
  std::string body = R"({"output_seq":1,"input":)";
  const std::string name(64, 'n');
  for (int i = 0; i < kDepthMax; ++i) body += StrCat("{\"", name, "\":");
  return Message(StrCat(body, "[]", std::string(kDepthMax, '}'), "}"));
}

TEST_P(ListenerEndTest, AClientThatReadsNothingHoldsUpNobodyElse) {
  Listen({.due_max = 100, .patience = std::chrono::milliseconds(100)});
  EngineClient deaf(listener_->port(), 4096);
  const std::string message = LongReason();
  constexpr int kMessages = 20'000;
  std::atomic<int> sent = 0;
  std::thread sender([&] {
    while (sent < kMessages && deaf.Send(message)) ++sent;
  });
  // Until it must wait for the service, which waits for it.
  for (int before = -1; before != sent;) {
    before = sent;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  EXPECT_LT(sent, kMessages);
  EngineClient other(listener_->port());
  other.Send(Message(ToJson(OutputOf(1, 1))));
  other.End();
  const std::vector<Reply> replies = other.Replies();
  ASSERT_EQ(replies.size(), 1u);
  EXPECT_EQ(replies[0].outcome, Outcome::kAccepted);
  listener_->Stop();
  sender.join();
  EXPECT_OK(settlement_->writers().Submit({.chain = 1, .sequence = 2})->get().status);
}

TEST_P(ListenerEndTest, TheServiceEndsAlthoughTheStoreFails) {
  FlakyClients flaky(store_.clients());
  Options options = TestOptions();
  options.writers.retry_first = std::chrono::milliseconds(1);
  options.writers.retry_most = std::chrono::milliseconds(5);
  settlement_ = Open(flaky, options);
  Listen({.patience = std::chrono::milliseconds(50)});
  EngineClient client(listener_->port());
  client.Send(Message(ToJson(OutputOf(1, 1))));
  while (listener_->totals()[Outcome::kAccepted] == 0) std::this_thread::yield();
  flaky.Fail(true);
  client.Send(Message(ToJson(OutputOf(1, 2))));
  const auto failed = [&] {
    const std::vector<ChainWriterFigures> all = settlement_->writers().Figures();
    return std::any_of(all.begin(), all.end(), [](const ChainWriterFigures& writer) { return writer.retries > 0; });
  };
  while (!failed()) std::this_thread::yield();
  listener_->Stop();
  EXPECT_EQ(listener_->totals()[Outcome::kFailed], 1u);
  EXPECT_EQ(client.Replies().size(), 1u);
  EXPECT_FALSE(settlement_->Stop().ok());
  settlement_.reset();
  flaky.Fail(false);
  EXPECT_EQ(Count(Ingest(*Open(), {ToJson(OutputOf(1, 1)), ToJson(OutputOf(1, 2))})).sum(), 2u);
}

}  // namespace
}  // namespace braid::settlement
