#include "services/staking/backfill.h"

namespace braid::staking {
namespace {

constexpr size_t kBatch = 2000;

}  // namespace

Result<Outcome> Backfill(Clients& clients, const Tables& tables, const std::atomic<bool>& stop,
                         std::atomic<uint64_t>& done) {
  BRAID_TRY(const auto lease, ShardLease::Take(clients, {.database = tables.database,
                                                         .group = kLeaseGroup,
                                                         .shard_count = tables.overall->shard_count()}));
  Outcome outcome;
  BRAID_CHECK_OK(tables.locks.ForEachMissing(clients, tables.locks.all(), kBatch, [&](auto ids) -> Status {
    if (stop.load()) return Status(Code::kInterrupted, "interrupted; what was done stays done");
    std::vector<std::string> hashes;
    for (const std::string& id : ids) hashes.push_back(id.substr(0, id.find(':')));
    BRAID_TRY(const uint32_t shard, lease->Shard());
    Outcome applied;
    BRAID_CHECK_OK(
        RunTransaction(clients, {.database = tables.database, .stop = &stop}, [&](Transaction& transaction) -> Status {
          BRAID_TRY(applied, Resume(transaction, tables, shard, hashes));
          return {};
        }));
    outcome += applied;
    done += ids.size();
    return {};
  }));
  return outcome;
}

}  // namespace braid::staking
