// Delegations and refused messages, filtered and in pages; and messages that are taken in again.
#include "services/staking/lookups.h"

#include "services/staking/testing/fixture.h"

namespace braid::staking {
namespace {

using test::Active;
using test::KeyOf;
using test::Unbonded;

class LookupsTest : public test::StakingTest {
 protected:
  std::vector<std::string> Hashes(const DelegationFilter& filter, size_t limit = 1000) {
    std::vector<std::string> hashes;
    PageOptions page{.limit = limit};
    do {
      const auto found = FindDelegations(store_.clients(), *OpenTables(), filter, page);
      EXPECT_OK(found);
      if (!found.ok()) break;
      EXPECT_LE(found->rows.size(), limit);
      for (const client::BsonPtr& row : found->rows) hashes.emplace_back(client::TextOf(row.get(), "_id"));
      page.after = found->next;
    } while (!page.after.empty());
    return hashes;
  }
  std::vector<std::string> Reasons(const MessageFilter& filter, size_t limit = 1000) {
    std::vector<std::string> reasons;
    PageOptions page{.limit = limit};
    do {
      const auto found = FindMessages(store_.clients(), *OpenTables(), filter, page);
      EXPECT_OK(found);
      if (!found.ok()) break;
      for (const client::BsonPtr& row : found->rows) reasons.emplace_back(client::TextOf(row.get(), "reason"));
      page.after = found->next;
    } while (!page.after.empty());
    return reasons;
  }
  RetryReport Retry(const MessageFilter& filter) {
    const auto report = RetryMessages(store_.clients(), {.tables = TableOptions()}, filter);
    EXPECT_OK(report);
    return report.ok() ? *report : RetryReport();
  }
};
INSTANTIATE_ON_STORES(LookupsTest);

TEST_P(LookupsTest, DelegationsByEveryFilterInPagesOfAnySize) {
  std::vector<Event> events;
  for (uint64_t i = 0; i < 30; ++i) {
    events.push_back(Active(i, i % 3, i % 2, 5));
    if (i % 5 != 0) events.back().timestamp = static_cast<int64_t>(1000 + i);
  }
  events.push_back(Unbonded(4));
  Ingest(events);
  for (const size_t limit : {1U, 7U, 30U, 31U}) EXPECT_EQ(Hashes({}, limit).size(), 30U) << limit;
  EXPECT_EQ(Hashes({.hash = KeyOf('a', 7)}), std::vector<std::string>({KeyOf('a', 7)}));
  EXPECT_EQ(Hashes({.staker = KeyOf('b', 1)}, 3).size(), 10U);
  EXPECT_EQ(Hashes({.staker = KeyOf('b', 1), .finality_provider = KeyOf('f', 1)}).size(), 5U);
  EXPECT_EQ(Hashes({.state = State::kUnbonded}), std::vector<std::string>({KeyOf('a', 4)}));
  EXPECT_EQ(Hashes({.state = State::kActive}).size(), 29U);
  EXPECT_EQ(Hashes({.from_s = 1011, .to_s = 1014}).size(), 3U);  // 11, 12 and 13
  EXPECT_EQ(Hashes({.from_s = 1014, .to_s = 1017}).size(), 2U);  // 14 and 16: 15 has no timestamp
  EXPECT_TRUE(Hashes({.staker = KeyOf('b', 9)}).empty());
  EXPECT_EQ(FindDelegations(store_.clients(), *OpenTables(), {}, {.limit = 0}).status().code(), Code::kBadValue);
}

TEST_P(LookupsTest, MessagesByReasonFileAndTime) {
  const std::vector<std::string_view> lines = {"(x", "[]", "{}"};
  const std::vector<uint64_t> numbers = {1, 5, 9};
  const auto ingestor = Ingestor::Open(store_.clients(), {.tables = TableOptions()});
  ASSERT_OK(ingestor);
  ASSERT_OK((*ingestor)->Apply(lines, {.file = "a.b", .numbers = numbers}));
  ASSERT_OK((*ingestor)->Apply(std::vector<std::string_view>{"17"}));
  EXPECT_EQ(Reasons({}, 2).size(), 4U);
  EXPECT_EQ(Reasons({.reason = "not a JSON object"}).size(), 2U);
  EXPECT_EQ(Reasons({.reason = "not.a.JSON"}).size(), 0U);  // a text, no pattern
  EXPECT_EQ(Reasons({.file = "a.b"}).size(), 3U);
  EXPECT_EQ(Reasons({.from_ms = 0}).size(), 4U);
  EXPECT_EQ(Reasons({.to_ms = 1'000'000}).size(), 0U);
  EXPECT_EQ(Reasons({.conflicting = true}).size(), 0U);
}

// What is refused no longer is taken in and removed; the rest stays, and is not kept twice.
TEST_P(LookupsTest, RetryRemovesWhatIsTakenIn) {
  Ingest({Active(1, 1, 1, 5)});
  const Event good = Active(2, 2, 1, 7);
  std::vector<BadMessage> messages;
  const std::string lines[] = {ToJson(good), ToJson(Active(1, 1, 1, 5)), "never"};
  for (const std::string& line : lines) messages.push_back({.text = line, .reason = "by an older program"});
  ASSERT_OK(Keep(store_.clients(), store_.database(), kUnprocessable, messages));
  const std::string huge(3 << 20, 'x');
  const BadMessage cut{.text = huge, .reason = "too long"};
  ASSERT_OK(Keep(store_.clients(), store_.database(), kUnprocessable, {&cut, 1}));

  const RetryReport none = Retry({.reason = "another reason"});
  EXPECT_EQ(none.tried, 0U);
  const RetryReport report = Retry({});
  EXPECT_EQ(report.tried, 3U);
  EXPECT_EQ(report.removed, 2U);
  EXPECT_EQ(report.cut, 1U);
  EXPECT_EQ(report.outcome.accepted, 1U);
  EXPECT_EQ(report.outcome.rejected, 1U);
  EXPECT_EQ(Reasons({}).size(), 2U);
  model_.Add(good);
  ExpectModel();
  EXPECT_EQ(Retry({}).removed, 0U);
}

}  // namespace
}  // namespace braid::staking
