// Consumer and publisher against a real broker that is killed, cut off and started again. One program, one broker: its
// start takes seconds, so CTest runs all of it as one test.
#include <gmock/gmock.h>

#include <thread>

#include "base/strings.h"
#include "services/queue/consumer.h"
#include "services/queue/publisher.h"
#include "services/queue/testing/broker.h"

namespace braid::queue {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr milliseconds kSoon{10'000};  // for what must come
constexpr milliseconds kMoment{200};   // for what must not come
constexpr milliseconds kRecovery{60'000};

std::vector<std::string> Numbered(size_t n) {
  std::vector<std::string> bodies;
  for (size_t i = 0; i < n; ++i) bodies.push_back(StrCat("message ", i));
  return bodies;
}

std::vector<std::string> Bodies(const std::vector<Message>& messages) {
  std::vector<std::string> bodies;
  for (const Message& message : messages) bodies.push_back(message.body);
  return bodies;
}

class WithBroker : public testing::Test {
 protected:
  static void SetUpTestSuite() { broker_ = new test::Broker(); }
  static void TearDownTestSuite() {
    delete broker_;
    broker_ = nullptr;
  }

  // A queue of the test's own.
  const std::string queue_ = testing::UnitTest::GetInstance()->current_test_info()->name();

  ConsumerOptions Options() const { return {.address = broker_->address(), .queue = queue_}; }

  std::unique_ptr<Consumer> Connect(const ConsumerOptions& options) const {
    auto consumer = Consumer::Connect(options);
    EXPECT_OK(consumer);
    return consumer.ok() ? *std::move(consumer) : nullptr;
  }

  void Publish(const std::vector<std::string>& bodies) const {
    auto publisher = Publisher::Connect({.address = broker_->address(), .queue = queue_});
    ASSERT_OK(publisher);
    const Publisher::Outcome outcome = (*publisher)->Publish(bodies);
    ASSERT_OK(outcome.status);
    ASSERT_EQ(outcome.confirmed, bodies.size());
  }

  // The next `n` messages; fewer, and a failure, if they do not come.
  static std::vector<Message> Take(Consumer& consumer, size_t n) {
    std::vector<Message> messages;
    while (messages.size() < n) {
      const auto fetched = consumer.Fetch(messages, n - messages.size(), kSoon);
      EXPECT_OK(fetched);
      if (!fetched.ok() || *fetched == 0) break;
    }
    EXPECT_EQ(messages.size(), n);
    return messages;
  }

  static void ExpectNothing(Consumer& consumer) {
    std::vector<Message> messages;
    const auto fetched = consumer.Fetch(messages, 1, kMoment);
    ASSERT_OK(fetched);
    EXPECT_EQ(*fetched, 0u);
  }

  static Status FetchError(Consumer& consumer) {
    std::vector<Message> messages;
    for (int i = 0; i < 100; ++i) {
      const auto fetched = consumer.Fetch(messages, 1000, milliseconds(100));
      if (!fetched.ok()) return fetched.error();
    }
    return {};
  }

  static test::Broker* broker_;
};

test::Broker* WithBroker::broker_ = nullptr;

TEST_F(WithBroker, MessagesComeInOrderAndOnlyTheAcknowledgedAreGone) {
  Publish(Numbered(5000));
  auto consumer = Connect(Options());
  const auto messages = Take(*consumer, 5000);
  EXPECT_EQ(Bodies(messages), Numbered(5000));
  for (const Message& message : messages) ASSERT_FALSE(message.redelivered);
  ASSERT_OK(consumer->Ack(messages[2999].tag));
  ASSERT_OK(consumer->Ack(messages[10].tag));  // acknowledged already
  consumer.reset();
  EXPECT_EQ(broker_->Count(queue_), 2000u);
  auto second = Connect(Options());
  const auto rest = Take(*second, 2000);
  EXPECT_EQ(rest.front().body, "message 3000");
  for (const Message& message : rest) ASSERT_TRUE(message.redelivered);
}

TEST_F(WithBroker, PrefetchBoundsWhatIsUnacknowledged) {
  Publish(Numbered(30));
  ConsumerOptions options = Options();
  options.prefetch = 10;
  auto consumer = Connect(options);
  const auto first = Take(*consumer, 10);
  ExpectNothing(*consumer);
  ASSERT_OK(consumer->Ack(first[4].tag));
  const auto second = Take(*consumer, 5);
  EXPECT_EQ(second.front().body, "message 10");
  ExpectNothing(*consumer);
}

TEST_F(WithBroker, FetchWaitsForTheFirstAndTakesNoMoreThanAsked) {
  auto consumer = Connect(Options());
  std::jthread later([&] {
    std::this_thread::sleep_for(kMoment);
    Publish(Numbered(10));
  });
  std::vector<Message> messages;
  const auto fetched = consumer->Fetch(messages, 1, kSoon);
  ASSERT_OK(fetched);
  EXPECT_EQ(*fetched, 1u);
  EXPECT_EQ(Take(*consumer, 9).back().body, "message 9");
}

TEST_F(WithBroker, ACutConnectionIsRetryableAndItsMessagesComeAgain) {
  Publish(Numbered(20));
  auto consumer = Connect(Options());
  const auto before = Take(*consumer, 20);
  ASSERT_OK(consumer->Ack(before[4].tag));
  ExpectNothing(*consumer);  // the broker has had time to read the acknowledgement
  broker_->CutConnections();
  EXPECT_EQ(FetchError(*consumer).code(), Code::kHostUnreachable);
  EXPECT_EQ(consumer->Ack(before[9].tag).code(), Code::kHostUnreachable);

  ASSERT_OK(consumer->Reconnect(kSoon));
  EXPECT_EQ(consumer->Ack(before[9].tag).code(), Code::kBadValue) << "a tag of the earlier connection";
  const auto again = Take(*consumer, 15);
  EXPECT_EQ(again.front().body, "message 5");
  EXPECT_GT(again.front().tag, before.back().tag);
  for (const Message& message : again) EXPECT_TRUE(message.redelivered);
  EXPECT_EQ(consumer->Ack(before[9].tag).code(), Code::kBadValue);
  EXPECT_EQ(consumer->Ack(again.back().tag + 1).code(), Code::kBadValue) << "never given out";
  ASSERT_OK(consumer->Ack(again.back().tag));
  consumer.reset();
  EXPECT_EQ(broker_->Count(queue_), 0u);
}

TEST_F(WithBroker, ReconnectGivesBackWhatIsUnacknowledged) {
  Publish(Numbered(3));
  auto consumer = Connect(Options());
  Take(*consumer, 3);
  ASSERT_OK(consumer->Reconnect(kSoon));
  EXPECT_EQ(Bodies(Take(*consumer, 3)), Numbered(3));
}

TEST_F(WithBroker, AKilledBrokerComesBackWithEverythingConfirmed) {
  // A broker that is killed soon after it has made a queue may forget the queue, and with it whatever it has confirmed.
  Connect(Options());
  broker_->Stop();
  broker_->Start();
  Publish(Numbered(2000));
  auto consumer = Connect(Options());
  const auto before = Take(*consumer, 1000);
  ASSERT_OK(consumer->Ack(before.back().tag));
  broker_->Kill();
  EXPECT_EQ(FetchError(*consumer).code(), Code::kHostUnreachable);
  EXPECT_EQ(consumer->Reconnect(kMoment).code(), Code::kHostUnreachable) << "nobody is there";

  // Reconnecting goes on while the broker starts.
  Status reconnected;
  std::jthread waiting([&] { reconnected = consumer->Reconnect(kRecovery); });
  broker_->Start();
  waiting.join();
  ASSERT_OK(reconnected);
  // The acknowledgement may not have reached the disk: then some of the first half come too. The second half must.
  std::vector<Message> messages;
  while (messages.empty() || messages.back().body != "message 1999") {
    const auto fetched = consumer->Fetch(messages, 2000, kRecovery);
    ASSERT_OK(fetched);
    ASSERT_GT(*fetched, 0u);
  }
  ASSERT_GE(messages.size(), 1000u);
  messages.erase(messages.begin(), messages.end() - 1000);
  const auto all = Numbered(2000);
  EXPECT_EQ(Bodies(messages), std::vector(all.begin() + 1000, all.end()));
}

TEST_F(WithBroker, ABrokerThatIsStoppedInGoodOrderIsRetryable) {
  auto consumer = Connect(Options());
  broker_->Stop();
  const Status status = FetchError(*consumer);
  EXPECT_EQ(status.code(), Code::kHostUnreachable);
  EXPECT_THAT(status.message(), HasSubstr("CONNECTION_FORCED"));
  broker_->Start();
  ASSERT_OK(consumer->Reconnect(kSoon));
}

TEST_F(WithBroker, ADeletedQueueIsAClearError) {
  auto consumer = Connect(Options());
  broker_->DeleteQueue(queue_);
  const Status status = FetchError(*consumer);
  EXPECT_EQ(status.code(), Code::kNamespaceNotFound);
  EXPECT_THAT(status.message(), HasSubstr(StrCat("queue '", queue_, "'")));
  EXPECT_THAT(status.message(), HasSubstr("deleted"));
  ASSERT_OK(consumer->Reconnect(kSoon));  // which declares it again
}

TEST_F(WithBroker, AMissingQueueIsAClearErrorIfItIsNotToBeMade) {
  ConsumerOptions options = Options();
  options.declare = false;
  const auto consumer = Consumer::Connect(options);
  ASSERT_FALSE(consumer.ok());
  EXPECT_EQ(consumer.error().code(), Code::kNamespaceNotFound);
  EXPECT_THAT(consumer.error().message(), HasSubstr(StrCat("queue '", queue_, "'")));
  auto publisher = Publisher::Connect({.address = broker_->address(), .queue = queue_, .declare = false});
  ASSERT_OK(publisher);
  const auto outcome = (*publisher)->Publish(Numbered(1));
  EXPECT_EQ(outcome.status.code(), Code::kNamespaceNotFound);
  EXPECT_EQ(outcome.confirmed, 0u);
}

TEST_F(WithBroker, AQueueWithOtherPropertiesIsAClearError) {
  broker_->DeclareTransient(queue_);
  const auto consumer = Consumer::Connect(Options());
  ASSERT_FALSE(consumer.ok());
  EXPECT_EQ(consumer.error().code(), Code::kInvalidOptions);
  EXPECT_THAT(consumer.error().message(), HasSubstr(StrCat("queue '", queue_, "'")));
  EXPECT_THAT(consumer.error().message(), HasSubstr("durable"));
}

TEST_F(WithBroker, AWrongPasswordOrVhostIsNotTriedAgain) {
  ConsumerOptions options = Options();
  options.address.password = "wrong";
  auto consumer = Consumer::Connect(options);
  ASSERT_FALSE(consumer.ok());
  EXPECT_EQ(consumer.error().code(), Code::kUnauthorized);
  EXPECT_FALSE(IsRetryable(consumer.error().code()));
  EXPECT_THAT(consumer.error().message(), HasSubstr("ACCESS_REFUSED"));
  options = Options();
  options.address.vhost = "nowhere";
  consumer = Consumer::Connect(options);
  ASSERT_FALSE(consumer.ok());
  EXPECT_FALSE(IsRetryable(consumer.error().code()));
  EXPECT_THAT(consumer.error().message(), HasSubstr("nowhere"));
}

TEST_F(WithBroker, NobodyListening) {
  ConsumerOptions options = Options();
  options.address.port = 1;
  const auto consumer = Consumer::Connect(options);
  ASSERT_FALSE(consumer.ok());
  EXPECT_EQ(consumer.error().code(), Code::kHostUnreachable);
  options.address.host = "no-such-host.invalid";
  EXPECT_EQ(Consumer::Connect(options).error().code(), Code::kHostNotFound);
}

TEST_F(WithBroker, OptionsOutOfRangeAreRefused) {
  ConsumerOptions options = Options();
  options.prefetch = 65'536;
  EXPECT_EQ(Consumer::Connect(options).error().code(), Code::kBadValue);
  options = Options();
  options.queue.clear();
  EXPECT_EQ(Consumer::Connect(options).error().code(), Code::kBadValue);
}

TEST_F(WithBroker, BodiesOfAnySize) {
  const std::vector<std::string> bodies = {"", std::string(10 << 20, 'x'), std::string("\0\xff", 2), ""};
  Publish(bodies);
  auto consumer = Connect(Options());
  const auto messages = Take(*consumer, bodies.size());
  EXPECT_TRUE(Bodies(messages) == bodies);  // not EXPECT_EQ, which would print 10 MiB
  ASSERT_OK(consumer->Ack(messages.back().tag));
}

TEST_F(WithBroker, HeartbeatsKeepAnIdleConnectionAlive) {
  ConsumerOptions options = Options();
  options.heartbeat = std::chrono::seconds(1);
  auto consumer = Connect(options);
  std::vector<Message> messages;
  const auto fetched = consumer->Fetch(messages, 1, milliseconds(4000));  // after 3 s of silence it is closed
  ASSERT_OK(fetched);
  Publish(Numbered(1));
  Take(*consumer, 1);
}

TEST_F(WithBroker, TlsOnlyWithACertificateThatIsTrusted) {
  ConsumerOptions options = Options();
  options.address = broker_->tls_address();
  Publish(Numbered(100));
  auto consumer = Connect(options);
  EXPECT_EQ(Bodies(Take(*consumer, 100)), Numbered(100));
  options.address.ca_file.clear();
  const auto refused = Consumer::Connect(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::kAuthenticationFailed);
  options.address.ca_file = "/no/such/file";
  EXPECT_THAT(Consumer::Connect(options).error().message(), HasSubstr("/no/such/file"));
}

}  // namespace
}  // namespace braid::queue
