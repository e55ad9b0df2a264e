#include "services/staking/audit.h"

#include <deque>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/assert.h"
#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "services/staking/delegation.h"

namespace braid::staking {
namespace {

using client::Bson;

constexpr size_t kKeptMax = 1000;
constexpr size_t kPageSize = 5000;

using Sums = std::map<std::string, WideSums>;

void AddTo(WideSums& sums, const CounterValues& by) {
  for (const auto& [field, value] : by) sums[field] += value;
}

// One run of the audit, inside its transaction.
class Auditor {
 public:
  Auditor(Transaction& transaction, const Tables& tables, bool repair, AuditReport& report)
      : transaction_(transaction), tables_(tables), repair_(repair), report_(report) {}

  Status Run() {
    report_ = AuditReport();
    BRAID_CHECK_OK(ReadAllDelegations());
    overall_[kTotalStakers] = static_cast<WideSum>(stakers_.size());
    report_.finality_providers = providers_.size();
    report_.stakers = stakers_.size();
    BRAID_CHECK_OK(CompareOverall());
    BRAID_CHECK_OK(Compare(*tables_.providers, providers_));
    BRAID_CHECK_OK(Compare(*tables_.stakers, stakers_));
    BRAID_CHECK_OK(CheckPending());
    return CheckLocks();
  }

 private:
  void Differs(std::string where, std::string_view id, std::string field, WideSum expected, WideSum found) {
    ++report_.differences_total;
    if (report_.differences.size() >= kKeptMax) return;
    report_.differences.push_back({.where = std::move(where),
                                   .id = std::string(id),
                                   .field = std::move(field),
                                   .expected = expected,
                                   .found = found});
  }

  Status ReadAllDelegations() {
    const Bson all;
    Bson by_id;
    by_id.Integer("_id", 1);
    BRAID_CHECK_OK(transaction_.Find(kDelegations, all.get(), {.sort = by_id.get()}, [&](const bson_t& document) {
      const Delegation delegation = Delegation::Read(document);
      ++report_.delegations;
      if (delegation.state == State::kUnbonded) ++unbonded_;
      for (const State state : {State::kActive, State::kUnbonded}) {
        if (state == State::kUnbonded && delegation.state != State::kUnbonded) continue;
        const CounterValues by = Effect(delegation, state);
        AddTo(overall_, by);
        AddTo(providers_[delegation.finality_provider], by);
        AddTo(stakers_[delegation.staker], by);
      }
      return Status();
    }));
    return {};
  }

  // Says what differs; true if anything does.
  bool CompareSums(const Counters& set, std::string_view id, const WideSums& expected, const WideSums& found) {
    bool differs = false;
    for (const std::string& field : set.options().fields) {
      if (expected[field] == found[field]) continue;
      Differs(set.options().collection, id, field, expected[field], found[field]);
      differs = true;
    }
    return differs;
  }

  Status CompareOverall() {
    BRAID_TRY(const WideSums found, tables_.overall->SumWide(transaction_, ""));
    if (!CompareSums(*tables_.overall, "", overall_, found) || !repair_) return {};
    ++report_.repaired;
    BRAID_TRY(const CounterValues sums, tables_.overall->Narrow("", overall_));
    return tables_.overall->Correct(transaction_, "", sums);
  }

  // The ranking's value of an entity plus its pending changes must be the entity's sum, and the ranking must have no
  // other entities.
  Status CompareRanking(Counters& set) {
    if (!set.ranked()) return {};
    std::unordered_map<std::string, WideSum> ranking;
    BRAID_CHECK_OK(set.ForEachRanked(transaction_, [&](const Counters::RankedEntity& row) {
      ranking.emplace(row.entity, row.value);
      return Status();
    }));
    std::vector<std::string> wrong;
    const auto differs = [&](const std::string& name, const char* field, WideSum expected, WideSum found) {
      Differs(set.options().ranking, name, field, expected, found);
      wrong.push_back(name);
    };
    BRAID_CHECK_OK(set.ForEach(transaction_, [&](const Counters::Entity& entity) {
      const auto place = ranking.find(entity.name);
      const WideSum found = (place == ranking.end() ? 0 : place->second) + entity.unranked.value_or(0);
      if (found != entity.sums[kActiveTvl]) {
        differs(entity.name, kActiveTvl, entity.sums[kActiveTvl], found);
      } else if (place == ranking.end() && !entity.unranked) {
        differs(entity.name, "_id", 1, 0);
      }
      if (place != ranking.end()) ranking.erase(place);
      return Status();
    }));
    for (const auto& [name, value] : ranking) differs(name, "_id", 0, 1);
    if (!repair_) return {};
    report_.repaired += wrong.size();
    for (const std::string& name : wrong) BRAID_CHECK_OK(set.RepairRanking(transaction_, name));
    return {};
  }

  Status Compare(Counters& set, const Sums& expected) {
    BRAID_CHECK_OK(CompareRanking(set));
    std::vector<std::string> wrong;
    Sums left = expected;  // not met in the store yet
    BRAID_CHECK_OK(set.ForEach(transaction_, [&](const Counters::Entity& entity) {
      const auto place = left.find(entity.name);
      if (CompareEntity(set, entity, place == left.end() ? nullptr : &place->second)) wrong.push_back(entity.name);
      if (place != left.end()) left.erase(place);
      return Status();
    }));
    for (const auto& [name, sums] : left) {
      CompareSums(set, name, sums, {});
      wrong.push_back(name);
    }
    for (size_t i = 0; repair_ && i < wrong.size(); ++i) {
      const auto place = expected.find(wrong[i]);
      BRAID_CHECK_OK(RepairEntity(set, wrong[i], place == expected.end() ? nullptr : &place->second));
    }
    return {};
  }

  // `expected` is null for an entity without delegations. It must not have any document, because a staker with a
  // document counts as counted. True if anything differs.
  bool CompareEntity(const Counters& set, const Counters::Entity& entity, const WideSums* expected) {
    bool differs = CompareSums(set, entity.name, expected == nullptr ? WideSums{} : *expected, entity.sums);
    if (expected == nullptr && !differs) {
      Differs(set.options().collection, entity.name, "_id", 0, 1);
      differs = true;
    }
    if (expected != nullptr && &set == tables_.stakers.get() && !entity.counted) {
      Differs(set.options().collection, StrCat(entity.name, ":0"), "_id", 1, 0);
      differs = true;
    }
    return differs;
  }

  // One document with the whole sum replaces all others: the first one, by which a staker is counted.
  Status RepairEntity(Counters& set, const std::string& name, const WideSums* expected) {
    ++report_.repaired;
    Bson range;
    range.Text("$gt", StrCat(name, ":")).Text("$lt", StrCat(name, ";"));  // ';' comes after ':'
    Bson filter;
    filter.Document("_id", range);
    BRAID_CHECK_OK(transaction_.Remove(set.options().collection, filter.get()));
    if (expected != nullptr) {
      BRAID_TRY(const CounterValues sums, set.Narrow(name, *expected));
      BRAID_CHECK_OK(set.Correct(transaction_, name, sums));
    }
    return set.ranked() ? set.RepairRanking(transaction_, name) : Status();
  }

  // A pending event whose active has come should have been applied with it.
  Status CheckPending() {
    const Bson all;
    std::vector<std::string> hashes;
    BRAID_CHECK_OK(transaction_.Find(kPending, all.get(), [&](const bson_t& document) {
      hashes.emplace_back(client::TextOf(&document, "_id"));
      return Status();
    }));
    report_.pending_events = hashes.size();
    for (size_t begin = 0; begin < hashes.size(); begin += kPageSize) {
      const auto page = std::span(hashes).subspan(begin, std::min(kPageSize, hashes.size() - begin));
      BRAID_TRY(const Delegations come, ReadDelegations(transaction_, page));
      for (const auto& [hash, delegation] : come) Differs(kPending, hash, "_id", 0, 1);
    }
    return {};
  }

  // Every flag has its delegation, and every delegation its flags: checked from the flags' side, page by page, and by
  // number; only if that differs, delegations without a document of flags are looked for.
  Status CheckLocks() {
    const Bson all;
    Bson by_id;
    by_id.Integer("_id", 1);
    std::vector<std::pair<std::string, uint32_t>> page;
    BRAID_CHECK_OK(transaction_.Find(
        tables_.locks.options().collection, all.get(), {.sort = by_id.get()}, [&](const bson_t& document) -> Status {
          page.emplace_back(client::TextOf(&document, "_id"), tables_.locks.FlagsOf(Document::View(document)));
          return page.size() < kPageSize ? Status() : CheckPage(page);
        }));
    BRAID_CHECK_OK(CheckPage(page));
    if (belonging_ != report_.delegations + unbonded_) BRAID_CHECK_OK(FindDelegationsWithoutLock());
    return repair_ ? RepairLocks() : Status();
  }

  void CompareFlags(const std::string& id, uint32_t expected, uint32_t found) {
    const std::vector<std::string>& calculations = tables_.locks.options().calculations;
    BRAID_ASSERT(calculations.size() <= 32);  // a bit each
    for (size_t bit = 0; bit < calculations.size(); ++bit) {
      const int64_t want = expected >> bit & 1;
      const int64_t have = found >> bit & 1;
      if (want != have) Differs(tables_.locks.options().collection, id, calculations[bit], want, have);
    }
    if (expected != found) (expected == 0 ? orphans_ : incomplete_).push_back(id);
  }

  Status CheckPage(std::vector<std::pair<std::string, uint32_t>>& page) {
    std::vector<std::string> hashes;
    hashes.reserve(page.size());
    for (const auto& [id, flags] : page) hashes.push_back(id.substr(0, id.find(':')));
    BRAID_TRY(const Delegations known, ReadDelegations(transaction_, hashes));
    for (size_t i = 0; i < page.size(); ++i) {
      const auto& [id, flags] = page[i];
      ++report_.locks;
      const auto place = known.find(hashes[i]);
      const bool unbonded = id.ends_with(":unbonded");
      const bool belongs = place != known.end() && (!unbonded || place->second.state == State::kUnbonded);
      if (belongs) ++belonging_;
      // Without flags it only waits for the event.
      CompareFlags(id, belongs ? tables_.locks.all() : 0, flags);
    }
    page.clear();
    return {};
  }

  Status FindDelegationsWithoutLock() {
    const Bson all;
    std::vector<std::string> ids;
    const auto check = [&]() -> Status {
      std::unordered_set<std::string> known;
      BRAID_CHECK_OK(transaction_.FindIds(tables_.locks.options().collection, ids, [&](const bson_t& document) {
        known.emplace(client::TextOf(&document, "_id"));
        return Status();
      }));
      for (const std::string& id : ids) {
        if (!known.contains(id)) CompareFlags(id, tables_.locks.all(), 0);
      }
      ids.clear();
      return {};
    };
    BRAID_CHECK_OK(transaction_.Find(kDelegations, all.get(), [&](const bson_t& document) -> Status {
      const Delegation delegation = Delegation::Read(document);
      ids.push_back(StrCat(delegation.hash, ":active"));
      if (delegation.state == State::kUnbonded) ids.push_back(StrCat(delegation.hash, ":unbonded"));
      return ids.size() < kPageSize ? Status() : check();
    }));
    return check();
  }

  // The totals match the delegations now: so every calculation of each delegation is marked as done, and none of an
  // event without a delegation, which will count when it is delivered again.
  Status RepairLocks() {
    report_.repaired += incomplete_.size() + orphans_.size();
    for (size_t begin = 0; begin < incomplete_.size(); begin += kPageSize) {
      const auto page = std::span(incomplete_).subspan(begin, std::min(kPageSize, incomplete_.size() - begin));
      BRAID_CHECK_OK(tables_.locks.Claim(transaction_, page));
    }
    Bson flags;
    for (const std::string& calculation : tables_.locks.options().calculations) flags.Bool(calculation.c_str(), true);
    Bson change;
    change.Document("$unset", flags);
    std::deque<Bson> filters;
    std::vector<Transaction::Update> updates;
    for (const std::string& id : orphans_) {
      updates.push_back({.filter = filters.emplace_back().Text("_id", id).get(), .change = change.get()});
    }
    return transaction_.UpdateOnes(tables_.locks.options().collection, updates).status();
  }

  Transaction& transaction_;
  const Tables& tables_;
  const bool repair_;
  AuditReport& report_;
  WideSums overall_;
  Sums providers_;
  Sums stakers_;
  uint64_t unbonded_ = 0;
  uint64_t belonging_ = 0;               // documents of flags whose delegation is there
  std::vector<std::string> incomplete_;  // ids of flags that must all be set
  std::vector<std::string> orphans_;     // ids of flags without a delegation
};

}  // namespace

std::string ToText(WideSum value) {
  std::string digits;
  for (WideSum rest = value; digits.empty() || rest != 0; rest /= 10) {
    const int digit = static_cast<int>(rest % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
  }
  if (value < 0) digits += '-';
  return {digits.rbegin(), digits.rend()};
}

Result<AuditReport> Audit(Clients& clients, const Tables& tables, bool repair) {
  AuditReport report;
  BRAID_CHECK_OK(RunTransaction(clients, {.database = tables.database}, [&](Transaction& transaction) {
    return Auditor(transaction, tables, repair, report).Run();
  }));
  return report;
}

}  // namespace braid::staking
