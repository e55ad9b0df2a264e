// A whole Braid inside a program: a directory that is opened, written to and read by function call.
#include <braid/embedded.h>
#include <braid/transaction.h>

#include <iostream>

using namespace braid;

static Status Run(const std::string& directory) {
  BRAID_TRY(const auto store, Embedded::Open({.directory = directory}));
  int64_t visits = 0;
  BRAID_CHECK_OK(RunTransaction(*store, {.database = "example"}, [&](Transaction& transaction) -> Status {
    BRAID_CHECK_OK(transaction.Insert("visits", {{"page", "/"}, {"at", Date{1'700'000'000'000}}}));
    BRAID_TRY(visits, transaction.Count("visits", {{"page", "/"}}));
    return {};
  }));
  std::cout << visits << " visits\n";
  return store->Close();
}

int main(int argc, char** argv) {
  const Status status = Run(argc > 1 ? argv[1] : "./embedded-data");
  if (!status.ok()) std::cerr << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
