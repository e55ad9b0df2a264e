// What the loads are made of: writers that hand a symbol over, chains that are halted and repaired, stock that adds up.
#include "cli/demo/settlement_writers.h"
#include "cli/demo/shop_catalogue.h"
#include "embedded/testing/stores.h"
#include "services/settlement/generator.h"

namespace braid::cli::demo {
namespace {

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

}  // namespace
}  // namespace braid::cli::demo
