// The catalogue at one number of products: its first page, a page in the middle of a category, and the same by skip.
#include <algorithm>

#include "base/random.h"
#include "base/strings.h"
#include "bench/shop_runs.h"
#include "client/fields.h"
#include "client/handles.h"
#include "services/shop/collections.h"

namespace braid::bench {
namespace {

using client::Bson;
using ProductIds = std::vector<std::string>;

constexpr uint64_t kReadingsMax = 20'000;

class CatalogueReader {
 public:
  CatalogueReader(Clients& clients, shop::Shop& shop, const ShopBenchOptions& options, uint64_t products)
      : client_(clients.Acquire()),
        products_(client::CollectionOf(client_.get(), options.database, shop::kProducts)),
        shop_(shop),
        options_(options),
        random_(options.seed),
        depth_(products / kShopCategories / 2) {}

  // Walks to the middle of every category. What is there must be the same by cursor and by skip.
  Status FindMiddles() {
    for (uint64_t category = 0; category < kShopCategories && !options_.stop->load(); ++category) {
      shop::CatalogueQuery query{.category = ShopCategory(category)};
      for (uint64_t left = depth_; left > 0; left -= static_cast<uint64_t>(query.limit)) {
        query.limit = std::min<int64_t>(static_cast<int64_t>(left), shop::kPageMax);
        BRAID_TRY(const shop::CataloguePage page, shop_.Catalogue(query));
        query.after = page.next;
      }
      after_.push_back(query.after);
      BRAID_TRY(const ProductIds by_cursor, ReadByCursor(category, query.after));
      BRAID_TRY(const ProductIds by_skip, ReadBySkip(category));
      if (by_cursor == by_skip) continue;
      return Status(Code::kInternalError, StrCat("category ", query.category, ": the page after ", depth_,
                                                 " products is another by cursor than by skip"));
    }
    return {};
  }

  Result<ShopCatalogueRow> Measure(CatalogueReading page) {
    ShopCatalogueRow row{.page = page, .depth = page == CatalogueReading::kFirst ? 0 : depth_};
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::microseconds(static_cast<int64_t>(options_.seconds * 1e6));
    auto start = std::chrono::steady_clock::now();
    while (start < end && row.nanos.count() < kReadingsMax && !options_.stop->load()) {
      const uint64_t category = random_.Below(kShopCategories);
      BRAID_CHECK_OK(Read(page, category));
      const auto now = std::chrono::steady_clock::now();
      row.nanos.Record(static_cast<uint64_t>(std::chrono::nanoseconds(now - start).count()));
      start = now;
    }
    return row;
  }

 private:
  Result<ProductIds> Read(CatalogueReading page, uint64_t category) {
    if (page == CatalogueReading::kDeepBySkip) return ReadBySkip(category);
    return ReadByCursor(category, page == CatalogueReading::kFirst ? "" : after_[category]);
  }

  Result<ProductIds> ReadByCursor(uint64_t category, const std::string& after) {
    BRAID_TRY(const shop::CataloguePage page,
              shop_.Catalogue({.category = ShopCategory(category), .limit = kShopPage, .after = after}));
    ProductIds ids;
    for (const shop::Product& product : page.products) ids.push_back(product.id);
    return ids;
  }

  Result<ProductIds> ReadBySkip(uint64_t category) {
    Bson filter;
    filter.Text("category", ShopCategory(category));
    Bson sort;
    sort.Integer("price", 1).Integer("_id", 1);
    Bson opts;
    opts.Document("sort", sort).Integer("skip", static_cast<int64_t>(depth_)).Integer("limit", kShopPage);
    const client::CursorPtr cursor(
        mongoc_collection_find_with_opts(products_.get(), filter.get(), opts.get(), nullptr));
    ProductIds ids;
    const bson_t* product = nullptr;
    while (mongoc_cursor_next(cursor.get(), &product)) ids.emplace_back(client::TextOf(product, "_id"));
    bson_error_t error{};
    if (mongoc_cursor_error(cursor.get(), &error)) return client::FromError(error);
    return ids;
  }

  const Client client_;
  const client::CollectionPtr products_;
  shop::Shop& shop_;
  const ShopBenchOptions& options_;
  Random random_;
  const uint64_t depth_;
  std::vector<std::string> after_;  // of each category, where its middle begins
};

}  // namespace

Status MeasureCatalogue(Clients& clients, const ShopBenchOptions& options, uint64_t products,
                        const std::function<void(const ShopCatalogueRow&)>& on_row) {
  BRAID_TRY(const std::unique_ptr<shop::Shop> shop,
            shop::Shop::Open(clients, {.database = options.database, .stop = options.stop}));
  CatalogueReader reader(clients, *shop, options, products);
  BRAID_CHECK_OK(reader.FindMiddles());
  for (const CatalogueReading page :
       {CatalogueReading::kFirst, CatalogueReading::kDeepByCursor, CatalogueReading::kDeepBySkip}) {
    if (options.stop->load()) return {};
    BRAID_TRY(ShopCatalogueRow row, reader.Measure(page));
    row.products = products;
    on_row(row);
  }
  return {};
}

}  // namespace braid::bench
