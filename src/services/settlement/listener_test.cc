// The TCP stream: replies in order, half messages, lengths out of range, an end without loss.
#include "services/settlement/listener.h"

#include <gmock/gmock.h>

#include <thread>

#include "base/strings.h"
#include "services/settlement/listener_testing.h"

namespace braid::settlement {
namespace {

using ::testing::HasSubstr;

class ListenerTest : public ListenerStoreTest {};
INSTANTIATE_ON_STORES(ListenerTest);

TEST_P(ListenerTest, OnlyLoopbackAddresses) {
  settlement_ = Open();
  for (const char* address : {"0.0.0.0", "192.0.2.1", "::"}) {
    EXPECT_EQ(Listener::Open(*settlement_, {.address = address}).status().code(), Code::kBadValue) << address;
  }
  EXPECT_OK(Listener::Open(*settlement_, {.address = "127.0.0.1"}));
}

TEST_P(ListenerTest, RepliesComeInTheOrderOfTheMessages) {
  Listen({.due_max = 100});
  std::vector<std::string> lines = Generated(1000, {.symbols = 4});
  lines.insert(lines.begin() + 500,
               R"({"output_seq":5000,"input":{},"order_update":{"order_id":1,"user_id":1,"symbol_id":99}})");
  EngineClient client(listener_->port());
  std::thread sender([&] {
    for (const std::string& line : lines) client.Send(Message(line));
    client.End();
  });
  const std::vector<Reply> replies = client.Replies();
  sender.join();
  ASSERT_EQ(replies.size(), lines.size());
  for (size_t i = 0; i < replies.size(); ++i) {
    if (i == 500) continue;
    EXPECT_EQ(replies[i].sequence, i < 500 ? i + 1 : i);
    EXPECT_EQ(replies[i].outcome, Outcome::kAccepted);
  }
  EXPECT_EQ(replies[500].sequence, 0u);
  EXPECT_EQ(replies[500].outcome, Outcome::kRefused);
  EXPECT_EQ(replies[500].rest, "order_update.status is missing");
  EXPECT_EQ(listener_->totals()[Outcome::kAccepted], 1000u);
  EXPECT_EQ(Stored(settlement_->chains()).size(), 1000u);
}

TEST_P(ListenerTest, AMessageThatIsCutOffIsNotAnOutput) {
  Listen();
  EngineClient client(listener_->port());
  const std::string second = Message(ToJson(OutputOf(1, 2)));
  client.Send(Message(ToJson(OutputOf(1, 1))) + second.substr(0, second.size() - 1));
  client.End();
  ASSERT_EQ(client.Replies().size(), 1u);
  EngineClient again(listener_->port());
  again.Send(Message(ToJson(OutputOf(1, 1))) + second);
  again.End();
  const std::vector<Reply> replies = again.Replies();
  ASSERT_EQ(replies.size(), 2u);
  EXPECT_EQ(replies[0].outcome, Outcome::kDuplicate);
  EXPECT_EQ(replies[1].outcome, Outcome::kAccepted);
  EXPECT_EQ(replies[1].rest.size(), 32u);
}

TEST_P(ListenerTest, ALengthOutOfRangeEndsTheConnection) {
  Listen();
  for (const uint64_t length : {uint64_t{0}, uint64_t{kMessageBytesMax} + 1, uint64_t{0xffffffff}}) {
    EngineClient client(listener_->port());
    client.Send(BigEndian(length, 4));
    const std::vector<Reply> replies = client.Replies();
    ASSERT_EQ(replies.size(), 1u);
    EXPECT_EQ(replies[0].outcome, Outcome::kRefused);
    EXPECT_THAT(replies[0].rest, HasSubstr(StrCat("a message of ", length, " bytes")));
  }
}

TEST_P(ListenerTest, OneConnectionTooManyIsClosed) {
  Listen({.connections_max = 1});
  EngineClient first(listener_->port());
  first.Send(Message(ToJson(OutputOf(1, 1))));
  while (listener_->connections() == 0) std::this_thread::yield();
  EXPECT_TRUE(EngineClient(listener_->port()).Replies().empty());
  first.End();
  EXPECT_EQ(first.Replies().size(), 1u);
}

// The end of the service: what was read is answered, and a client that only waits is let go.
TEST_P(ListenerTest, EndingAnswersWhatWasRead) {
  Listen();
  EngineClient client(listener_->port());
  client.Send(Message(ToJson(OutputOf(1, 1))));
  while (listener_->totals().sum() == 0) std::this_thread::yield();
  listener_.reset();
  EXPECT_EQ(client.Replies().size(), 1u);
}

TEST_P(ListenerTest, AnAddressMustBeOne) {
  settlement_ = Open();
  EXPECT_EQ(Listener::Open(*settlement_, {.address = "nowhere"}).status().code(), Code::kBadValue);
}

}  // namespace
}  // namespace braid::settlement
