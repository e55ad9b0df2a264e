// Every form of a request, every documented error, every truncation, and bytes that mean nothing.
#include "engine/wire/message.h"

#include <gmock/gmock.h>

#include "base/testing/testing.h"
#include "engine/bson/json.h"
#include "engine/wire/testing/messages.h"

namespace braid::wire {
namespace {

using bson::J;
using test::Body;
using test::Framed;
using test::Msg;
using test::Number;
using test::Query;
using test::Sequence;

const bson::Document& Ping() {
  static const bson::Document document = J("{'ping': 1, '$db': 'admin'}");
  return document;
}

// Parses and returns the number of the error; 0 if there is none.
int CodeOf(const std::string& bytes, Message* out = nullptr) {
  Buffer scratch;
  Message message;
  const Status status = Parse(bytes, scratch, message);
  if (out != nullptr) *out = message;
  return static_cast<int>(status.code());
}

TEST(MessageTest, ReadsBodyAndSequences) {
  const bson::Document body = J("{'insert': 'c', '$db': 'd', 'ordered': true}");
  const bson::Document one = J("{'_id': 1}"), two = J("{'_id': 2}");
  const std::string bytes = Msg(Sequence("documents", one.bytes() + two.bytes()) + Body(body) + Sequence("x", ""));
  Buffer scratch;
  Message message;
  ASSERT_OK(Parse(bytes, scratch, message));
  const commands::Request& request = message.request;
  EXPECT_EQ(request.body.bytes(), body.bytes());
  EXPECT_EQ(request.name, "insert");
  EXPECT_EQ(request.database, "d");
  EXPECT_FALSE(request.legacy_query);
  EXPECT_TRUE(request.reply_wanted);
  EXPECT_TRUE(message.answerable);
  EXPECT_EQ(message.request_id, 7);
  ASSERT_EQ(request.sequences.size(), 2u);
  EXPECT_EQ(request.sequences[0].name, "documents");
  ASSERT_EQ(request.sequences[0].documents.size(), 2u);
  EXPECT_EQ(request.sequences[0].documents[1].bytes(), two.bytes());
  EXPECT_EQ(request.sequences[1].name, "x");
  EXPECT_TRUE(request.sequences[1].documents.empty());
}

TEST(MessageTest, NothingOfTheMessageBeforeRemains) {
  Buffer scratch;
  Message message;
  ASSERT_OK(Parse(test::Compressed(test::MsgChecked(Body(Ping()) + Sequence("a", ""), 2), Compressor::kZlib), scratch,
                  message));
  EXPECT_TRUE(message.checksum);
  EXPECT_FALSE(message.request.reply_wanted);
  const std::string plain = Msg(Body(Ping()));
  ASSERT_OK(Parse(plain, scratch, message));
  EXPECT_FALSE(message.checksum);
  EXPECT_FALSE(message.compressor.has_value());
  EXPECT_TRUE(message.request.reply_wanted);
  EXPECT_TRUE(message.request.sequences.empty());
}

TEST(MessageTest, Flags) {
  Message message;
  EXPECT_EQ(CodeOf(Msg(Body(Ping()), 2), &message), 0);
  EXPECT_FALSE(message.request.reply_wanted);
  EXPECT_FALSE(message.answerable);
  EXPECT_EQ(CodeOf(Msg(Body(Ping()), 1u << 16)), 0);  // exhaustAllowed
  for (uint32_t bit = 2; bit < 16; ++bit) EXPECT_EQ(CodeOf(Msg(Body(Ping()), 1u << bit)), 223) << bit;
  for (uint32_t bit = 17; bit < 32; ++bit) EXPECT_EQ(CodeOf(Msg(Body(Ping()), 1u << bit)), 0) << bit;
  EXPECT_TRUE(IsFatal(Code::kIllegalOpMsgFlag));
}

TEST(MessageTest, ChecksumCoversEveryByte) {
  const std::string good = test::MsgChecked(Body(Ping()));
  Message message;
  EXPECT_EQ(CodeOf(good, &message), 0);
  EXPECT_TRUE(message.checksum);
  for (size_t at = kHeaderBytes + 4; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] ^= 0x10;
    EXPECT_EQ(CodeOf(bad), 288) << at;
  }
  EXPECT_TRUE(IsFatal(Code::kChecksumMismatch));
}

TEST(MessageTest, SectionErrors) {
  const std::string body = Body(Ping());
  EXPECT_EQ(CodeOf(Msg(body + body)), 40430);
  EXPECT_EQ(CodeOf(Msg("")), 40587);
  EXPECT_EQ(CodeOf(Msg(Sequence("a", ""))), 40587);
  EXPECT_EQ(CodeOf(Msg(Body(J("{'ping': 1}")))), 40571);
  EXPECT_EQ(CodeOf(Msg(Body(J("{}")))), 40571);
  EXPECT_EQ(CodeOf(Msg(Body(J("{'ping': 1, '$db': 7}")))), static_cast<int>(Code::kTypeMismatch));
  EXPECT_EQ(CodeOf(Msg(body + Sequence("a", "") + Sequence("b", "") + Sequence("c", ""))), 233);
  EXPECT_EQ(CodeOf(Msg(body + Sequence("a", "") + Sequence("a", ""))), 40431);
  EXPECT_EQ(CodeOf(Msg(body + Sequence("ping", ""))), 40433);
  EXPECT_EQ(CodeOf(Msg(Sequence("ping", "") + body)), 40433);
  EXPECT_EQ(CodeOf(Msg("\2" + body)), 40432);
  EXPECT_EQ(CodeOf(Msg(body + Sequence("a", Number(4)))), static_cast<int>(Code::kInvalidBSON));
}

TEST(MessageTest, SectionErrorsKeepTheConnection) {
  for (const int code : {40430, 40587, 40571, 40431, 40433, 40432}) EXPECT_FALSE(IsFatal(Location(code)));
  Message message;
  EXPECT_EQ(CodeOf(Msg(""), &message), 40587);
  EXPECT_TRUE(message.answerable);
}

TEST(MessageTest, LengthIsCheckedBeforeAnythingElse) {
  for (const uint32_t length : {0u, 15u, kMessageBytesMax + 1, 0x80000000u, 0xFFFFFFFFu}) {
    EXPECT_EQ(MessageLength(Number(length)).error().code(), Code::kInvalidLength) << length;
  }
  EXPECT_EQ(*MessageLength(Number(16u)), 16u);
  EXPECT_EQ(*MessageLength(Number(kMessageBytesMax)), kMessageBytesMax);
}

TEST(MessageTest, ATlsHelloIsNotWaitedFor) {
  const std::string hello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x11\x22\x33\x44\x55", 16);
  EXPECT_EQ(MessageLength(hello).error().code(), Code::kProtocolError);
  // A message whose length and number look like it.
  char message[kHeaderBytes];
  WriteHeader({0x00010316, 0x0100, 0, kOpMsg}, message);
  EXPECT_EQ(*MessageLength({message, kHeaderBytes}), 0x00010316u);
}

TEST(MessageTest, OldOpcodesAreRefused) {
  for (const int32_t op_code : {0, 1, 1000, 2001, 2002, 2005, 2006, 2007, 2010, 2011, -1}) {
    Message message;
    EXPECT_EQ(CodeOf(Framed(op_code, "abcdefgh"), &message), static_cast<int>(Code::kProtocolError)) << op_code;
    EXPECT_FALSE(message.answerable);
  }
  EXPECT_TRUE(IsFatal(Code::kProtocolError));
}

TEST(MessageTest, QueryCarriesTheHandshake) {
  const std::string bytes = Query("admin.$cmd", J("{'isMaster': 1, 'helloOk': true}"));
  Buffer scratch;
  Message message;
  ASSERT_OK(Parse(bytes, scratch, message));
  EXPECT_TRUE(message.request.legacy_query);
  EXPECT_EQ(message.request.name, "isMaster");
  EXPECT_EQ(message.request.database, "admin");
  for (const char* command : {"hello", "isMaster", "ismaster", "_isSelf", "authenticate", "buildinfo", "buildInfo",
                              "saslStart", "saslContinue"}) {
    EXPECT_EQ(CodeOf(Query("x.$cmd", bson::Document(J("{'" + std::string(command) + "': 1}")))), 0) << command;
  }
}

TEST(MessageTest, QueryMayBeWrapped) {
  for (const char* wrapper : {"$query", "query"}) {
    const std::string bytes = Query(
        "admin.$cmd", J("{'" + std::string(wrapper) + "': {'hello': 1}, '$readPreference': {'mode': 'nearest'}}"));
    Buffer scratch;
    Message message;
    ASSERT_OK(Parse(bytes, scratch, message));
    EXPECT_EQ(message.request.name, "hello");
  }
}

TEST(MessageTest, QueryErrors) {
  Message message;
  EXPECT_EQ(CodeOf(Query("admin.$cmd", J("{'find': 'c'}")), &message), 352);
  EXPECT_TRUE(message.answerable);
  EXPECT_EQ(CodeOf(Query("admin.$cmd", J("{}"))), 352);
  EXPECT_EQ(CodeOf(Query("d.c", J("{'hello': 1}"))), 352);
  EXPECT_EQ(CodeOf(Query("admin.$cmd", J("{'$query': {'find': 'c'}}"))), 352);
  EXPECT_EQ(CodeOf(Query("admin.$cmd", J("{'hello': 1}"), 2)), 16979);
}

TEST(MessageTest, CompressedIsReadAsTheMessageInside) {
  for (const auto compressor : {Compressor::kNoop, Compressor::kSnappy, Compressor::kZlib, Compressor::kZstd}) {
    const std::string bytes = test::Compressed(test::MsgChecked(Body(Ping())), compressor);
    Buffer scratch;
    Message message;
    ASSERT_OK(Parse(bytes, scratch, message));
    EXPECT_EQ(message.request.name, "ping");
    EXPECT_EQ(message.compressor, compressor);
    EXPECT_EQ(message.request_id, 7);
    EXPECT_TRUE(message.checksum);
  }
}

TEST(MessageTest, CompressedErrors) {
  const std::string plain = Msg(Body(Ping()));
  const std::string snappy = test::Compressed(plain, Compressor::kSnappy);
  const auto with = [&snappy](size_t at, std::string_view bytes) {
    std::string changed = snappy;
    return changed.replace(at, bytes.size(), bytes);
  };
  const int length = static_cast<int>(Code::kInvalidLength), protocol = static_cast<int>(Code::kProtocolError);
  EXPECT_EQ(CodeOf(snappy), 0);
  EXPECT_EQ(CodeOf(test::Compressed(snappy, Compressor::kZlib)), protocol);  // nested
  EXPECT_EQ(CodeOf(with(20, Number(kMessageBytesMax))), length);             // more than a message may have
  EXPECT_EQ(CodeOf(with(20, Number(-1))), length);
  EXPECT_EQ(CodeOf(with(20, Number(kMessageBytesMax - 16))), protocol);  // a lie
  EXPECT_EQ(CodeOf(with(20, Number(0))), protocol);
  EXPECT_EQ(CodeOf(with(24, "\4")), protocol);  // no such compressor
  EXPECT_EQ(CodeOf(Framed(kOpCompressed, "12345678")), length);
}

TEST(MessageTest, EveryTruncationIsAnError) {
  const bson::Document one = J("{'_id': 1}");
  const std::string samples[] = {Msg(Body(Ping()) + Sequence("documents", one.bytes())),
                                 test::MsgChecked(Body(Ping())),
                                 Query("admin.$cmd", J("{'hello': 1}")),
                                 test::Compressed(Msg(Body(Ping())), Compressor::kSnappy),
                                 test::Compressed(Msg(Body(Ping())), Compressor::kZlib),
                                 test::Compressed(Msg(Body(Ping())), Compressor::kZstd)};
  for (const std::string& sample : samples) {
    ASSERT_EQ(CodeOf(sample), 0);
    for (size_t size = 0; size < sample.size(); ++size) {
      std::string cut = sample.substr(0, size);
      EXPECT_NE(CodeOf(cut), 0) << size;  // the header tells the old length
      if (size < kHeaderBytes) continue;
      const Header header = ReadHeader(cut);
      WriteHeader({static_cast<uint32_t>(size), header.request_id, 0, header.op_code}, cut.data());
      const bool at_section = header.op_code == kOpMsg && size == Msg(Body(Ping())).size() && sample == samples[0];
      EXPECT_EQ(CodeOf(cut) == 0, at_section) << size;
    }
  }
}

// Seeded mutation: whatever comes is either understood or refused. Run under the sanitizers this finds overreads.
TEST(MessageTest, RandomBytesNeverCrash) {
  Random random(braid::test::Seed());
  const bson::Document one = J("{'_id': 1, 'a': [1, 2, {'b': 'text'}]}");
  const std::string samples[] = {Msg(Body(Ping()) + Sequence("documents", one.bytes() + one.bytes())),
                                 test::MsgChecked(Body(Ping())),
                                 Query("admin.$cmd", J("{'hello': 1}")),
                                 test::Compressed(Msg(Body(one)), Compressor::kSnappy),
                                 test::Compressed(Msg(Body(one)), Compressor::kZlib),
                                 test::Compressed(Msg(Body(one)), Compressor::kZstd)};
  Buffer scratch;
  Message message;
  int understood = 0;
  for (int round = 0; round < 30'000; ++round) {
    std::string bytes = samples[random.Below(std::size(samples))];
    const uint64_t changes = random.Below(6);
    for (uint64_t i = 0; i < changes; ++i) {
      bytes[12 + random.Below(bytes.size() - 12)] = static_cast<char>(random.Next());
    }
    if (random.Chance(1, 4)) bytes.resize(kHeaderBytes + random.Below(bytes.size() - kHeaderBytes));
    const auto length = static_cast<uint32_t>(bytes.size());
    std::memcpy(bytes.data(), &length, 4);
    const std::unique_ptr<char[]> exact(new char[bytes.size()]);  // so that an overread leaves the allocation
    std::memcpy(exact.get(), bytes.data(), bytes.size());
    if (Parse({exact.get(), bytes.size()}, scratch, message).ok()) ++understood;
  }
  EXPECT_GT(understood, 1000);
}

}  // namespace
}  // namespace braid::wire
