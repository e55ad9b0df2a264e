// Waits that grow, and bytes in the order of big-endian formats.
#include "base/backoff.h"

#include <gmock/gmock.h>

#include "base/big_endian.h"

namespace braid {
namespace {

using std::chrono::milliseconds;

TEST(BackoffTest, DoublesUpToTheLongest) {
  Backoff backoff(milliseconds(10), milliseconds(35));
  EXPECT_EQ(backoff.Next(), milliseconds(10));
  EXPECT_EQ(backoff.Next(), milliseconds(20));
  EXPECT_EQ(backoff.Next(), milliseconds(35));
  EXPECT_EQ(backoff.Next(), milliseconds(35));
}

TEST(BackoffTest, BeginsAgainAfterASuccess) {
  Backoff backoff(milliseconds(10), milliseconds(1000));
  backoff.Next();
  backoff.Next();
  backoff.Reset();
  EXPECT_EQ(backoff.Next(), milliseconds(10));
  EXPECT_EQ(backoff.Next(), milliseconds(20));
}

TEST(BigEndianTest, TheHighestByteComesFirst) {
  std::string bytes;
  big_endian::Append32(bytes, 0x01020304);
  big_endian::Append64(bytes, 0x0506070809'0a0b0c);
  big_endian::Append(bytes, 0xaa0d0e, 2);
  EXPECT_EQ(bytes, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e");
  EXPECT_EQ(big_endian::Get32(bytes.data()), 0x01020304u);
  EXPECT_EQ(big_endian::Get(std::string_view(bytes).substr(11)), 0x0c0d0eu);
  EXPECT_EQ(big_endian::Get(""), 0u);
  EXPECT_EQ(big_endian::Get64(bytes.data() + 4), 0x0506070809'0a0b0c);
}

}  // namespace
}  // namespace braid
