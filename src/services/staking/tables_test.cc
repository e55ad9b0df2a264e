// What `braid init` makes is what Tables::Open() makes, and events are taken in on it as before.
#include "services/staking/tables.h"

#include <gmock/gmock.h>

#include "services/schema/testing.h"
#include "services/staking/testing/fixture.h"

namespace braid::staking {
namespace {

using test::Active;
using test::Unbonded;
using ::testing::IsEmpty;

class StakingCollectionsTest : public test::StakingTest {
 protected:
  schema::Report Applied() {
    auto report = schema::Apply(store_.clients(), store_.database(), Collections());
    EXPECT_OK(report);
    return report.ok() ? *std::move(report) : schema::Report();
  }
};
INSTANTIATE_ON_STORES(StakingCollectionsTest);

TEST_P(StakingCollectionsTest, TablesMakeAllOfThem) {
  OpenTables();
  const schema::Report report = Applied();
  EXPECT_THAT(schema::Things(report, schema::State::kCreated), IsEmpty());
  EXPECT_TRUE(report.ok());
}

TEST_P(StakingCollectionsTest, EventsAreTakenInOnWhatWasMade) {
  size_t things = 0;
  for (const schema::CollectionSpec& collection : Collections()) things += 1 + collection.indexes.size();
  EXPECT_EQ(Applied().Count(schema::State::kCreated), things);
  EXPECT_EQ(Ingest({Active(1, 1, 1, 500), Active(2, 1, 2, 30), Unbonded(1), Unbonded(7)}).accepted, 3U);
  ExpectModel();
  const schema::Report report = Applied();
  EXPECT_THAT(schema::Things(report, schema::State::kCreated), IsEmpty());
  EXPECT_TRUE(report.ok());
}

}  // namespace
}  // namespace braid::staking
