// What the tests of staking share: a plain model of the totals, a store, and documents put there by hand.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "embedded/testing/stores.h"
#include "services/staking/audit.h"
#include "services/staking/delegation.h"
#include "services/staking/ingestor.h"
#include "services/staking/queries.h"

namespace braid::staking::test {

/// What the events mean, by maps and loops: neither order nor repetition matters.
class Model {
 public:
  void Add(const Event& event) {
    if (event.state == State::kActive) {
      active_.emplace(event.hash, event);
    } else {
      unbonded_.insert(event.hash);
    }
  }
  using Sums = std::map<std::string, CounterValues>;

  CounterValues Overall() const {
    CounterValues sums = SumsBy([](const Event&) { return std::string(); })[""];
    sums[kTotalStakers] = static_cast<int64_t>(Stakers().size());
    return sums;
  }
  Sums Providers() const {
    return SumsBy([](const Event& event) { return event.finality_provider; });
  }
  Sums Stakers() const {
    return SumsBy([](const Event& event) { return event.staker; });
  }
  int64_t Pending() const {
    int64_t pending = 0;
    for (const std::string& hash : unbonded_) pending += !active_.contains(hash);
    return pending;
  }

 private:
  Sums SumsBy(const std::function<std::string(const Event&)>& key) const {
    Sums sums;
    for (const auto& [hash, event] : active_) {
      CounterValues& of = sums[key(event)];
      of[kTotalTvl] += event.value;
      of[kTotalDelegations] += 1;
      if (unbonded_.contains(hash)) continue;
      of[kActiveTvl] += event.value;
      of[kActiveDelegations] += 1;
    }
    return sums;
  }
  std::map<std::string, Event> active_;
  std::set<std::string> unbonded_;
};

/// 64 digits that end with the number.
inline std::string KeyOf(char kind, uint64_t number) {
  const std::string digits = StrCat(number);
  return std::string(64 - digits.size(), kind) + digits;
}
inline Event Active(uint64_t hash, uint64_t staker, uint64_t provider, int64_t value) {
  return {.hash = KeyOf('a', hash),
          .staker = KeyOf('b', staker),
          .finality_provider = KeyOf('f', provider),
          .value = value};
}
inline Event Unbonded(uint64_t hash) { return {.state = State::kUnbonded, .hash = KeyOf('a', hash)}; }

class StakingTest : public braid::test::StoreTest {
 protected:
  Options TableOptions() const { return {.database = store_.database()}; }
  std::unique_ptr<Tables> OpenTables() {
    auto tables = Tables::Open(store_.clients(), TableOptions());
    EXPECT_OK(tables);
    return *std::move(tables);
  }
  Result<Outcome> IngestLines(std::span<const std::string> lines, IngestOptions options = {}) {
    options.tables = TableOptions();
    BRAID_TRY(const auto ingestor, Ingestor::Open(store_.clients(), options));
    return ingestor->Apply(std::vector<std::string_view>(lines.begin(), lines.end()));
  }
  /// Takes the events in and tells the model.
  Outcome Ingest(const std::vector<Event>& events) {
    std::vector<std::string> lines;
    for (const Event& event : events) {
      lines.push_back(ToJson(event));
      model_.Add(event);
    }
    const auto outcome = IngestLines(lines);
    EXPECT_OK(outcome);
    return outcome.ok() ? *outcome : Outcome();
  }

  Model::Sums AllOf(const Tables& tables, const Counters& set) {
    const auto page = Rank(store_.clients(), tables, set, 10'000, "");
    EXPECT_OK(page);
    Model::Sums sums;
    for (const Ranked& row : page->rows) sums.emplace(row.entity, row.sums);
    return sums;
  }
  static std::string Describe(const AuditReport& report) {
    std::string text = StrCat(report.differences_total, " differences");
    for (const Difference& one : report.differences) {
      text += StrCat("\n", one.where, " ", one.id, " ", one.field, ": ", ToText(one.expected), " expected, ",
                     ToText(one.found));
    }
    return text;
  }
  AuditReport RunAudit(bool repair = false) {
    const auto report = Audit(store_.clients(), *OpenTables(), repair);
    EXPECT_OK(report);
    return report.ok() ? *report : AuditReport();
  }
  /// Every total is the model's and the audit finds nothing.
  void ExpectModel() {
    const auto tables = OpenTables();
    const auto overall = GetOverallStats(store_.clients(), *tables);
    ASSERT_OK(overall);
    EXPECT_EQ(overall->sums, model_.Overall());
    EXPECT_EQ(overall->pending_events, model_.Pending());
    EXPECT_EQ(AllOf(*tables, *tables->providers), model_.Providers());
    EXPECT_EQ(AllOf(*tables, *tables->stakers), model_.Stakers());
    const AuditReport report = RunAudit();
    EXPECT_TRUE(report.ok()) << Describe(report);
  }

  // Documents as another program would leave them, all in JSON.
  void Put(const std::string& collection, const std::string& json) {
    const auto document = client::ParseJson(json);
    ASSERT_OK(document);
    const bson_t* documents[] = {document->get()};
    ASSERT_OK(RunTransaction(store_.clients(), {.database = store_.database()},
                             [&](Transaction& transaction) { return transaction.Insert(collection, documents); }));
  }
  void Change(const std::string& collection, const std::string& id, const std::string& change_json) {
    client::Bson filter;
    filter.Text("_id", id);
    const auto change = client::ParseJson(change_json);
    ASSERT_OK(change);
    const Transaction::Update update{.filter = filter.get(), .change = change->get(), .upsert = true};
    ASSERT_OK(RunTransaction(store_.clients(), {.database = store_.database()}, [&](Transaction& transaction) {
      return transaction.UpdateOnes(collection, {&update, 1}).status();
    }));
  }
  void Delete(const std::string& collection, const std::string& id) {
    client::Bson filter;
    filter.Text("_id", id);
    ASSERT_OK(RunTransaction(store_.clients(), {.database = store_.database()},
                             [&](Transaction& transaction) { return transaction.Remove(collection, filter.get()); }));
  }
  void PutDelegation(const Event& event, const char* state) {
    Put(kDelegations,
        StrCat(R"({"_id":")", event.hash, R"(","staker_pk_hex":")", event.staker, R"(","finality_provider_pk_hex":")",
               event.finality_provider, R"(","staking_value":)", event.value, R"(,"state":")", state, R"("})"));
  }

  Model model_;
};

}  // namespace braid::staking::test
