// The catalogue: products of a category in the order of {category, price, _id} or {category, name, _id}. A page is read
// from where the one before ended, as at most two ranges of the index: the rest of the rows with the same sort value,
// and the rows behind them. So a page costs the same for ten products and for ten million.
#include "base/assert.h"
#include "base/strings.h"
#include "client/fields.h"
#include "services/shop/checks.h"
#include "services/shop/collections.h"
#include "services/shop/documents.h"

namespace braid::shop {
namespace {

using client::Bson;

const char* SortField(const CatalogueQuery& query) { return query.sort == CatalogueSort::kPrice ? "price" : "name"; }

std::string TokenKind(const CatalogueQuery& query) { return StrCat(SortField(query), query.descending ? "-" : "+"); }

PageEnd EndOf(const CatalogueQuery& query, const Product& last) {
  const bool by_price = query.sort == CatalogueSort::kPrice;
  return {.kind = TokenKind(query), .value = by_price ? last.price.ToString() : last.name, .id = last.id};
}

void AppendSortValue(const CatalogueQuery& query, const char* key, const PageEnd& end, const Money& price, Bson& out) {
  if (query.sort == CatalogueSort::kPrice) {
    BSON_APPEND_DECIMAL128(out.get(), key, &price.value());
  } else {
    out.Text(key, end.value);
  }
}

enum class Range { kAll, kSameValue, kBehind };

// `price` is that of the end, if the rows are sorted by it.
void AppendFilter(const CatalogueQuery& query, Range range, const PageEnd& end, const Money& price, Bson& filter) {
  const char* behind = query.descending ? "$lt" : "$gt";
  filter.Text("category", query.category);
  Bson bounds;
  if (query.price_min) BSON_APPEND_DECIMAL128(bounds.get(), "$gte", &query.price_min->value());
  if (query.price_max) BSON_APPEND_DECIMAL128(bounds.get(), "$lte", &query.price_max->value());
  const bool by_price = query.sort == CatalogueSort::kPrice;
  if (range == Range::kSameValue) {
    AppendSortValue(query, SortField(query), end, price, filter);
    Bson id;
    id.Text(behind, end.id);
    filter.Document("_id", id);
  } else if (range == Range::kBehind && by_price) {
    AppendSortValue(query, behind, end, price, bounds);
  } else if (range == Range::kBehind) {
    Bson name;
    AppendSortValue(query, behind, end, price, name);
    filter.Document("name", name);
  }
  const bool bound = bson_count_keys(bounds.get()) > 0 && !(by_price && range == Range::kSameValue);
  if (bound) filter.Document("price", bounds);
  for (const auto& [name, value] : query.attrs) AppendAttr(filter, StrCat("attrs.", name).c_str(), value);
}

Status CheckCatalogueQuery(const CatalogueQuery& query) {
  BRAID_CHECK_OK(CheckId("category", query.category));
  BRAID_CHECK_OK(CheckLimit(query.limit));
  return CheckAttrs(query.attrs);
}

}  // namespace

Result<CataloguePage> Shop::Catalogue(const CatalogueQuery& query) {
  BRAID_CHECK_OK(CheckCatalogueQuery(query));
  BRAID_TRY(const std::optional<PageEnd> end, ParseToken(query.after, TokenKind(query)));
  Money price;
  if (end && query.sort == CatalogueSort::kPrice) {
    BRAID_TRY(price, Money::Parse(end->value));
  }
  CataloguePage page;
  Bson sort;
  const int64_t direction = query.descending ? -1 : 1;
  sort.Integer(SortField(query), direction).Integer("_id", direction);
  const Client client = clients_.Acquire();
  Reads reads(client, options_.database);
  // One row more than asked for tells whether there is a next page.
  const auto read = [&](Range range) {
    BRAID_ASSERT(range == Range::kAll || end);
    Bson filter;
    AppendFilter(query, range, end.value_or(PageEnd()), price, filter);
    const int64_t missing = query.limit + 1 - static_cast<int64_t>(page.products.size());
    if (missing <= 0) return Status();
    return reads.Find(kProducts, filter.get(), {.sort = sort.get(), .limit = missing},
                      [&](const bson_t& document) -> Status {
                        BRAID_TRY(Product product, ProductOf(document));
                        page.products.push_back(std::move(product));
                        return {};
                      });
  };
  if (end) BRAID_CHECK_OK(read(Range::kSameValue));
  BRAID_CHECK_OK(read(end ? Range::kBehind : Range::kAll));
  if (static_cast<int64_t>(page.products.size()) > query.limit) {
    page.products.pop_back();
    page.next = ToToken(EndOf(query, page.products.back()));
  }
  return page;
}

}  // namespace braid::shop
