// The totals of the staking statistics: an exact sum over the logical shards, at one moment.
#include <braid/counters.h>
#include <braid/embedded.h>

#include <iostream>

using namespace braid;

static Status Run(const std::string& where) {
  BRAID_TRY(const auto store, OpenStore(where));
  const CounterOptions options{.database = "staking",
                               .collection = "overall_stats",
                               .fields = {"active_tvl", "total_tvl", "active_delegations", "total_delegations"}};
  BRAID_TRY(const auto totals, Counters::OpenToRead(*store, options));
  return RunTransaction(*store, {.database = "staking"}, [&](Transaction& transaction) -> Status {
    BRAID_TRY(const CounterValues sums, totals->Sum(transaction, ""));
    std::cout << sums["active_tvl"] << " satoshi in " << sums["active_delegations"] << " delegations\n";
    return {};
  });
}

int main(int argc, char** argv) {
  const Status status = Run(argc > 1 ? argv[1] : "./data");
  if (!status.ok()) std::cerr << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
