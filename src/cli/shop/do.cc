// braid shop do: operations of the shop, one JSON object per line in, one result per line out.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/mutex.h"
#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/patience.h"
#include "cli/shop/actions.h"
#include "cli/shop/line_runner.h"
#include "cli/transfer/lines.h"
#include "services/shop/json.h"

namespace braid::cli::shop {
namespace {

using braid::shop::Shop;
using braid::shop::ShopOptions;

struct ShopDoArgs {
  std::string store = "./data";
  std::string file;
  ShopOptions options;
  size_t parallel = 1;
  int64_t cart_lifetime_s = 24LL * 3600;
};

void AddDoOptions(CLI::App& app, ShopDoArgs& args) {
  AddStoreOption(app, args.store);
  app.add_option("-d,--db", args.options.database, "Database.")->type_name("NAME")->capture_default_str();
  app.add_option(
         "file", args.file,
         "One operation per line, such as {\"op\": \"card\", \"product_id\": \"P1\"}; packed with gzip or not; - "
         "is standard input. docs/shop.md lists the operations.")
      ->type_name("FILE")
      ->required();
  app.add_option("-j,--parallel", args.parallel,
                 "Connections on which operations run concurrently. Those of one user or session keep their order, and "
                 "so do those that change one product; results keep the order of the lines.")
      ->check(CLI::Range(1, 64))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--cart-lines-max", args.options.cart_lines_max, "Lines of a cart.")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--line-qty-max", args.options.line_qty_max, "Units of a line.")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--cart-lifetime", args.cart_lifetime_s, "Seconds that a cart lives after its last change.")
      ->check(CLI::Range(1, 366 * 24 * 3600))
      ->type_name("S")
      ->capture_default_str();
}

Status PrintResults(std::string_view results) {
  const bool written = std::fwrite(results.data(), 1, results.size(), stdout) == results.size();
  if (written && std::fflush(stdout) == 0) return {};
  return Status(Code::kOutOfDiskSpace, StrCat("cannot write the results: ", strerror(errno)));
}

// The first error of the store, from any thread.
class StoreFailures {
 public:
  void Note(const Status& failure) {
    const MutexLock lock(mu_);
    if (count_++ == 0) first_ = failure;
  }
  Status Sum() {
    const MutexLock lock(mu_);
    if (count_ == 0) return {};
    return Status(first_.code(), StrCat("the store failed for ", count_, " operations, first with: ", first_.message(),
                                        "\nRun them again: checkouts with their idempotency keys happen once."));
  }

 private:
  Mutex mu_;
  uint64_t count_ BRAID_GUARDED_BY(mu_) = 0;
  Status first_ BRAID_GUARDED_BY(mu_);
};

Status RunShopDo(ShopDoArgs& args) {
  const std::atomic<bool>& interrupted = StopOnInterrupt();
  BRAID_TRY(const std::unique_ptr<transfer::Lines> lines, transfer::Lines::Open(args.file));
  BRAID_TRY(const std::unique_ptr<Clients> clients, OpenStore(args.store));
  args.options.cart_lifetime_ms = args.cart_lifetime_s * 1000;
  BRAID_TRY(const std::unique_ptr<Shop> shop, Shop::Open(*clients, args.options));
  StoreFailures failures;
  std::atomic<bool> lost = false;  // the store will not come back
  const auto run = [&](std::string_view line) {
    braid::shop::Answer answer = braid::shop::AnswerRequest(*shop, line);
    if (!answer.store_failure.ok()) {
      failures.Note(answer.store_failure);
      if (!clients->MayRecover(answer.store_failure)) lost = true;
    }
    return std::move(answer.json);
  };
  LineRunner runner(args.parallel, run, PrintResults);
  Status reading;
  for (bool more = true; more && !interrupted.load() && !lost.load();) {
    const auto next = lines->Next();
    if (!next.ok()) reading = next.error();
    more = next.ok() && !next->empty();
    for (size_t i = 0; more && i < next->size() && !interrupted.load() && !lost.load(); ++i) {
      const std::string_view line = (*next)[i];
      more = runner.Add(line, args.parallel > 1 ? braid::shop::TouchedBy(line) : std::vector<braid::shop::Touched>());
    }
  }
  BRAID_CHECK_OK(runner.Finish());
  BRAID_CHECK_OK(reading);
  if (interrupted.load()) return Status(Code::kInterrupted, "interrupted; the operations with a result were done");
  return failures.Sum();
}

}  // namespace

Action SetUpDo(CLI::App& app) {
  const auto args = std::make_shared<ShopDoArgs>();
  AddDoOptions(app, *args);
  return [args] { return RunShopDo(*args); };
}

}  // namespace braid::cli::shop
