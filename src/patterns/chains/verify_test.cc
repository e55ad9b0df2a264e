// Verification finds and names every changed byte, and goes on after it (C5).
#include "patterns/chains/verify.h"

#include "client/fields.h"
#include "patterns/chains/testing.h"

namespace braid::chains {
namespace {

// Documents of the log as they are stored, without a store: the verifier is pure.
std::vector<client::BsonPtr> Segments(int compression_level) {
  std::vector<client::BsonPtr> documents;
  ChainHash prev{};
  int64_t sequence = 0;
  for (int segment = 0; segment < 3; ++segment) {
    SegmentBuilder builder;
    for (int i = 0; i < 4; ++i) {
      sequence += 2;
      const std::string payload = StrCat("a payload that can be compressed, compressed, compressed: ", sequence);
      ChainRecordView record{.chain = 7, .sequence = sequence, .prev_hash = prev, .payload = payload};
      record.hash = prev = HashChainRecord(record);
      builder.Add(record);
    }
    client::Bson document;
    builder.Finish({.epoch = 1, .created_at = 1'700'000'000'000, .compression_level = compression_level}, document);
    documents.emplace_back(bson_copy(document.get()));
  }
  return documents;
}

std::vector<ChainDamage> Verify(const std::vector<client::BsonPtr>& documents) {
  std::vector<ChainDamage> found;
  ChainVerifier verifier(7, false, [&](ChainDamage damage) { found.push_back(std::move(damage)); });
  for (const client::BsonPtr& document : documents) verifier.Add(*document);
  return found;
}

uint8_t* DataOf(bson_t* document, uint32_t& size) {
  bson_iter_t field;
  EXPECT_TRUE(bson_iter_init_find(&field, document, "data"));
  bson_subtype_t subtype{};
  const uint8_t* bytes = nullptr;
  bson_iter_binary(&field, &subtype, &size, &bytes);
  return const_cast<uint8_t*>(bytes);
}

TEST(ChainVerifierTest, SoundSegmentsAreSound) {
  EXPECT_TRUE(Verify(Segments(0)).empty());
  EXPECT_TRUE(Verify(Segments(1)).empty());
}

// Each bit of each byte of a segment's data in turn, in the middle of the chain.
TEST(ChainVerifierTest, EveryChangedBitOfTheDataIsNamed) {
  for (const int level : {0, 1}) {
    const auto documents = Segments(level);
    uint32_t size = 0;
    uint8_t* const data = DataOf(documents[1].get(), size);
    ASSERT_GT(size, 100u);
    ASSERT_EQ(data[1], level);
    for (uint32_t at = 0; at < size; ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        data[at] ^= static_cast<uint8_t>(1 << bit);
        const auto found = Verify(documents);
        data[at] ^= static_cast<uint8_t>(1 << bit);
        ASSERT_FALSE(found.empty()) << "level " << level << ", byte " << at << " of " << size << ", bit " << bit;
        for (const ChainDamage& damage : found) {
          EXPECT_EQ(damage.chain, 7);
          EXPECT_FALSE(damage.what.empty());
        }
      }
    }
  }
}

TEST(ChainVerifierTest, AChangedPayloadIsNamedAlone) {
  const auto documents = Segments(0);
  uint32_t size = 0;
  uint8_t* const data = DataOf(documents[1].get(), size);
  data[size - 1] ^= 1;  // the end of the last payload
  const auto found = Verify(documents);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].sequence, 16);
  EXPECT_NE(found[0].what.find("hash: expected"), std::string::npos);
}

TEST(ChainVerifierTest, AChangedHashIsNamedOnceAndNotAgainByTheNextRecord) {
  const auto documents = Segments(0);
  uint32_t size = 0;
  uint8_t* const data = DataOf(documents[1].get(), size);
  data[44 + 32] ^= 1;  // the hash of the segment's second record
  const auto found = Verify(documents);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].sequence, 12);
}

TEST(ChainVerifierTest, AMissingSegmentIsNamedByTheNext) {
  auto documents = Segments(1);
  documents.erase(documents.begin() + 1);
  const auto found = Verify(documents);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].sequence, 18);
  EXPECT_NE(found[0].what.find("missing"), std::string::npos);
}

// Their headers would shrink, but each reader would pay for it.
TEST(ChainVerifierTest, RandomPayloadsStayAsTheyAre) {
  Random random(test::Seed());
  SegmentBuilder builder;
  ChainHash prev{};
  for (int64_t sequence = 1; sequence <= 100; ++sequence) {
    std::string payload;
    for (int i = 0; i < 300; ++i) payload.push_back(static_cast<char>(random.Next()));
    ChainRecordView record{.chain = 7, .sequence = sequence, .prev_hash = prev, .payload = payload};
    record.hash = prev = HashChainRecord(record);
    builder.Add(record);
  }
  client::Bson document;
  builder.Finish({.epoch = 1, .created_at = 1, .compression_level = -1}, document);
  uint32_t size = 0;
  EXPECT_EQ(DataOf(document.get(), size)[1], 0);
  std::vector<client::BsonPtr> documents;
  documents.emplace_back(bson_copy(document.get()));
  EXPECT_TRUE(Verify(documents).empty());
}

class ChainVerifyTest : public ChainsStoreTest {
 protected:
  void SetUp() override {
    chains_ = Open();
    for (int64_t i = 1; i <= 30; ++i) ASSERT_OK(AppendOne(*chains_, RecordOf(i % 3, i, StrCat("payload ", i))));
    ExpectSound(*chains_);
  }
  /// The same document with one field of another value.
  static client::BsonPtr With(const bson_t& document, const char* name, const std::function<void(bson_t*)>& append) {
    client::BsonPtr changed(bson_new());
    bson_copy_to_excluding_noinit(&document, changed.get(), name, nullptr);
    append(changed.get());
    return changed;
  }
  std::unique_ptr<Chains> chains_;
};
INSTANTIATE_ON_STORES(ChainVerifyTest);

TEST_P(ChainVerifyTest, EveryFieldOfASegmentCounts) {
  const std::function<void(bson_t*)> changes[] = {
      [](bson_t* to) { BSON_APPEND_INT64(to, "first_seq", 5); },
      [](bson_t* to) { BSON_APPEND_INT64(to, "last_seq", 5); },
      [](bson_t* to) { BSON_APPEND_INT64(to, "count", 5); },
      [](bson_t* to) { BSON_APPEND_INT64(to, "epoch", 5); },
      [](bson_t* to) { BSON_APPEND_INT64(to, "symbol_id", 5); },
      [](bson_t* to) { BSON_APPEND_DATE_TIME(to, "created_at", 5); },
      [](bson_t* to) { BSON_APPEND_UTF8(to, "_id", "1:5"); },
      [](bson_t* to) { BSON_APPEND_UTF8(to, "prev_hash", "x"); },
      [](bson_t* to) { BSON_APPEND_NULL(to, "hash"); },
      [](bson_t* to) { BSON_APPEND_BINARY(to, "data", BSON_SUBTYPE_BINARY, nullptr, 0); },
      [](bson_t* to) { BSON_APPEND_INT32(to, "more", 1); },
  };
  for (const auto& change : changes) {
    auto documents = Documents("log");
    client::Bson sample;
    change(sample.get());
    bson_iter_t name;
    ASSERT_TRUE(bson_iter_init(&name, sample.get()) && bson_iter_next(&name));
    const std::string field = bson_iter_key(&name);
    client::BsonPtr original = std::move(documents[12]);
    documents[12] = With(*original, field.c_str(), change);
    Replace("log", documents);
    const auto report = chains_->Verify({});
    ASSERT_OK(report);
    EXPECT_FALSE(report->ok()) << field;
    documents[12] = std::move(original);
    Replace("log", documents);
  }
  ExpectSound(*chains_);
}

TEST_P(ChainVerifyTest, TheHeadIsComparedWithTheLog) {
  const auto heads = Documents("log_heads");
  const std::function<void(bson_t*)> changes[] = {
      [](bson_t* to) { BSON_APPEND_INT64(to, "seq", 29); },  [](bson_t* to) { BSON_APPEND_INT64(to, "seq", 300); },
      [](bson_t* to) { BSON_APPEND_UTF8(to, "seq", "30"); }, [](bson_t* to) { BSON_APPEND_INT64(to, "records", 9); },
      [](bson_t* to) { BSON_APPEND_NULL(to, "hash"); },
  };
  const char* const names[] = {"seq", "seq", "seq", "records", "hash"};
  for (size_t i = 0; i < std::size(changes); ++i) {
    std::vector<client::BsonPtr> changed;
    changed.push_back(With(*heads[0], names[i], changes[i]));
    for (size_t other = 1; other < heads.size(); ++other) changed.emplace_back(bson_copy(heads[other].get()));
    Replace("log_heads", changed);
    const auto report = chains_->Verify({});
    ASSERT_OK(report);
    EXPECT_FALSE(report->ok()) << names[i] << " " << i;
  }
  // A head that cannot be read stops its chain and no other, until it is taken from the log again.
  const auto fresh = Open();
  const int64_t damaged = client::IntegerOf(heads[0].get(), "_id");
  EXPECT_EQ(AppendOne(*fresh, RecordOf(damaged, 40)).code(), Code::kChainHalted);
  EXPECT_OK(AppendOne(*fresh, RecordOf((damaged + 1) % 3, 41)));
  EXPECT_EQ(fresh->Repair(damaged, {.by = "ann", .reason = "x"}).code(), Code::kRecordDamaged);
  ASSERT_OK(fresh->Repair(damaged, {.action = RepairAction::kHeadFromLog, .by = "ann", .reason = "x"}));
  EXPECT_OK(AppendOne(*fresh, RecordOf(damaged, 42)));
  ExpectSound(*fresh);
}

TEST_P(ChainVerifyTest, AllDamageIsListedAndCounted) {
  auto documents = Documents("log");
  for (const size_t index : {3u, 9u, 20u}) {
    uint32_t size = 0;
    DataOf(documents[index].get(), size)[size - 1] ^= 0x40;
  }
  Replace("log", documents);
  const auto report = chains_->Verify({.threads = 3});
  ASSERT_OK(report);
  EXPECT_EQ(report->damaged, 3);
  EXPECT_EQ(report->damage.size(), 3u);
  EXPECT_EQ(report->records, 30);
  EXPECT_EQ(report->chains, 3);
  EXPECT_EQ(chains_->Verify({.damage_max = 1})->damage.size(), 1u);
  EXPECT_EQ(chains_->Verify({.from_sequence = 31})->records, 0);
  std::atomic<int64_t> seen = 0;
  EXPECT_EQ(chains_->Verify({.chains = {1}, .on_progress = [&](int64_t records) { seen = records; }})->records, 10);
  EXPECT_EQ(seen, 10);
}

// More threads than chains: the segments of one chain are checked side by side, with the same result in the same order.
TEST_P(ChainVerifyTest, ThreadsThatShareAChainFindTheSame) {
  Random random(test::Seed());
  for (int64_t i = 31; i <= 70; ++i) {
    std::string payload;  // large and random, so that the segments are several groups
    while (payload.size() < 30'000) payload += StrCat(random.Next());
    ASSERT_OK(AppendOne(*chains_, RecordOf(1, i, payload)));
  }
  ExpectSound(*chains_);
  auto documents = Documents("log");  // those of chain 1 are the 11th to the 60th
  for (const size_t index : {20u, 21u, 45u, 59u}) {
    uint32_t size = 0;
    DataOf(documents[index].get(), size)[size - 1] ^= 0x40;
  }
  documents.erase(documents.begin() + 52);
  Replace("log", documents);
  const auto one = chains_->Verify({.threads = 1, .chains = {1}});
  const auto four = chains_->Verify({.threads = 4, .chains = {1}});
  ASSERT_OK(one);
  ASSERT_OK(four);
  EXPECT_GE(one->damaged, 5);
  EXPECT_EQ(one->records, four->records);
  EXPECT_EQ(one->payload_bytes, four->payload_bytes);
  ASSERT_EQ(one->damage.size(), four->damage.size());
  for (size_t i = 0; i < one->damage.size(); ++i) {
    EXPECT_EQ(one->damage[i].sequence, four->damage[i].sequence);
    EXPECT_EQ(one->damage[i].what, four->damage[i].what);
  }
}

TEST_P(ChainVerifyTest, ASharedRecordThatOneChainLostIsNamed) {
  ChainRecord shared = RecordOf(1, 50);
  shared.also = {2};
  ASSERT_OK(AppendOne(*chains_, shared));
  ExpectSound(*chains_);
  auto documents = Documents("log");
  std::erase_if(documents, [](const client::BsonPtr& document) {
    return client::IntegerOf(document.get(), "symbol_id") == 2 && client::IntegerOf(document.get(), "last_seq") == 50;
  });
  ASSERT_EQ(documents.size(), 31u);
  Replace("log", documents);
  ASSERT_OK(chains_->Repair(2, {.action = RepairAction::kHeadFromLog, .by = "eve", .reason = "to hide it"}));
  const auto report = chains_->Verify({});
  ASSERT_OK(report);
  ASSERT_EQ(report->damage.size(), 1u);
  EXPECT_EQ(report->damage[0].chain, 2);
  EXPECT_EQ(report->damage[0].sequence, 50);
  EXPECT_EQ(AppendOne(*chains_, shared).code(), Code::kChainBroken);
}

}  // namespace
}  // namespace braid::chains
