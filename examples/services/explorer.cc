// The tip of the block explorer index, and the newest blocks as of it: nothing of this changes while it is read.
#include <braid/embedded.h>
#include <braid/timeline.h>

#include <cstdio>

using namespace braid;

static Status Run(const std::string& where) {
  BRAID_TRY(const auto store, OpenStore(where));
  const TimelineOptions options{.database = "explorer", .collections = {"blocks", "blocks_in_order"}};
  BRAID_TRY(const auto timeline, Timeline::Open(*store, options));
  return timeline->Read("", [&](Transaction& transaction, const EpochState& at) -> Status {
    BRAID_TRY(const Timeline::Window window, timeline->NewestOf(transaction, at, "blocks_in_order", 1000));
    std::printf("epoch %lld: %lld blocks with %s transactions\n", static_cast<long long>(at.number),
                static_cast<long long>(window.entries), window.sums.at("transactions").c_str());
    return {};
  });
}

int main(int argc, char** argv) {
  const Status status = Run(argc > 1 ? argv[1] : "./data");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
