#include "services/shop/shop.h"

#include <fmt/format.h>

#include <chrono>

#include "base/mutex.h"
#include "base/strings.h"
#include "services/shop/collections.h"

namespace braid::shop {
namespace {

// Two transactions that create the same document conflict; the second one finds it when it runs again.
constexpr int kDuplicateRunsMax = 8;
constexpr uint64_t kOrderNumbers = 1'000'000'000'000;

Status OutOfRange(std::string_view name, int64_t value, int64_t least, int64_t most) {
  return Status(Code::kBadValue, StrCat(name, " is ", value, "; it must be ", least, " to ", most));
}

}  // namespace

Status ShopOptions::Validate() const {
  if (database.empty()) return Status(Code::kBadValue, "the database has no name");
  if (cart_lines_max < 1 || cart_lines_max > 1000) {
    return OutOfRange("cart_lines_max", static_cast<int64_t>(cart_lines_max), 1, 1000);
  }
  if (line_qty_max < 1 || line_qty_max > 1'000'000) return OutOfRange("line_qty_max", line_qty_max, 1, 1'000'000);
  constexpr int64_t kYearMs = 366LL * 24 * 3600 * 1000;
  if (cart_lifetime_ms < 1000 || cart_lifetime_ms > kYearMs) {
    return OutOfRange("cart_lifetime_ms", cart_lifetime_ms, 1000, kYearMs);
  }
  return {};
}

const ZoneStock* Product::StockIn(std::string_view geo_zone) const {
  for (const ZoneStock& stock : stock_by_geo) {
    if (stock.geo_zone == geo_zone) return &stock;
  }
  return nullptr;
}

std::string Owner::Key() const { return user_id.empty() ? StrCat("g:", session_id) : StrCat("u:", user_id); }
std::string Owner::OrderUserId() const { return user_id.empty() ? StrCat("guest:", session_id) : user_id; }

Shop::Shop(Clients& clients, const ShopOptions& options)
    : clients_(clients), options_(options), random_(options.seed != 0 ? options.seed : RandomSeed()) {}

Result<std::unique_ptr<Shop>> Shop::Open(Clients& clients, const ShopOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  BRAID_CHECK_OK(EnsureCollections(clients, options.database));
  return std::unique_ptr<Shop>(new Shop(clients, options));
}

Status Shop::Change(const std::function<Status(Transaction&)>& body) {
  const TransactionOptions how{.database = options_.database, .stop = options_.stop, .retries = &retries_};
  Status status;
  for (int run = 0; run < kDuplicateRunsMax; ++run) {
    status = RunTransaction(clients_, how, body);
    if (status.code() != Code::kDuplicateKey) return status;
    retries_.fetch_add(1, std::memory_order_relaxed);
  }
  return status;
}

// Random digits instead of a counter, which every checkout would have to wait for. If a number is taken, claiming it
// fails, and the checkout tries another.
std::string Shop::NewOrderId(int64_t now_ms) {
  const std::chrono::sys_days day = std::chrono::floor<std::chrono::days>(
      std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(now_ms)));
  const int year = static_cast<int>(std::chrono::year_month_day(day).year());
  const MutexLock lock(mu_);
  return fmt::format("ORD-{:04}-{:012}", year, random_.Below(kOrderNumbers));
}

}  // namespace braid::shop
