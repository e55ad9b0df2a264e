#include "services/staking/audit.h"

#include <map>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "services/staking/delegation.h"
#include "services/staking/totals.h"

namespace braid::staking {
namespace {

using client::Bson;

constexpr size_t kKeptMax = 1000;
constexpr size_t kPageSize = 5000;

using Sums = std::map<std::string, CounterValues>;

void AddTo(CounterValues& sums, const CounterValues& by) {
  for (size_t i = 0; i < kCounterFieldsMax; ++i) sums[i] += by[i];
}

// One run of the audit, inside its transaction.
class Auditor {
 public:
  Auditor(Transaction& transaction, const Tables& tables, bool repair, AuditReport& report)
      : transaction_(transaction), tables_(tables), repair_(repair), report_(report) {}

  Status Run() {
    report_ = AuditReport();
    BRAID_CHECK_OK(ReadAllDelegations());
    overall_[kTotalStakers] = static_cast<int64_t>(stakers_.size());
    report_.finality_providers = providers_.size();
    report_.stakers = stakers_.size();
    BRAID_CHECK_OK(CompareOverall());
    BRAID_CHECK_OK(Compare(*tables_.providers, providers_));
    BRAID_CHECK_OK(Compare(*tables_.stakers, stakers_));
    BRAID_CHECK_OK(CheckPending());
    return CheckLocks();
  }

 private:
  void Differs(std::string where, std::string_view id, std::string field, int64_t expected, int64_t found) {
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
  bool CompareSums(const Counters& set, std::string_view id, const CounterValues& expected,
                   const CounterValues& found) {
    bool differs = false;
    for (size_t i = 0; i < set.options().fields.size(); ++i) {
      if (expected[i] == found[i]) continue;
      Differs(set.options().collection, id, set.options().fields[i], expected[i], found[i]);
      differs = true;
    }
    return differs;
  }

  Status Repair(Counters& set, std::string_view id, const CounterValues& expected) {
    if (!repair_) return {};
    ++report_.repaired;
    return set.Correct(transaction_, id, expected);
  }

  Status CompareOverall() {
    BRAID_TRY(const CounterValues found, tables_.overall->Sum(transaction_, ""));
    return CompareSums(*tables_.overall, "", overall_, found) ? Repair(*tables_.overall, "", overall_) : Status();
  }

  Status Compare(Counters& set, const Sums& expected) {
    std::vector<std::string> wrong;
    Sums left = expected;  // not met in the store yet
    BRAID_CHECK_OK(set.ForEach(transaction_, [&](const Counters::Entity& entity) {
      const auto place = left.find(entity.name);
      const CounterValues nothing{};
      if (CompareSums(set, entity.name, place == left.end() ? nothing : place->second, entity.sums)) {
        wrong.push_back(entity.name);
      }
      if (&set == tables_.stakers.get() && !entity.counted) {
        Differs(set.options().collection, StrCat(entity.name, ":0"), "_id", 1, 0);
        wrong.push_back(entity.name);
      }
      if (place != left.end()) left.erase(place);
      return Status();
    }));
    for (const auto& [name, sums] : left) {
      CompareSums(set, name, sums, {});
      wrong.push_back(name);
    }
    for (const std::string& name : wrong) {
      const auto place = expected.find(name);
      BRAID_CHECK_OK(Repair(set, name, place == expected.end() ? CounterValues{} : place->second));
    }
    return {};
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
  // number, for a delegation without flags would be missing from the count.
  Status CheckLocks() {
    const Bson all;
    Bson by_id;
    by_id.Integer("_id", 1);
    std::vector<std::pair<std::string, uint32_t>> page;
    BRAID_CHECK_OK(transaction_.Find(tables_.locks.options().collection, all.get(), {.sort = by_id.get()},
                                     [&](const bson_t& document) -> Status {
                                       page.emplace_back(client::TextOf(&document, "_id"), FlagsOf(document));
                                       return page.size() < kPageSize ? Status() : CheckPage(page);
                                     }));
    BRAID_CHECK_OK(CheckPage(page));
    const int64_t expected = static_cast<int64_t>(report_.delegations + unbonded_);
    if (complete_ != expected) {
      Differs(tables_.locks.options().collection, "", "complete documents", expected, complete_);
      if (repair_) BRAID_CHECK_OK(RepairLocks());
    }
    return {};
  }

  uint32_t FlagsOf(const bson_t& document) const {
    uint32_t flags = 0;
    for (size_t i = 0; i < tables_.locks.options().calculations.size(); ++i) {
      if (client::BoolOf(&document, tables_.locks.options().calculations[i].c_str())) flags |= uint32_t{1} << i;
    }
    return flags;
  }

  Status CheckPage(std::vector<std::pair<std::string, uint32_t>>& page) {
    std::vector<std::string> hashes;
    for (const auto& [id, flags] : page) hashes.push_back(id.substr(0, id.find(':')));
    BRAID_TRY(const Delegations known, ReadDelegations(transaction_, hashes));
    for (size_t i = 0; i < page.size(); ++i) {
      const auto& [id, flags] = page[i];
      ++report_.locks;
      const auto place = known.find(hashes[i]);
      const bool unbonded = id.ends_with(":unbonded");
      const bool belongs = place != known.end() && (!unbonded || place->second.state == State::kUnbonded);
      // Without flags it only waits for the event.
      const uint32_t expected = belongs ? tables_.locks.all() : 0;
      if (flags != expected) {
        for (size_t bit = 0; bit < tables_.locks.options().calculations.size(); ++bit) {
          const int64_t want = expected >> bit & 1;
          const int64_t have = flags >> bit & 1;
          if (want != have) {
            Differs(tables_.locks.options().collection, id, tables_.locks.options().calculations[bit], want, have);
          }
        }
      }
      if (belongs && flags == expected) ++complete_;
    }
    page.clear();
    return {};
  }

  // The totals are what the delegations say by now, so every calculation of each of them is done.
  Status RepairLocks() {
    const Bson all;
    std::vector<std::string> ids;
    BRAID_CHECK_OK(transaction_.Find(kDelegations, all.get(), [&](const bson_t& document) {
      const Delegation delegation = Delegation::Read(document);
      ids.push_back(StrCat(delegation.hash, ":active"));
      if (delegation.state == State::kUnbonded) ids.push_back(StrCat(delegation.hash, ":unbonded"));
      return Status();
    }));
    for (size_t begin = 0; begin < ids.size(); begin += kPageSize) {
      const auto page = std::span(ids).subspan(begin, std::min(kPageSize, ids.size() - begin));
      BRAID_TRY(const auto claimed, tables_.locks.Claim(transaction_, page));
      for (const Once::Claimed& one : claimed) report_.repaired += one.missing != 0;
    }
    return {};
  }

  Transaction& transaction_;
  const Tables& tables_;
  const bool repair_;
  AuditReport& report_;
  CounterValues overall_{};
  Sums providers_;
  Sums stakers_;
  uint64_t unbonded_ = 0;
  int64_t complete_ = 0;
};

}  // namespace

Result<AuditReport> Audit(Clients& clients, const Tables& tables, bool repair) {
  AuditReport report;
  BRAID_CHECK_OK(RunTransaction(clients, {.database = tables.database}, [&](Transaction& transaction) {
    return Auditor(transaction, tables, repair, report).Run();
  }));
  return report;
}

}  // namespace braid::staking
