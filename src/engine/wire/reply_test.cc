// Replies, read back the way a driver reads them.
#include "engine/wire/reply.h"

#include "base/testing/testing.h"
#include "engine/bson/builder.h"
#include "engine/bson/json.h"
#include "engine/wire/crc32c.h"
#include "engine/wire/testing/messages.h"

namespace braid::wire {
namespace {

std::string Bytes(const ReplyFrame& frame) {
  std::string all;
  for (const std::string_view part : frame.parts()) all.append(part);
  EXPECT_EQ(all.size(), frame.size());
  return all;
}

bson::Document OfSize(size_t bytes) { return bson::Make("text", std::string(bytes, 'x'), "$db", "d"); }

// The sizes on both sides of what is copied into the frame.
TEST(ReplyTest, MsgReadsBack) {
  for (const size_t size : {0u, 100u, 16'000u, 17'000u, 1'000'000u}) {
    for (const bool checksum : {false, true}) {
      Message request;
      request.request_id = 99;
      request.checksum = checksum;
      ReplyFrame frame;
      const bson::Document body = OfSize(size);
      frame.Build(request, body, 5);
      const std::string bytes = Bytes(frame);
      EXPECT_EQ(ReadHeader(bytes).response_to, 99);
      EXPECT_EQ(ReadHeader(bytes).request_id, 5);
      Buffer scratch;
      Message back;
      ASSERT_OK(Parse(bytes, scratch, back));  // checks length and checksum too
      EXPECT_EQ(back.request.body.bytes(), body.bytes());
      EXPECT_EQ(back.checksum, checksum);
      EXPECT_TRUE(back.request.reply_wanted);  // moreToCome is off
    }
  }
}

TEST(ReplyTest, CompressedReadsBack) {
  for (const auto compressor : {Compressor::kNoop, Compressor::kSnappy, Compressor::kZlib, Compressor::kZstd}) {
    for (const bool checksum : {false, true}) {
      Message request;
      request.request.name = "find";
      request.compressor = compressor;
      request.checksum = checksum;
      ReplyFrame frame;
      const bson::Document body = OfSize(100'000);
      frame.Build(request, body, 1);
      const std::string bytes = Bytes(frame);
      EXPECT_EQ(ReadHeader(bytes).op_code, kOpCompressed);
      EXPECT_EQ(bytes.size() < 10'000, compressor != Compressor::kNoop);
      Buffer scratch;
      Message back;
      ASSERT_OK(Parse(bytes, scratch, back));
      EXPECT_EQ(back.request.body.bytes(), body.bytes());
      EXPECT_EQ(back.checksum, checksum);
    }
  }
}

TEST(ReplyTest, HandshakeAndSecretsAreNotCompressed) {
  for (const char* command : {"hello", "isMaster", "ismaster", "saslStart", "saslContinue", "getnonce", "authenticate",
                              "createUser", "updateUser", "copydb", "copydbgetnonce", "copydbSaslStart"}) {
    Message request;
    request.request.name = command;
    request.compressor = Compressor::kSnappy;
    ReplyFrame frame;
    const bson::Document body = bson::Make("ok", 1.0);
    frame.Build(request, body, 1);
    EXPECT_EQ(ReadHeader(Bytes(frame)).op_code, kOpMsg) << command;
  }
}

TEST(ReplyTest, QueryIsAnsweredByReply) {
  Message request;
  request.request.legacy_query = true;
  request.request_id = 3;
  ReplyFrame frame;
  const bson::Document body = bson::Make("ok", 1.0);
  frame.Build(request, body, 1);
  const std::string bytes = Bytes(frame);
  const Header header = ReadHeader(bytes);
  EXPECT_EQ(header.length, bytes.size());
  EXPECT_EQ(header.op_code, kOpReply);
  EXPECT_EQ(header.response_to, 3);
  EXPECT_EQ(bson::Load<int32_t>(bytes.data() + 16), 8);
  EXPECT_EQ(bson::Load<int64_t>(bytes.data() + 20), 0);
  EXPECT_EQ(bson::Load<int32_t>(bytes.data() + 28), 0);
  EXPECT_EQ(bson::Load<int32_t>(bytes.data() + 32), 1);
  EXPECT_EQ(bytes.substr(36), body.bytes());
}

TEST(ReplyTest, ErrorHasCodeAndName) {
  const bson::Document body =
      bson::ErrorReply(Status(Code::kBadValue, "no").WithDetails(bson::Make("errInfo", 1).bytes()));
  EXPECT_EQ(bson::ToJson(body), bson::ToJson(bson::J("{'ok': 0.0, 'errmsg': 'no', 'code': 2, 'codeName': 'BadValue', "
                                                     "'errInfo': 1}")));
}

TEST(Crc32cTest, KnownValueAndBothWays) {
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);  // the check value in the catalogue of CRC algorithms
  EXPECT_EQ(Crc32c(""), 0u);
  Random random(braid::test::Seed());
  for (int round = 0; round < 200; ++round) {
    std::string bytes(random.Below(300), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.Next());
    const size_t cut = random.Below(bytes.size() + 1);
    const uint32_t whole = internal::Crc32cPortable(bytes, 0);
    EXPECT_EQ(Crc32c(bytes), whole);
    EXPECT_EQ(Crc32c(bytes.substr(cut), Crc32c(bytes.substr(0, cut))), whole);
    EXPECT_EQ(internal::Crc32cPortable(bytes.substr(cut), Crc32c(bytes.substr(0, cut))), whole);
  }
}

}  // namespace
}  // namespace braid::wire
