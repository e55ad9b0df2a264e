// Addresses as users write them, and what they are told about wrong ones.
#include "services/queue/address.h"

#include <gmock/gmock.h>

#include "base/testing/testing.h"

namespace braid::queue {
namespace {

TEST(AddressTest, EveryPart) {
  const auto address = ParseAddress("amqp://us%40er:p%3Ass%2F@broker.example:15672/prod%2Feu");
  ASSERT_OK(address);
  EXPECT_FALSE(address->tls);
  EXPECT_EQ(address->host, "broker.example");
  EXPECT_EQ(address->port, 15672);
  EXPECT_EQ(address->user, "us@er");
  EXPECT_EQ(address->password, "p:ss/");
  EXPECT_EQ(address->vhost, "prod/eu");
}

TEST(AddressTest, WhatIsLeftOutHasTheDefaultsOfBrokers) {
  for (const char* uri : {"amqp://h", "amqp://h/", "amqp://h/%2f", "amqp://guest:guest@h:5672/%2F"}) {
    const auto address = ParseAddress(uri);
    ASSERT_OK(address);
    EXPECT_EQ(address->ToString(), "amqp://guest@h:5672/") << uri;
    EXPECT_EQ(address->vhost, "/") << uri;
    EXPECT_EQ(address->password, "guest") << uri;
  }
}

TEST(AddressTest, Tls) {
  const auto address = ParseAddress("amqps://h/v?cacertfile=/etc/my%20ca.pem");
  ASSERT_OK(address);
  EXPECT_TRUE(address->tls);
  EXPECT_EQ(address->port, 5671);
  EXPECT_EQ(address->vhost, "v");
  EXPECT_EQ(address->ca_file, "/etc/my ca.pem");
  EXPECT_EQ(address->ToString(), "amqps://guest@h:5671/v");
}

TEST(AddressTest, Ipv6) {
  const auto address = ParseAddress("amqp://[::1]:7000/v");
  ASSERT_OK(address);
  EXPECT_EQ(address->host, "::1");
  EXPECT_EQ(address->port, 7000);
  EXPECT_EQ(address->ToString(), "amqp://guest@[::1]:7000/v");
}

TEST(AddressTest, WrongOnesAreRefusedWithTheReason) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "does not start with amqp://"},
      {"mongodb://h", "does not start with amqp://"},
      {"amqp://", "no host"},
      {"amqp://u:p@/v", "no host"},
      {"amqp://:p@h", "the user is empty"},
      {"amqp://u@h", "a user without a password"},
      {"amqp://h:", "the port ''"},
      {"amqp://h:0", "the port '0'"},
      {"amqp://h:65536", "the port '65536'"},
      {"amqp://h:12x", "the port '12x'"},
      {"amqp://[::1", "'[' without ']'"},
      {"amqp://[::1]x", "after ']'"},
      {"amqp://u%4:p@h", "percent-encoding in the user"},
      {"amqp://u:%zz@h", "percent-encoding in the password"},
      {"amqp://h/%00", "percent-encoding in the vhost"},
      {"amqp://h/a/b", "inside the vhost"},
      {"amqp://h?heartbeat=5", "unknown option 'heartbeat'"},
      {"amqp://h?cacertfile=x", "for amqps:// only"},
      {"amqps://h?cacertfile", "without a value"},
  };
  for (const auto& [uri, reason] : cases) {
    const auto address = ParseAddress(uri);
    ASSERT_FALSE(address.ok()) << uri;
    EXPECT_EQ(address.error().code(), Code::kFailedToParse) << uri;
    EXPECT_THAT(address.error().message(), testing::HasSubstr(reason)) << uri;
  }
}

TEST(AddressTest, ThePasswordIsNeverShown) {
  EXPECT_THAT(ParseAddress("amqp://u:secret@h/v")->ToString(), testing::Not(testing::HasSubstr("secret")));
  for (const char* uri : {"amqp://u:secret%@h", "amqp://u:secret@h:x", "amqp://u:secret@h/a/b", "u:secret@h"}) {
    EXPECT_THAT(ParseAddress(uri).error().message(), testing::Not(testing::HasSubstr("secret"))) << uri;
  }
}

}  // namespace
}  // namespace braid::queue
