// What the demo is made of: writers that hand a symbol over, chains that are halted and repaired, stock that adds up;
// and the guide, which has commands that a shell takes as they are, with the addresses in use.
#include "cli/demo/settlement_writers.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/strings.h"
#include "cli/demo/guide.h"
#include "cli/demo/shop_catalogue.h"
#include "embedded/testing/stores.h"
#include "services/settlement/generator.h"

namespace braid::cli::demo {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::vector<settlement::Output> SomeOutputs(settlement::Generator& generator, int count) {
  std::vector<settlement::Output> outputs;
  outputs.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) outputs.push_back(generator.Next());
  return outputs;
}

int64_t RecordsOf(SettlementWriters& writers) {
  const auto report = writers.chains().Verify({});
  EXPECT_OK(report);
  EXPECT_TRUE(report->ok());
  return report->records;
}

TEST(SettlementWritersTest, TheHotSymbolGoesToAndFroAndNothingIsMissing) {
  test::TestStore store("embedded");
  settlement::Generator generator({.symbols = 3, .hot_percent = 50});
  for (int run = 0; run < 2; ++run) {
    const auto writers = SettlementWriters::Open(store.clients());
    ASSERT_OK(writers);
    ASSERT_OK((*writers)->Append(SomeOutputs(generator, 50)));
    EXPECT_STREQ((*writers)->hot_writer(), "writer-a") << "run " << run;
    for (int i = 0; i < 4; ++i) {
      const auto done = (*writers)->HandHotOver();
      ASSERT_OK(done);
      EXPECT_EQ(done->to, (*writers)->hot_writer());
      EXPECT_NE(done->from, done->to);
      ASSERT_OK((*writers)->Append(SomeOutputs(generator, 50)));
    }
  }
  const auto writers = SettlementWriters::Open(store.clients());
  ASSERT_OK(writers);
  EXPECT_EQ(RecordsOf(**writers), 500);
}

TEST(SettlementWritersTest, AHaltedChainGoesOnAfterARepairOrAtTheNextStart) {
  test::TestStore store("embedded");
  settlement::Generator generator({.symbols = 2});
  const std::vector<settlement::Output> outputs = SomeOutputs(generator, 40);
  const std::span<const settlement::Output> all(outputs);
  {
    const auto writers = SettlementWriters::Open(store.clients());
    ASSERT_OK(writers);
    ASSERT_OK((*writers)->Append(all.first(10)));
    ASSERT_OK((*writers)->Halt(outputs[10]));
    EXPECT_EQ((*writers)->Append(all.subspan(10, 1)).code(), Code::kChainHalted);
    ASSERT_OK((*writers)->Repair(outputs[10].symbol_id(), "test"));
    ASSERT_OK((*writers)->Append(all.subspan(10, 10)));
    ASSERT_OK((*writers)->Halt(outputs[20]));
  }
  const auto writers = SettlementWriters::Open(store.clients());
  ASSERT_OK(writers);
  ASSERT_OK((*writers)->Append(all));  // those that are stored are duplicates
  EXPECT_EQ(RecordsOf(**writers), 40);
}

TEST(ShopCatalogueTest, ADeliveryIsCountedInOneZone) {
  test::TestStore store("embedded");
  const auto shop = shop::Shop::Open(store.clients(), {.database = store.database()});
  ASSERT_OK(shop);
  ASSERT_OK(FillCatalogue(**shop));
  const std::string id = Articles().front().id;
  ASSERT_OK(Deliver(**shop, id, kZones[1]));
  ASSERT_OK(FillCatalogue(**shop));  // leaves what is there as it is
  const auto product = (*shop)->Card(id);
  ASSERT_OK(product);
  EXPECT_EQ(std::get<int64_t>(product->attrs.at(kUnits)), 4 * kDelivery);
  EXPECT_EQ(product->StockIn(kZones[0])->qty, kDelivery);
  EXPECT_EQ(product->StockIn(kZones[1])->qty, 2 * kDelivery);
}

// The lines that are commands of a program.
std::vector<std::string> CommandsOf(const std::string& guide, const std::string& program) {
  std::vector<std::string> commands;
  for (const std::string_view line : Split(guide, '\n')) {
    if (line.starts_with(StrCat("  ", program, " "))) commands.emplace_back(line);
  }
  return commands;
}

TEST(GuideTest, HasThreeCommandsOfEachKindWithTheAddressesInUse) {
  const std::string guide = Guide({.address = "127.0.0.1:27018", .http_address = "127.0.0.1:8081", .store = "/tmp/x"});
  EXPECT_THAT(guide, HasSubstr("\nOpen in a browser:  http://127.0.0.1:8081/\n"));
  const std::vector<std::string> shell = CommandsOf(guide, "mongosh");
  const std::vector<std::string> curl = CommandsOf(guide, "curl");
  ASSERT_EQ(shell.size(), 3);
  ASSERT_EQ(curl.size(), 3);
  for (const std::string& line : shell) EXPECT_THAT(line, HasSubstr("mongodb://127.0.0.1:27018/"));
  for (const std::string& line : curl) EXPECT_THAT(line, HasSubstr("'http://127.0.0.1:8081/v1/"));
  // What is between the quotes has none itself.
  for (const auto& lines : {shell, curl}) {
    for (const std::string& line : lines) EXPECT_EQ(std::count(line.begin(), line.end(), '\''), 2) << line;
  }
}

TEST(GuideTest, SaysWhatBecomesOfTheStoreAndWhichPortsWereTaken) {
  GuideInput input{.address = "a:1", .http_address = "a:2", .store = "/tmp/x", .remarks = {"Port 8080 is in use."}};
  EXPECT_THAT(Guide(input), HasSubstr("a store that is removed at the end (/tmp/x).\nPort 8080 is in use.\n"));
  EXPECT_THAT(Guide(input), EndsWith("Stop with Ctrl-C; --store DIR would keep the data.\n"));
  input.temporary = false;
  EXPECT_THAT(Guide(input), HasSubstr("a store that stays (/tmp/x)."));
  EXPECT_THAT(Guide(input), EndsWith("Stop with Ctrl-C.\n"));
}

}  // namespace

}  // namespace braid::cli::demo
