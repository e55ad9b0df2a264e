// The canonical bytes of a record, against hashes computed independently with Python's hashlib and struct.
#include "patterns/chains/hash.h"

#include <gtest/gtest.h>

#include <numeric>

#include "patterns/chains/segment.h"

namespace braid::chains {
namespace {

TEST(HashTest, FirstRecordOfAChain) {
  EXPECT_EQ(HexOf(HashChainRecord({.chain = 7, .sequence = 1, .prev_hash = kGenesis})),
            "661b08659f54248e8660d30f21010c4298763156078dbf2207ae7974abd73d2d");
}

TEST(HashTest, NamesTheRecordBefore) {
  const ChainHash first = HashChainRecord({.chain = 7, .sequence = 1});
  EXPECT_EQ(HexOf(HashChainRecord({.chain = 7, .sequence = 42, .prev_hash = first, .payload = "hello"})),
            "a6d8365116c3d36176a9992518086b877d177623cfb2368372ae2cc6f166d6b7");
}

TEST(HashTest, SharedWithOtherChains) {
  const ChainHash first = HashChainRecord({.chain = 7, .sequence = 1});
  const ChainHash second = HashChainRecord({.chain = 7, .sequence = 42, .prev_hash = first, .payload = "hello"});
  std::string payload(256, '\0');
  std::iota(payload.begin(), payload.end(), '\0');
  const std::vector<int64_t> also = {3, 7};
  EXPECT_EQ(HexOf(HashChainRecord(
                {.chain = 0, .sequence = INT64_MAX, .prev_hash = second, .also = also, .payload = payload})),
            "58c0a178eec76208cd66eff40e80926edd1ea6a0e3ea5af136474e3069cfdcfa");
}

TEST(HashTest, NegativeChainAndLongPayload) {
  EXPECT_EQ(HexOf(HashChainRecord({.chain = -1, .sequence = 5, .payload = std::string(300, 'x')})),
            "31466a30f51bf65168b60ed6c529c8304ad88e65d1e85a48dcf854541e93b7a9");
}

TEST(SegmentTest, IdsSortAsSequencesDo) {
  EXPECT_EQ(SegmentId(7, 42), "7:0000000000000000042");
  EXPECT_LT(SegmentId(7, 99), SegmentId(7, 100));
  EXPECT_EQ(SegmentId(0, INT64_MAX), "0:9223372036854775807");
}

TEST(SegmentTest, ReadsWhatWasBuilt) {
  for (const int level : {0, 1, -1}) {
    SegmentBuilder builder;
    const std::vector<int64_t> also = {4, 9};
    ChainHash prev = kGenesis;
    for (int64_t i = 1; i <= 20; ++i) {
      ChainRecordView record{.chain = 5, .sequence = i * 10, .prev_hash = prev, .payload = "some text, some text"};
      if (i % 3 == 0) record.also = also;
      record.hash = prev = HashChainRecord(record);
      builder.Add(record);
    }
    client::Bson document;
    builder.Finish({.epoch = 3, .created_at = 1'700'000'000'000, .compression_level = level}, document);
    Segment segment;
    const Status status = segment.Read(*document.get());
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_TRUE(segment.problems().empty());
    ASSERT_EQ(segment.records().size(), 20u);
    ChainHash running = kGenesis;
    for (const ChainRecordView& record : segment.records()) {
      EXPECT_EQ(record.prev_hash, running);
      EXPECT_EQ(record.hash, HashChainRecord(record));
      EXPECT_EQ(record.also.size(), record.sequence % 30 == 0 ? 2u : 0u);
      running = record.hash;
    }
    EXPECT_EQ(segment.Find(100)->sequence, 100);
    EXPECT_EQ(segment.Find(101), nullptr);
  }
}

}  // namespace
}  // namespace braid::chains
