// Page views, counted by writers that never wait for each other, on a directory or on a cluster.
#include <braid/counters.h>
#include <braid/embedded.h>

#include <iostream>

using namespace braid;

static Status View(Clients& store, Counters& pages, uint32_t shard, const std::string& page, int64_t bytes) {
  const Counters::Increment increment{.entity = page, .by = {{"views", 1}, {"bytes", bytes}}};
  return RunTransaction(store, {.database = "example"}, [&](Transaction& transaction) {
    return pages.Add(transaction, shard, {&increment, 1});
  });
}

static Status Run(const std::string& where) {
  BRAID_TRY(const auto store, OpenStore(where));
  BRAID_TRY(const auto pages,
            Counters::Open(*store, {.database = "example", .collection = "pages", .fields = {"views", "bytes"}}));
  // A shard of this writer's own; without a lease any shard will do.
  BRAID_TRY(const auto lease, ShardLease::Take(*store, {.database = "example", .group = "pages"}));
  for (const int64_t bytes : {4096, 512, 1024}) {
    BRAID_TRY(const uint32_t shard, lease->Shard());
    BRAID_CHECK_OK(View(*store, *pages, shard, "/", bytes));
  }
  CounterValues sums;
  BRAID_CHECK_OK(RunTransaction(*store, {.database = "example"}, [&](Transaction& transaction) -> Status {
    BRAID_TRY(sums, pages->Sum(transaction, "/"));
    return {};
  }));
  std::cout << sums["views"] << " views, " << sums["bytes"] << " bytes\n";
  BRAID_CHECK_OK(lease->Close());
  return store->Close();
}

int main(int argc, char** argv) {
  const Status status = Run(argc > 1 ? argv[1] : "./counters-data");
  if (!status.ok()) std::cerr << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
