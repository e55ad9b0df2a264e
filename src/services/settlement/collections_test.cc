// What `braid init` makes is what the service makes when it is opened, and outputs are taken in on it as before.
#include "services/settlement/collections.h"

#include <gmock/gmock.h>

#include "services/schema/testing.h"
#include "services/settlement/testing.h"

namespace braid::settlement {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class SettlementCollectionsTest : public SettlementStoreTest {
 protected:
  schema::Report Applied() {
    auto report = schema::Apply(store_.clients(), store_.database(), Collections());
    EXPECT_OK(report);
    return report.ok() ? *std::move(report) : schema::Report();
  }
};
INSTANTIATE_ON_STORES(SettlementCollectionsTest);

TEST_P(SettlementCollectionsTest, TheServiceMakesAllOfThem) {
  Open();
  const schema::Report report = Applied();
  EXPECT_THAT(schema::Things(report, schema::State::kCreated), IsEmpty());
  EXPECT_TRUE(report.ok());
}

TEST_P(SettlementCollectionsTest, OutputsAreTakenInOnWhatWasMade) {
  EXPECT_THAT(schema::Things(Applied(), schema::State::kCreated),
              ElementsAre("engine_output_log collection", "engine_output_log indexes.symbol_id_1_last_seq_1",
                          "engine_output_log_heads collection", "engine_output_log_leases collection",
                          "engine_output_log_repairs collection", "engine_output_log_tree collection"));
  const std::vector<std::string> lines = Generated(100, {.symbols = 3});
  {
    const auto settlement = Open();
    EXPECT_EQ(Count(Ingest(*settlement, lines))[Outcome::kAccepted], lines.size());
    EXPECT_EQ(Stored(settlement->chains()), lines);
    ExpectSound(settlement->chains());
  }
  EXPECT_TRUE(Applied().ok());
}

}  // namespace
}  // namespace braid::settlement
