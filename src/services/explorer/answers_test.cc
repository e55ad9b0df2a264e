// What queries are given and what they answer, without a store: arguments, cursors, documents.
#include "services/explorer/queries.h"

#include "base/strings.h"
#include "base/testing/testing.h"
#include "services/explorer/collections.h"

namespace braid::explorer {
namespace {

using client::BsonPtr;

BsonPtr FromJson(std::string_view json) {
  auto parsed = client::ParseJson(json);
  EXPECT_OK(parsed);
  return parsed.ok() ? *std::move(parsed) : BsonPtr(bson_new());
}

std::string ToJson(const BsonPtr& document) {
  char* text = bson_as_relaxed_extended_json(document.get(), nullptr);
  std::string json(text);
  bson_free(text);
  return json;
}

TEST(PagingTest, HashesAndAddressesBecomeLowerCase) {
  const std::string digits(62, 'a');
  EXPECT_EQ(*HashArgument("the hash", StrCat("0xAB", digits)), StrCat("0xab", digits));
  EXPECT_EQ(*OptionalHashArgument("the hash", ""), "");
  EXPECT_EQ(*AddressArgument("the address", StrCat("0x", std::string(40, 'F'))), StrCat("0x", std::string(40, 'f')));
  for (const std::string& bad : {std::string(), digits, StrCat("0x", digits), StrCat("0xab", digits, "0"),
                                 StrCat("0xgg", digits), StrCat("1xab", digits), std::string(1 << 20, 'x')}) {
    const auto refused = HashArgument("the hash", bad);
    ASSERT_FALSE(refused.ok()) << bad;
    EXPECT_EQ(refused.error().code(), Code::kBadValue);
    EXPECT_TRUE(refused.error().message().starts_with("the hash '"));
    EXPECT_LT(refused.error().message().size(), 200U);
  }
}

TEST(PagingTest, CursorsComeBackAndAreOfTheirList) {
  for (const int64_t position : {int64_t{0}, int64_t{1}, int64_t{255}, int64_t{1'000'000'000'000}}) {
    const std::string cursor = ToCursor(PagedList::kBlocks, position);
    EXPECT_EQ(**ParseCursor(PagedList::kBlocks, cursor), position);
    EXPECT_FALSE(ParseCursor(PagedList::kPivots, cursor).ok());
  }
  EXPECT_FALSE(ParseCursor(PagedList::kBlocks, "")->has_value());
  for (const char* bad : {"b", "b-1", "bx", "b1 ", "b7fffffffffffffff", "bfffffffffffffffffffff", "1", " b1"}) {
    EXPECT_EQ(ParseCursor(PagedList::kBlocks, bad).status().code(), Code::kBadValue) << bad;
  }
  const std::string address = StrCat("0x", std::string(40, '7'));
  EXPECT_EQ(*ParseAddressCursor(PagedList::kMiners, ToAddressCursor(PagedList::kMiners, address)), address);
  EXPECT_EQ(*ParseAddressCursor(PagedList::kMiners, ""), "");
  EXPECT_FALSE(ParseAddressCursor(PagedList::kMiners, "w12").ok());
  EXPECT_FALSE(ParseAddressCursor(PagedList::kMiners, address).ok());
}

TEST(PagingTest, Limits) {
  EXPECT_OK(CheckPageLimit(1));
  EXPECT_OK(CheckPageLimit(kRowsMax));
  EXPECT_FALSE(CheckPageLimit(0).ok());
  EXPECT_FALSE(CheckPageLimit(kRowsMax + 1).ok());
}

TEST(AnswersTest, ABlockHasEveryFieldAndItsHashFirst) {
  const BsonPtr stored = FromJson(R"({"_id": "0x1", "score": 5, "isPivot": "0x1", "transactionCount": "0x2",
      "newTransactionCount": "0x1", "miner": "0x3", "refereeHashes": "[\"0x7\",\"0x8\"]", "blame": 0, "receipt": "kept",
      "epoch": 9})");
  EXPECT_EQ(ToJson(BlockAnswer(*stored)),
            R"({ "hash" : "0x1", "deferredReceiptsRoot" : null, "deferredStateRoot" : null, "difficulty" : null, )"
            R"("epochNumber" : null, "gasLimit" : null, "height" : null, "miner" : "0x3", "nonce" : null, )"
            R"("parentHash" : null, "size" : null, "timestamp" : null, "transactionsRoot" : null, "isPivot" : "0x1", )"
            R"("score" : 5, "transactionCount" : "0x2", "newTransactionCount" : "0x1", )"
            R"("refereeHashes" : [ "0x7", "0x8" ], "blame" : 0, "receipt" : "kept" })");
  EXPECT_NE(ToJson(BlockAnswer(*FromJson(R"({"_id": "0x1"})"))).find(R"("refereeHashes" : null)"), std::string::npos);
  EXPECT_NE(
      ToJson(BlockAnswer(*FromJson(R"({"_id": "0x1", "refereeHashes": "[]"})"))).find(R"("refereeHashes" : [  ])"),
      std::string::npos);
}

TEST(AnswersTest, ReceiptsStandBesideTheTransactionAndTheNewestFirst) {
  const BsonPtr stored =
      FromJson(R"({"_id": "0x1", "score": 5, "timestamp": "0x9", "firstBlockHash": "0xb", "from": "0xf",
      "gas": "0x1", "custom": 1, "receipt": {"from": "0xother", "gasUsed": "0x1", "only_first": "a", "v": "0x0"}, "epoch": 9})");
  std::vector<BsonPtr> receipts;
  receipts.push_back(
      FromJson(R"({"_id": "0x1@12", "fields": {"gasUsed": "0x3", "contractCreated": "0xc", "gas": "0x9"}})"));
  receipts.push_back(FromJson(R"({"_id": "0x1@11", "fields": {"gasUsed": "0x2", "logs": []}})"));
  EXPECT_EQ(ToJson(TransactionAnswer(*stored, receipts)),
            R"({ "hash" : "0x1", "blockHash" : null, "contractCreated" : "0xc", "data" : null, "from" : "0xf", )"
            R"("gas" : "0x1", "gasPrice" : null, "nonce" : null, "r" : null, "s" : null, "v" : "0x0", "to" : null, )"
            R"("value" : null, "transactionIndex" : null, "timestamp" : "0x9", "score" : 5, "custom" : 1, )"
            R"("gasUsed" : "0x3", "logs" : [  ], "only_first" : "a" })");
}

TEST(AnswersTest, RowsHaveAllFieldsOfTheirList) {
  EXPECT_EQ(ToJson(AccountRowAnswer(*FromJson(R"({"_id": "x", "hash": "0x1", "type": "sender", "timestamp": "0x2"})"))),
            R"({ "hash" : "0x1", "type" : "sender", "timestamp" : "0x2" })");
  EXPECT_EQ(ToJson(MinerRowAnswer(*FromJson(R"({"_id": "0xa", "block": "0x1", "score": 3, "epoch": 1})"))),
            R"({ "miner" : "0xa", "block" : "0x1", "score" : 3 })");
  const auto rows = BlockTransactionAnswers(*FromJson(
      R"({"_id": "x", "first": 0, "transactions": [{"hash": "0x1", "transactionIndex": "0x0", "from": "0xa"}, {"hash": "0x2"}]})"));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(ToJson(rows[0]),
            R"({ "hash" : "0x1", "transactionIndex" : "0x0", "from" : "0xa", "to" : null, "value" : null })");
}

}  // namespace
}  // namespace braid::explorer
