// Blocks of a chain that may be reorganised: epochs grow and are popped whole, and every sum stays exact.
#include <braid/embedded.h>
#include <braid/timeline.h>

#include <iostream>

using namespace braid;

static Status Grow(Timeline& timeline, int64_t number, const std::string& hash, const std::string& parent,
                   const std::string& fees) {
  return timeline
      .Grow([&](Growth& growth) -> Status {
        BRAID_CHECK_OK(growth.Begin(number, hash, parent));
        const Growth::Entry block = growth.Append("blocks", {{"fees", fees}});  // fees get a running sum
        block.document.Append("hash", hash);
        return {};
      })
      .status();
}

static Status Run(const std::string& where) {
  BRAID_TRY(const auto store, OpenStore(where));
  BRAID_TRY(const auto timeline, Timeline::Open(*store, {.database = "example", .collections = {"blocks"}}));
  BRAID_CHECK_OK(timeline->PopTo(-1));  // from the start, also when this program has run before
  BRAID_CHECK_OK(Grow(*timeline, 0, "a", "", "10"));
  BRAID_CHECK_OK(Grow(*timeline, 1, "b", "a", "20"));
  BRAID_CHECK_OK(timeline->PopTo(0));  // another block has won
  BRAID_CHECK_OK(Grow(*timeline, 1, "c", "a", "7"));
  return timeline->Read("", [&](Transaction& transaction, const EpochState& tip) -> Status {
    BRAID_TRY(const Timeline::Window window, timeline->NewestOf(transaction, tip, "blocks", 100));
    std::cout << "the tip is " << tip.hash << ", " << window.entries << " blocks, fees " << window.sums.at("fees")
              << "\n";
    return {};
  });
}

int main(int argc, char** argv) {
  const Status status = Run(argc > 1 ? argv[1] : "./timeline-data");
  if (!status.ok()) std::cerr << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
