// The flash sale: now and then a few units of one product, and many buyers at once who want one each.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "base/strings.h"
#include "cli/demo/loads.h"
#include "cli/demo/shop_catalogue.h"

namespace braid::cli::demo {
namespace {

using braid::shop::Owner;
using braid::shop::Shop;

constexpr const char* kSale = "sale";
constexpr const char* kSaleZone = kZones[0];
constexpr int64_t kSaleUnits = 20;
constexpr int kBuyers = 50;
constexpr int kBuyerThreads = 4;

// What became of the buyers of one thread.
struct Bought {
  int64_t sold = 0;
  int64_t refused = 0;
  Status status;
};

// Each sale has a product of its own, so that what it sold can be counted again at any time.
class SaleLoad final : public Load {
 public:
  SaleLoad(const Setting& setting, std::unique_ptr<Shop> shop, Figures figures)
      : setting_(setting), shop_(std::move(shop)), figures_(std::move(figures)) {}

  Status Step() override {
    // Noted first: a sale that a kill interrupts is not continued, because the next one has a product of its own.
    const int64_t number = ++figures_["sales"];
    const std::string product_id = fmt::format("sale-{:04}", number);
    BRAID_CHECK_OK(setting_.journal.Write(kSale, figures_));
    const std::string name = StrCat("Flash sale ", number);
    BRAID_TRY(const shop::Product product, NewProduct({product_id.c_str(), name.c_str(), "flash-sale", "5.00"},
                                                      std::span(&kSaleZone, 1), kSaleUnits));
    BRAID_CHECK_OK(shop_->PutProduct(product));
    BRAID_TRY(const Bought bought, SellToAll(product_id));
    return Count(product_id, bought);
  }

 private:
  Result<Bought> SellToAll(const std::string& product_id) {
    std::vector<Bought> parts(kBuyerThreads);
    std::vector<std::thread> threads;
    threads.reserve(kBuyerThreads);
    for (int i = 0; i < kBuyerThreads; ++i) {
      threads.emplace_back([&, i] {
        Bought& part = parts[static_cast<size_t>(i)];
        for (int buyer = i; buyer < kBuyers && part.status.ok() && !setting_.stop; buyer += kBuyerThreads) {
          part.status = Buy(product_id, StrCat("buyer-", buyer), part);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    Bought all;
    for (const Bought& part : parts) {
      BRAID_CHECK_OK(part.status);
      all.sold += part.sold;
      all.refused += part.refused;
    }
    return all;
  }

  Status Buy(const std::string& product_id, const std::string& buyer, Bought& bought) {
    const Owner owner = Owner::User(buyer);
    BRAID_CHECK_OK(shop_->AddToCart({.owner = owner, .product_id = product_id, .qty = 1}));
    while (true) {
      const auto order =
          shop_->Checkout({.owner = owner, .geo_zone = kSaleZone, .idempotency_key = StrCat(product_id, "-", buyer)});
      if (order.ok()) break;
      const std::optional<shop::Refusal> refusal = shop::RefusalOf(order.error());
      if (!refusal || refusal->lines.empty()) return order.error();
      // Removes leftovers of an interrupted sale from the cart, so that they cannot make this checkout fail.
      bool wanted = false;
      for (const shop::ShortLine& line : refusal->lines) {
        BRAID_CHECK_OK(shop_->RemoveFromCart({.owner = owner, .product_id = line.product_id}));
        wanted = wanted || line.product_id == product_id;
      }
      if (!wanted) continue;
      ++bought.refused;
      return {};
    }
    ++bought.sold;
    return {};
  }

  // Units sold beyond the stock are oversold.
  Status Count(const std::string& product_id, const Bought& bought) {
    BRAID_TRY(const shop::Product product, shop_->Card(product_id));
    const shop::ZoneStock* stock = product.StockIn(kSaleZone);
    const int64_t left = stock == nullptr ? 0 : stock->qty;
    const int64_t oversold = std::max<int64_t>(0, bought.sold + left - kSaleUnits);
    figures_["units"] += kSaleUnits;
    figures_["buyers"] += bought.sold + bought.refused;
    figures_["sold"] += bought.sold;
    figures_["refused"] += bought.refused;
    figures_["oversold"] += oversold;
    BRAID_CHECK_OK(setting_.journal.Write(kSale, figures_));
    return setting_.journal.Note(
        kSale, StrCat("flash sale ", figures_["sales"], ": ", bought.sold, " of ", kSaleUnits, " units sold to ",
                      bought.sold + bought.refused, " buyers, ", left, " left, oversold ", oversold));
  }

  const Setting setting_;
  const std::unique_ptr<Shop> shop_;
  Figures figures_;
};

}  // namespace

Result<std::unique_ptr<Load>> OpenSale(const Setting& setting) {
  BRAID_TRY(std::unique_ptr<Shop> shop,
            Shop::Open(setting.clients, {.cart_lifetime_ms = 3600 * 1000, .stop = &setting.stop}));
  BRAID_TRY(Figures figures, setting.journal.Read(kSale));
  const bool first = figures["sales"] == 0;
  auto load = std::make_unique<SaleLoad>(setting, std::move(shop), std::move(figures));
  if (first) BRAID_CHECK_OK(load->Step());
  return std::unique_ptr<Load>(std::move(load));
}

}  // namespace braid::cli::demo
