#include "bench/shop.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "bench/ledger_runs.h"
#include "bench/shop_runs.h"

namespace braid::bench {
namespace {

/// All runs, one after another.
class ShopBench {
 public:
  ShopBench(Clients& clients, const ShopBenchOptions& options, const ShopObserver& observer)
      : clients_(clients), options_(options), observer_(observer) {}

  Result<ShopReport> Run() {
    const Status status = RunAll();
    const Status dropped = DropDatabase(clients_, options_.database);
    BRAID_CHECK_OK(status);
    BRAID_CHECK_OK(dropped);
    return std::move(report_);
  }

 private:
  Status RunAll() {
    for (const int threads : options_.threads) {
      if (options_.run_mix) BRAID_CHECK_OK(Mix(threads));
    }
    for (const SaleWay way : {SaleWay::kBraid, SaleWay::kSeedSet, SaleWay::kSeedInc}) {
      if (options_.run_sale) BRAID_CHECK_OK(Sale(way));
    }
    return options_.run_catalogue ? Catalogue() : Status();
  }

  Status Mix(int threads) {
    if (options_.stop->load()) return {};
    ShopMixRow row{.threads = threads};
    BRAID_CHECK_OK(MeasureMix(clients_, options_, row));
    observer_.on_mix(report_.mixes.emplace_back(std::move(row)));
    return {};
  }

  Status Sale(SaleWay way) {
    if (options_.stop->load()) return {};
    ShopSaleRow row{
        .way = way, .threads = options_.most_threads(), .units = options_.sale_units, .buyers = options_.sale_buyers};
    BRAID_CHECK_OK(MeasureSale(clients_, options_, row));
    observer_.on_sale(report_.sales.emplace_back(std::move(row)));
    return {};
  }

  // The catalogue grows from one size to the next.
  Status Catalogue() {
    std::vector<uint64_t> sizes = options_.catalogue_sizes;
    std::ranges::sort(sizes);
    BRAID_CHECK_OK(RenewShop(clients_, options_.database));
    uint64_t filled = 0;
    for (const uint64_t size : sizes) {
      BRAID_CHECK_OK(FillProducts(clients_, options_.database,
                                  {.from = filled, .to = size, .stock = options_.stock, .stop = options_.stop}));
      filled = size;
      if (options_.stop->load()) return {};
      BRAID_CHECK_OK(MeasureCatalogue(clients_, options_, size, [&](const ShopCatalogueRow& row) {
        observer_.on_catalogue(report_.catalogue.emplace_back(row));
      }));
    }
    return {};
  }

  Clients& clients_;
  const ShopBenchOptions& options_;
  const ShopObserver& observer_;
  ShopReport report_;
};

constexpr const char* kShopOperationNames[] = {"browse", "card", "cart", "merge", "checkout", "history"};
static_assert(std::size(kShopOperationNames) == kShopOperations);

}  // namespace

const char* NameOf(ShopOperation operation) { return kShopOperationNames[static_cast<size_t>(operation)]; }

const char* NameOf(SaleWay way) {
  switch (way) {
    case SaleWay::kBraid: return "checkout";
    case SaleWay::kSeedSet: return "find, then $set";
    case SaleWay::kSeedInc: return "find, then $inc";
  }
  return "";
}

const char* NameOf(CatalogueReading page) {
  switch (page) {
    case CatalogueReading::kFirst: return "first page";
    case CatalogueReading::kDeepByCursor: return "deep, by cursor";
    case CatalogueReading::kDeepBySkip: return "deep, by skip";
  }
  return "";
}

int ShopBenchOptions::most_threads() const { return *std::max_element(threads.begin(), threads.end()); }

Result<ShopMix> ParseShopMix(const std::string& text) {
  ShopMix mix{};
  for (const std::string_view part : Split(text, ',')) {
    const size_t equals = part.find('=');
    const auto* name = std::ranges::find(kShopOperationNames, part.substr(0, equals));
    uint32_t weight = 0;
    const std::string_view digits = equals == std::string_view::npos ? "" : part.substr(equals + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), weight);
    const bool number = !digits.empty() && error == std::errc() && end == digits.data() + digits.size();
    if (name == std::end(kShopOperationNames) || !number || weight > 1'000'000) {
      return Status(Code::kBadValue, StrCat("--mix: cannot read '", part,
                                            "'; write NAME=WEIGHT with browse, card, cart, merge, checkout or history "
                                            "and a weight up to 1000000"));
    }
    mix[static_cast<size_t>(name - kShopOperationNames)] = weight;
  }
  if (std::ranges::all_of(mix, [](uint32_t weight) { return weight == 0; })) {
    return Status(Code::kBadValue, StrCat("--mix ", text, ": every weight is 0; give at least one that is not"));
  }
  return mix;
}

uint64_t ShopMixRow::done() const {
  uint64_t sum = 0;
  for (const ShopOperationFigures& figures : operations) sum += figures.nanos.count();
  return sum;
}

uint64_t ShopMixRow::failed() const {
  uint64_t sum = 0;
  for (const ShopOperationFigures& figures : operations) {
    for (const auto& [code, count] : figures.errors) sum += count;
  }
  return sum;
}

std::optional<double> ShopMixRow::targeted_share() const {
  if (!routing) return std::nullopt;
  uint64_t targeted = 0;
  uint64_t all = 0;
  for (const ShopRouting& one : *routing) {
    targeted += one.targeted;
    all += one.targeted + one.scattered;
  }
  return all > 0 ? std::optional(static_cast<double>(targeted) / static_cast<double>(all)) : std::nullopt;
}

Result<ShopReport> RunShop(Clients& clients, const ShopBenchOptions& options, const ShopObserver& observer) {
  return ShopBench(clients, options, observer).Run();
}

}  // namespace braid::bench
