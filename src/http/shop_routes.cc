// The storefront over HTTP (B2): products, carts, checkout, orders and reports. A route is one of the shop's operations
// (services/shop/json.h), its fields taken from the path, the query, the header and the body.
#include "base/strings.h"
#include "http/api.h"
#include "http/routes.h"
#include "services/shop/json.h"
#include "services/shop/json_request.h"

namespace braid::http {
namespace {

using shop::Refused;

unsigned StatusOf(Refused code) {
  switch (code) {
    case Refused::kBadRequest:
    case Refused::kBadQuantity:
    case Refused::kBadPrice:
    case Refused::kInexactAmount: return 400;
    case Refused::kUnknownProduct:
    case Refused::kUnknownCart:
    case Refused::kUnknownOrder:
    case Refused::kNotInCart: return 404;
    case Refused::kConflict: return 422;
    default: return 409;
  }
}

Result<Response> RefusedOr(const Status& error) {
  const std::optional<shop::Refusal> refusal = shop::RefusalOf(error);
  if (!refusal) return error;
  return Response{.status = StatusOf(refusal->code), .body = shop::RefusalJson(*refusal)};
}

// The JSON of an operation, field by field.
class Operation {
 public:
  explicit Operation(std::string_view name) { Text("op", name); }
  /// Left out if it is empty.
  Operation& Text(std::string_view name, std::string_view value) {
    if (!value.empty()) fields_ += StrCat(fields_.empty() ? "" : ", ", QuotedJson(name), ": ", QuotedJson(value));
    return *this;
  }
  /// A value that is JSON already.
  Operation& Json(std::string_view name, std::string_view value) {
    fields_ += StrCat(", ", QuotedJson(name), ": ", value);
    return *this;
  }
  /// The fields inside a JSON object.
  Operation& Inside(std::string_view object) {
    const size_t begin = object.find('{') + 1;
    const std::string_view inside = object.substr(begin, object.rfind('}') - begin);
    if (inside.find_first_not_of(" \t\r\n") != std::string_view::npos) fields_ += StrCat(", ", inside);
    return *this;
  }
  std::string ToJson() const { return StrCat("{", fields_, "}"); }

 private:
  std::string fields_;
};

// `creates`: the shop's collections are made if there are none.
Result<Response> RunShop(Api& api, const Operation& operation, bool creates = false) {
  BRAID_TRY(const std::shared_ptr<shop::Shop> opened, api.Shop(creates));
  Result<std::string> result = shop::ResultOf(*opened, operation.ToJson());
  if (!result.ok()) return RefusedOr(result.error());
  return Response{.body = *std::move(result)};
}

// With the fields of the body, which must be an object by itself.
Result<Response> RunShopBody(Api& api, const Call& call, Operation& operation) {
  if (const auto body = shop::ParseRequest(call.body); !body.ok()) return RefusedOr(body.error());
  return RunShop(api, operation.Inside(call.body), true);
}

// "u:42" is a user, "g:abc" a guest's session.
Status AddOwner(const Call& call, Operation& operation) {
  const std::string& text = call.arguments.Text("owner");
  if (text.size() > 2 && text.starts_with("u:")) {
    operation.Text("user_id", std::string_view(text).substr(2));
  } else if (text.size() > 2 && text.starts_with("g:")) {
    operation.Text("session_id", std::string_view(text).substr(2));
  } else {
    return Status(Code::kBadValue, StrCat("owner is '", text, "'; it must be u:USER_ID or g:SESSION_ID"));
  }
  return {};
}

// Products.

Result<Response> RunShopCatalogue(Api& api, const Call& call) {
  Operation operation("catalogue");
  for (const char* name : {"category", "price_min", "price_max", "sort", "after"}) {
    operation.Text(name, call.arguments.Text(name));
  }
  operation.Json("descending", call.arguments.Text("descending")).Json("limit", call.arguments.Text("limit"));
  if (const std::string& attrs = call.arguments.Text("attrs"); !attrs.empty()) {
    if (const auto object = shop::ParseRequest(attrs); !object.ok()) return RefusedOr(object.error());
    operation.Json("attrs", attrs);
  }
  return RunShop(api, operation);
}

Result<Response> RunShopCard(Api& api, const Call& call) {
  return RunShop(api, Operation("card").Text("product_id", call.arguments.Text("product_id")));
}

Result<Response> RunShopPut(Api& api, const Call& call) {
  if (const auto body = shop::ParseRequest(call.body); !body.ok()) return RefusedOr(body.error());
  Operation operation("put_product");
  const std::string inner = Operation("").Text("_id", call.arguments.Text("product_id")).Inside(call.body).ToJson();
  return RunShop(api, operation.Json("product", inner), true);
}

Result<Response> RunShopStock(Api& api, const Call& call) {
  Operation operation(StrCat(call.arguments.Text("action"), "_stock"));
  return RunShopBody(api, call, operation.Text("product_id", call.arguments.Text("product_id")));
}

// Carts.

Result<Response> RunShopCart(Api& api, const Call& call) {
  Operation operation("cart");
  BRAID_CHECK_OK(AddOwner(call, operation));
  return RunShop(api, operation);
}

Result<Response> RunShopAdd(Api& api, const Call& call) {
  Operation operation("add_to_cart");
  BRAID_CHECK_OK(AddOwner(call, operation));
  return RunShopBody(api, call, operation);
}

Result<Response> RunShopSet(Api& api, const Call& call) {
  Operation operation("set_quantity");
  BRAID_CHECK_OK(AddOwner(call, operation));
  return RunShopBody(api, call, operation.Text("product_id", call.arguments.Text("product_id")));
}

Result<Response> RunShopRemove(Api& api, const Call& call) {
  Operation operation("remove_from_cart");
  BRAID_CHECK_OK(AddOwner(call, operation));
  return RunShop(api, operation.Text("product_id", call.arguments.Text("product_id")));
}

Result<Response> RunShopMerge(Api& api, const Call& call) {
  Operation operation("merge_carts");
  if (!call.arguments.Text("owner").starts_with("u:")) {
    return Status(Code::kBadValue, "a guest's cart is merged into a user's: the owner must be u:USER_ID");
  }
  BRAID_CHECK_OK(AddOwner(call, operation));
  return RunShopBody(api, call, operation);
}

// Orders.

Result<Response> RunShopCheckoutOnce(Api& api, const Call& call) {
  Operation operation("checkout");
  BRAID_CHECK_OK(AddOwner(call, operation));
  return RunShopBody(api, call, operation.Text("idempotency_key", call.arguments.Text("Idempotency-Key")));
}

Result<Response> RunShopHistory(Api& api, const Call& call) {
  Operation operation("history");
  BRAID_CHECK_OK(AddOwner(call, operation));
  operation.Text("after", call.arguments.Text("after")).Json("limit", call.arguments.Text("limit"));
  return RunShop(api, operation);
}

Result<Response> RunShopOrder(Api& api, const Call& call) {
  return RunShop(api, Operation("order")
                          .Text("order_id", call.arguments.Text("order_id"))
                          .Text("user_id", call.arguments.Text("user_id")));
}

Result<Response> RunShopTransition(Api& api, const Call& call) {
  Operation operation("transition");
  return RunShopBody(api, call, operation.Text("order_id", call.arguments.Text("order_id")));
}

Result<Response> RunSalesReport(Api& api, const Call& call) {
  shop::ReportOptions options{.top = call.arguments.Integer("top")};
  BRAID_CHECK_OK(shop::ReadPeriod({.from = call.arguments.Text("from"), .to = call.arguments.Text("to")}, "", options));
  BRAID_CHECK_OK(api.Shop(false));
  BRAID_TRY(const shop::Report report, MakeReport(api.clients(), options));
  client::Bson json;
  AppendReport(report, json);
  return JsonResponse(json);
}

// The whole shop at a glance.
Result<Response> RunStorefront(Api& api, const Call& call) {
  BRAID_TRY(const std::shared_ptr<shop::Shop> opened, api.Shop(false));
  client::Bson json;
  BRAID_CHECK_OK(
      shop::AppendStorefront(api.clients(), opened->options().database, call.arguments.Integer("limit"), json));
  return JsonResponse(json);
}

using Place = Parameter::Place;
using Type = Parameter::Type;
constexpr Parameter kProductId = {.name = "product_id", .help = "The product.", .place = Place::kPath};
constexpr Parameter kOwner = {.name = "owner", .help = "u:USER_ID or g:SESSION_ID.", .place = Place::kPath};
constexpr Parameter kOrderId = {
    .name = "order_id", .help = "The order, such as ORD-2026-012345678901.", .place = Place::kPath};
constexpr Parameter kPageRows = {.name = "limit",
                                 .help = "Rows of the page.",
                                 .type = Type::kInteger,
                                 .fallback = "20",
                                 .min = 1,
                                 .max = shop::kPageMax};
constexpr Parameter kPageAfter = {.name = "after", .help = "Continue behind a page: its next."};

constexpr Parameter kProductParameters[] = {kProductId};
constexpr Parameter kStockParameters[] = {kProductId,
                                          {.name = "action",
                                           .help = "Set what can be sold, or reserve, release or commit units of it.",
                                           .place = Place::kPath,
                                           .choices = "set,reserve,release,commit"}};
constexpr Parameter kCatalogueParameters[] = {
    {.name = "category", .help = "Products of this category.", .required = true},
    {.name = "price_min", .help = "The lowest price, a decimal."},
    {.name = "price_max", .help = "The highest price, a decimal."},
    {.name = "attrs", .help = "Attributes that must be equal, as a JSON object."},
    {.name = "sort", .help = "The order.", .fallback = "price", .choices = "price,name"},
    {.name = "descending", .help = "Highest first.", .type = Type::kBoolean, .fallback = "false"},
    kPageRows,
    kPageAfter};
constexpr Parameter kOwnerParameters[] = {kOwner};
constexpr Parameter kItemParameters[] = {kOwner, kProductId};
constexpr Parameter kCheckoutParameters[] = {
    kOwner,
    {.name = "Idempotency-Key",
     .help = "Chosen by the client, unique in the shop: the same again gives the order that was made.",
     .place = Place::kHeader,
     .required = true}};
constexpr Parameter kHistoryParameters[] = {
    {.name = "owner", .help = "Whose: u:USER_ID or g:SESSION_ID.", .required = true}, kPageRows, kPageAfter};
constexpr Parameter kOrderParameters[] = {
    kOrderId, {.name = "user_id", .help = "Whose order it must be; another's order is unknown."}};
constexpr Parameter kTransitionParameters[] = {kOrderId};
constexpr Parameter kStorefrontParameters[] = {kPageRows};
constexpr Parameter kReportParameters[] = {
    {.name = "from", .help = "The first day, as YYYY-MM-DD in UTC; all by default."},
    {.name = "to", .help = "The last day."},
    {.name = "top",
     .help = "Rows of each list of best sellers.",
     .type = Type::kInteger,
     .fallback = "10",
     .min = 1,
     .max = 1000}};

constexpr std::string_view kShop = "shop";
constexpr Route kShopRoutes[] = {
    {.method = "GET",
     .path = "/v1/products",
     .group = kShop,
     .summary = "The catalogue of a category, in pages.",
     .parameters = kCatalogueParameters,
     .gives = "ProductPage",
     .run = RunShopCatalogue,
     .cacheable = true},
    {.method = "GET",
     .path = "/v1/products/{product_id}",
     .group = kShop,
     .summary = "A product.",
     .parameters = kProductParameters,
     .gives = "Product",
     .run = RunShopCard,
     .cacheable = true},
    {.method = "PUT",
     .path = "/v1/products/{product_id}",
     .group = kShop,
     .summary = "Makes a product, or changes it. Zones that are not named keep their stock.",
     .parameters = kProductParameters,
     .takes = "NewProduct",
     .gives = "Product",
     .run = RunShopPut},
    {.method = "POST",
     .path = "/v1/products/{product_id}/stock/{action}",
     .group = kShop,
     .summary = "Changes the stock of a zone.",
     .parameters = kStockParameters,
     .takes = "StockChange",
     .gives = "Product",
     .run = RunShopStock},
    {.method = "GET",
     .path = "/v1/carts/{owner}",
     .group = kShop,
     .summary = "The active cart of a user or guest.",
     .parameters = kOwnerParameters,
     .gives = "Cart",
     .run = RunShopCart},
    {.method = "POST",
     .path = "/v1/carts/{owner}/items",
     .group = kShop,
     .summary = "Adds to the cart, which is made if there is none.",
     .parameters = kOwnerParameters,
     .takes = "NewItem",
     .gives = "Cart",
     .run = RunShopAdd},
    {.method = "PUT",
     .path = "/v1/carts/{owner}/items/{product_id}",
     .group = kShop,
     .summary = "Sets the quantity of a line.",
     .parameters = kItemParameters,
     .takes = "Quantity",
     .gives = "Cart",
     .run = RunShopSet},
    {.method = "DELETE",
     .path = "/v1/carts/{owner}/items/{product_id}",
     .group = kShop,
     .summary = "Takes a line out of the cart.",
     .parameters = kItemParameters,
     .gives = "Cart",
     .run = RunShopRemove},
    {.method = "POST",
     .path = "/v1/carts/{owner}/merge",
     .group = kShop,
     .summary = "Merges a guest's cart into the user's, on login.",
     .parameters = kOwnerParameters,
     .takes = "MergeFrom",
     .gives = "MergedCart",
     .run = RunShopMerge},
    {.method = "POST",
     .path = "/v1/carts/{owner}/checkout",
     .group = kShop,
     .summary = "Makes the order of the cart: order, stock and cart change together, once per key.",
     .parameters = kCheckoutParameters,
     .takes = "Checkout",
     .gives = "Order",
     .run = RunShopCheckoutOnce},
    {.method = "GET",
     .path = "/v1/orders",
     .group = kShop,
     .summary = "The orders of a user or guest, newest first.",
     .parameters = kHistoryParameters,
     .gives = "OrderPage",
     .run = RunShopHistory,
     .cacheable = true},
    {.method = "GET",
     .path = "/v1/orders/{order_id}",
     .group = kShop,
     .summary = "An order.",
     .parameters = kOrderParameters,
     .gives = "Order",
     .run = RunShopOrder,
     .cacheable = true},
    {.method = "POST",
     .path = "/v1/orders/{order_id}/transitions",
     .group = kShop,
     .summary = "Changes the status: paid, shipped, delivered; paid or shipped to canceled.",
     .parameters = kTransitionParameters,
     .takes = "Transition",
     .gives = "Order",
     .run = RunShopTransition},
    {.method = "GET",
     .path = "/v1/storefront",
     .group = kShop,
     .summary = "The newest orders, the stock of each zone and what runs out, carts by status.",
     .parameters = kStorefrontParameters,
     .gives = "Storefront",
     .run = RunStorefront,
     .cacheable = true,
     .takes_long = true},
    {.method = "GET",
     .path = "/v1/reports/sales",
     .group = kShop,
     .summary = "What was sold over a period: by month and country, best sellers, baskets, cancellations.",
     .parameters = kReportParameters,
     .gives = "SalesReport",
     .run = RunSalesReport,
     .cacheable = true,
     .takes_long = true},
};

}  // namespace

std::span<const Route> ShopRoutes() { return kShopRoutes; }

}  // namespace braid::http
