// Lines of the interchange format: what is read from them, and every way in which one can be wrong.
#include "services/explorer/epoch.h"

#include <gmock/gmock.h>

#include "services/explorer/documents.h"
#include "services/explorer/testing/index_model.h"

namespace braid::explorer::testkit {
namespace {

using ::testing::HasSubstr;

EpochDraft SomeDraft() {
  EpochDraft draft{.number = 0x15817};
  draft.blocks.push_back({.hash = HashOf('b', 1), .miner = AddressOf('m', 1)});
  draft.blocks.push_back({.hash = HashOf('b', 2), .miner = AddressOf('m', 2), .referees = {HashOf('b', 1)}});
  draft.blocks[1].transactions.push_back(
      {.hash = HashOf('t', 1), .from = AddressOf('a', 1), .to = AddressOf('a', 2), .value = "0x10"});
  draft.blocks[1].transactions.push_back({.hash = HashOf('t', 2), .from = AddressOf('a', 3)});
  draft.receipts.push_back({.transaction = HashOf('t', 2), .created = AddressOf('c', 1)});
  return draft;
}

TEST(EpochTest, ReadsWhatALineSays) {
  const Epoch epoch = Parsed(SomeDraft());
  EXPECT_EQ(epoch.number, 0x15817);
  EXPECT_EQ(epoch.pivot_hash, HashOf('b', 2));
  EXPECT_EQ(epoch.parent_hash, HashOf('p', 0));
  EXPECT_EQ(epoch.bytes, LineOf(SomeDraft()).size());
  EXPECT_EQ(epoch.transaction_count(), 2u);
  ASSERT_EQ(epoch.blocks.size(), 2u);
  const EpochBlock& block = epoch.blocks[1];
  EXPECT_EQ(block.miner, AddressOf('m', 2));
  EXPECT_EQ(block.difficulty, "0x1");
  EXPECT_EQ(block.timestamp, "0x5cb81529");
  EXPECT_EQ(CanonicalJson(block.fields.get()),
            StrCat(R"({ "epochNumber" : "0x15817", "miner" : ")", AddressOf('m', 2),
                   R"(", "difficulty" : "0x1", "timestamp" : "0x5cb81529", "colour" : "red", "parentHash" : ")",
                   HashOf('p', 0), R"(", "refereeHashes" : "[\")", HashOf('b', 1), R"(\"]" })"));
  const EpochTransaction& one = block.transactions[0];
  EXPECT_EQ(one.hash, HashOf('t', 1));
  EXPECT_EQ(one.from, AddressOf('a', 1));
  EXPECT_EQ(one.to, AddressOf('a', 2));
  EXPECT_EQ(one.contract_created, "");
  EXPECT_EQ(one.index, "0x0");
  EXPECT_EQ(CanonicalJson(one.fields.get()),
            StrCat(R"({ "from" : ")", AddressOf('a', 1), R"(", "to" : ")", AddressOf('a', 2),
                   R"(", "value" : "0x10", "data" : "0x00FF", "memo" : { "a" : [ { "$numberLong" : "1" }, null, )",
                   R"({ "$numberDouble" : "2.5" }, true ] } })"));
  EXPECT_EQ(block.transactions[1].index, "0x1");
  ASSERT_EQ(epoch.receipts.size(), 1u);
  EXPECT_EQ(epoch.receipts[0].transaction, HashOf('t', 2));
  EXPECT_EQ(epoch.receipts[0].contract_created, AddressOf('c', 1));
  EXPECT_EQ(CanonicalJson(epoch.receipts[0].fields.get()),
            StrCat(R"({ "outcomeStatus" : "0x0", "contractCreated" : ")", AddressOf('c', 1),
                   R"(", "gasUsed" : "0x5208", "logs" : [  ] })"));
}

// A good line with a part of its text replaced, and what the error says.
struct BadLine {
  std::string part;
  std::string instead;
  std::string says;
};

std::vector<BadLine> BadLines() {
  const std::string pivot = Quoted(HashOf('b', 2));
  const std::string miner = Quoted(Upper(AddressOf('m', 2)));
  const std::string first = Quoted(Upper(HashOf('b', 1)));
  const std::string from = Quoted(Upper(AddressOf('a', 3)));
  const std::string name = "epoch 88087, ";
  return {
      {R"("epochNumber":"0x15817","pivotHash")", R"("pivotHash")", "the epoch, epochNumber: is missing"},
      {R"("epochNumber":"0x15817","pivotHash")", R"("epochNumber":7,"pivotHash")",
       "the epoch, epochNumber: is not a string"},
      {R"("epochNumber":"0x15817","pivotHash")", R"("epochNumber":"15817","pivotHash")", "'15817' is not a quantity"},
      {R"("epochNumber":"0x15817","pivotHash")", R"("epochNumber":"0x8000000000000000","pivotHash")",
       "'0x8000000000000000' is above 0x7fffffffffffffff"},
      {R"("epochNumber":"0x15817","pivotHash")", R"("epochNumber":"0x15817","epochNumber":"0x1","pivotHash")",
       name + "epochNumber: is there twice"},
      {R"("pivotHash":)" + pivot, R"("pivotHash":)" + Quoted(HashOf('b', 1)),
       name + "pivotHash: " + HashOf('b', 1) + " is not the last block, which is " + HashOf('b', 2)},
      {R"("pivotHash":)" + pivot, R"("pivotHash":"0x12")", name + "pivotHash: '0x12' is not a hash"},
      {R"("pivotHash":)" + pivot, R"("pivotHash":null)", name + "pivotHash: is missing"},
      {R"("blocks":[)", R"("blocks":[],"were":[)", name + "blocks: is missing or empty"},
      {R"("blocks":[)", R"("blocks":[7,)", name + "blocks[0]: is not an object"},
      {R"("blocks":[)", R"("blocks":7,"were":[)", name + "blocks: is not an array"},
      {"\"hash\":" + pivot, "\"hash\":" + first, name + "blocks[1].hash: " + HashOf('b', 1) + " is there twice"},
      {first, Quoted(HashOf('b', 1).substr(0, 65)), name + "blocks[0].hash: '0x6200"},
      {first, "null", name + "blocks[0].hash: is missing"},
      {miner, Quoted("0xzz" + AddressOf('m', 2).substr(4)), name + "blocks[1].miner: '0xzz"},
      {miner, "null", name + "blocks[1].miner: is missing"},
      {R"("difficulty":"0x1")", R"("difficulty":"0x")", name + "blocks[0].difficulty: '0x' is not a quantity"},
      {R"("difficulty":"0x1")", R"("difficulty":null)", name + "blocks[0].difficulty: is missing"},
      {R"("difficulty":"0x1")", R"("difficulty":"0x)" + std::string(257, '1') + "\"", "is not a quantity"},
      {R"("timestamp":"0x5cb81529")", R"("timestamp":"0xffffffffffffffff")",
       name + "blocks[0].timestamp: '0xffffffffffffffff' is above"},
      {R"("nonce":null)", R"("height":"0x1")", ""},  // only the pivot's counts
      {R"("epochNumber":"0x15817","miner")", R"("epochNumber":"0x1","miner")",
       name + "blocks[0].epochNumber: 1 is not the number of the epoch, 88087"},
      {R"("parentHash")", R"("height":"0x15818","parentHash")",
       name + "blocks[1].height: 88088 is not the number of the epoch, 88087"},
      {R"("parentHash")", R"("mother")", name + "blocks[1].parentHash: is missing"},
      {Quoted(HashOf('b', 1)) + "]", "1]", name + "blocks[1].refereeHashes[0]: is not a string"},
      {R"("colour":"red")", R"("colour":"red","colour":"red")", name + "blocks[0].colour: is there twice"},
      {R"("colour":"red")", R"("col.our":"red")", name + "blocks[0].col.our: a name that"},
      {R"("colour":"red")", R"("$colour":"red")", name + "blocks[0].$colour: a name that"},
      {R"("colour":"red")", R"("colour":18446744073709551615)", "18446744073709551615 is above"},
      {R"("colour":"red")", R"("colour":)" + std::string(40, '[') + std::string(40, ']'), "more than 32 deep"},
      {R"("colour":"red")", R"("colour":")" + std::string(8 << 20, 'r') + "\"", name + "blocks[0]: has 8388"},
      {Quoted(Upper(HashOf('t', 2))) + ",\"from", Quoted(HashOf('t', 1)) + ",\"from",
       name + "blocks[1].transactions[1].hash: " + HashOf('t', 1) + " is there twice"},
      {from, "null", name + "blocks[1].transactions[1].from: is missing"},
      {from, "\"0x0\"", name + "blocks[1].transactions[1].from: '0x0' is not an address: 0x and 40"},
      {R"("value":"0x10")", R"("value":16)", name + "blocks[1].transactions[0].value: is not a string"},
      {R"("data":"0x00FF")", R"("data":"0x00F")", "'0x00F' is not 0x and two hexadecimal digits per byte"},
      {R"("data":"0x00FF")", R"("data":"00FF")", "'00FF' is not 0x"},
      {R"("receipts":{)", R"("receipts":[],"were":{)", name + "receipts: is not an object"},
      {R"("receipts":{)", R"("receipts":{"0x1":{},)", name + "receipts: '0x1' is not a hash"},
      {R"("receipts":{)", R"("receipts":{)" + Quoted(HashOf('t', 2)) + ":null,", "is there twice"},
      {R"("outcomeStatus")", R"("transactionHash":)" + Quoted(HashOf('t', 1)) + R"(,"outcomeStatus")",
       ".transactionHash: " + HashOf('t', 1) + " is another transaction"},
      {R"("gasUsed":"0x5208")", R"("gasUsed":5208)", ".gasUsed: is not a string"},
      {R"({"epochNumber")", R"(["epochNumber")", "the epoch: is not valid JSON"},
  };
}

TEST(EpochTest, BadLinesAreRefusedByTheNameOfTheField) {
  for (const BadLine& bad : BadLines()) {
    std::string line = LineOf(SomeDraft());
    const size_t place = line.find(bad.part);
    ASSERT_NE(place, std::string::npos) << bad.part;
    line.replace(place, bad.part.size(), bad.instead);
    SCOPED_TRACE(bad.instead.substr(0, 200));
    const auto epoch = ParseEpoch(line);
    ASSERT_EQ(epoch.ok(), bad.says.empty()) << epoch.status().ToString();
    if (epoch.ok()) continue;
    EXPECT_EQ(epoch.error().code(), Code::kBadValue);
    EXPECT_THAT(std::string(epoch.error().message()), HasSubstr(bad.says));
  }
  EXPECT_EQ(ParseEpoch("[]").status().message(), "the epoch: is not an object");
}

TEST(EpochTest, ALineThatIsTooLongIsRefused) {
  const auto epoch = ParseEpoch(std::string(kEpochBytesMax + 1, ' '));
  ASSERT_FALSE(epoch.ok());
  EXPECT_EQ(epoch.error().message(), "the epoch: has 134217729 bytes; it may have 134217728");
}

TEST(EpochTest, QuantitiesOfAnySize) {
  EXPECT_EQ(DecimalOf("0x0"), "0");
  EXPECT_EQ(DecimalOf("0x000a"), "10");
  EXPECT_EQ(DecimalOf("0xffffffffffffffff"), "18446744073709551615");
  EXPECT_EQ(DecimalOf("0x10000000000000000"), "18446744073709551616");
  EXPECT_EQ(DecimalOf("0x4B3B4CA85A86C47A098A223FFFFFFFFF"), "99999999999999999999999999999999999999");
  EXPECT_EQ(SumOf("99999999999999999999999999999999999999", "1"), "100000000000000000000000000000000000000");
  EXPECT_EQ(SumOf("", "009"), "9");
  EXPECT_EQ(HexOf(0), "0x0");
  EXPECT_EQ(HexOf(0x15817), "0x15817");
}

}  // namespace
}  // namespace braid::explorer::testkit
