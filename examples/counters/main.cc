// Page views that are counted exactly once, however often an event comes, on a directory or on a cluster.
#include <braid/counters.h>
#include <braid/embedded.h>
#include <braid/once.h>

#include <cstdio>

using namespace braid;

static Status Count(Clients& store, Counters& views, Once& once, const std::vector<std::string>& events) {
  return RunTransaction(store, {.database = "example"}, [&](Transaction& transaction) -> Status {
    BRAID_TRY(const auto claimed, once.Claim(transaction, events));
    std::vector<Counters::Increment> increments;
    for (const Once::Claimed& one : claimed) {
      if (one.missing != 0) increments.push_back({.entity = "/", .by = {1}});
    }
    return views.Add(transaction, /*shard=*/0, increments);
  });
}

static Status Run(const std::string& where) {
  BRAID_TRY(const auto store, OpenStore(where));
  BRAID_TRY(const auto views, Counters::Open(*store, {.database = "example", .collection = "views", .fields = {"n"}}));
  Once once({.database = "example", .collection = "seen", .calculations = {"views"}});
  BRAID_CHECK_OK(Count(*store, *views, once, {"event-1:view", "event-2:view", "event-1:view"}));
  BRAID_CHECK_OK(Count(*store, *views, once, {"event-2:view", "event-3:view"}));
  return RunTransaction(*store, {.database = "example"}, [&](Transaction& transaction) -> Status {
    BRAID_TRY(const CounterValues sums, views->Sum(transaction, "/"));
    std::printf("%lld views\n", static_cast<long long>(sums[0]));
    return {};
  });
}

int main(int argc, char** argv) {
  const Status status = Run(argc > 1 ? argv[1] : "./counters-data");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
