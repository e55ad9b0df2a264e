// The explorer's collections on every kind of store: made once, with the shard keys and indexes of D7.
#include "services/explorer/collections.h"

#include <gmock/gmock.h>

#include "services/explorer/testing/fixture.h"
#include "services/schema/testing.h"

namespace braid::explorer::testkit {
namespace {

using ::testing::IsEmpty;

using ExplorerCollectionsTest = IndexTest;

TEST_P(ExplorerCollectionsTest, OpeningTheExplorerMakesThem) {
  const auto report = schema::Compare(store_.clients(), store_.database(), Collections());
  ASSERT_OK(report);
  EXPECT_TRUE(report->ok());
  EXPECT_THAT(schema::Differing(*report), IsEmpty());
  EXPECT_THAT(schema::Things(*report, schema::State::kMissing), IsEmpty());
  const auto again = schema::Apply(store_.clients(), store_.database(), Collections());
  ASSERT_OK(again);
  EXPECT_EQ(again->Count(schema::State::kCreated), 0u);
}

TEST_P(ExplorerCollectionsTest, EveryCollectionOfEpochsIsFoundByItsEpochAndOnOneShard) {
  std::map<std::string, std::string> keys;
  for (const schema::CollectionSpec& spec : Collections()) {
    for (const schema::IndexSpec& index : spec.indexes) {
      if (index.keys == R"({"epoch": 1})") keys[spec.name] = spec.shard_key;
    }
  }
  const std::string by_id = R"({"_id": "hashed"})";
  EXPECT_EQ(keys, (std::map<std::string, std::string>{{"blocks", by_id},
                                                      {"transactions", by_id},
                                                      {"receipts", R"({"transaction": "hashed"})"},
                                                      {"block_transactions", R"({"block": "hashed"})"},
                                                      {"blocks_in_order", by_id},
                                                      {"account_transactions", R"({"_id.owner": "hashed"})"},
                                                      {"miner_blocks", R"({"_id.owner": "hashed"})"},
                                                      {"miners", by_id}}));
  EXPECT_EQ(keys.size(), EpochCollections().size());
}

TEST(ExplorerIdsTest, TextsAreInTheOrderOfNumbers) {
  EXPECT_EQ((OwnedId{"0xab", 123}.ToText()), "0xab:000000000123");
  EXPECT_LT((OwnedId{"0xab", 99}.ToText()), (OwnedId{"0xab", 100}.ToText()));
  EXPECT_EQ(RowsId("0xab", 12), "0xab:000012");
}

TEST(ExplorerIdsTest, AnOwnedIdIsReadAsItWasWritten) {
  client::Bson entry;
  OwnedId{"0xab", 123}.AppendTo(entry.get(), "_id");
  EXPECT_EQ(CanonicalJson(entry.get()), R"({ "_id" : { "owner" : "0xab", "score" : "000000000123" } })");
  const auto read = OwnedIdOf(*entry.get());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->owner, "0xab");
  EXPECT_EQ(read->score, 123);
  for (const char* other : {R"({"_id": "0xab:000000000123"})", R"({"_id": {"owner": "0xab"}})", "{}",
                            R"({"_id": {"owner": "0xab", "score": "12x"}})"}) {
    EXPECT_FALSE(OwnedIdOf(*client::ParseJson(other)->get())) << other;
  }
}

INSTANTIATE_ON_STORES(ExplorerCollectionsTest);

}  // namespace
}  // namespace braid::explorer::testkit
