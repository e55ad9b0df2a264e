// Operations of the shop as JSON: one object in, one object out.
#include "services/shop/json.h"

#include <algorithm>
#include <iterator>

#include "base/strings.h"
#include "services/shop/json_request.h"

namespace braid::shop {
namespace {

using client::Bson;

// A request that is wrong never reaches the shop.
template <typename Request, typename Value>
Status RunOperation(Shop& shop, RequestFields& fields, Result<Value> (Shop::*operation)(const Request&),
                    const Request& request, Bson& out) {
  BRAID_CHECK_OK(fields.Finish());
  BRAID_TRY(const Value value, (shop.*operation)(request));
  AppendResult(value, out);
  return {};
}

// The fields of a card are fields of a product, so that one can be put back.
Status RunPutProduct(Shop& shop, RequestFields& fields, Bson& out) {
  const auto object = fields.Object("product");
  if (!object) fields.Fail(Refuse(Refused::kBadRequest, "product is missing"));
  BRAID_CHECK_OK(fields.Finish());
  RequestFields inner(*object, "product.");
  Product product{.id = inner.Text("_id"), .name = inner.Text("name"), .category = inner.Text("category")};
  const std::optional<Money> price = inner.Amount("price");
  if (!price) inner.Fail(Refuse(Refused::kBadPrice, "product.price is missing"));
  product.price = price.value_or(Money());
  product.currency = inner.Text("currency");
  product.stock_by_geo = inner.Stocks("stock_by_geo");
  product.attrs = inner.Attributes("attrs");
  inner.Ignore("updated_at");
  return RunOperation(shop, inner, &Shop::PutProduct, product, out);
}

Status RunCard(Shop& shop, RequestFields& fields, Bson& out) {
  return RunOperation(shop, fields, &Shop::Card, fields.Text("product_id"), out);
}

Status RunCatalogue(Shop& shop, RequestFields& fields, Bson& out) {
  CatalogueQuery query{.category = fields.Text("category"),
                       .price_min = fields.Amount("price_min"),
                       .price_max = fields.Amount("price_max"),
                       .attrs = fields.Attributes("attrs")};
  const std::string sort = fields.Text("sort");
  if (!sort.empty() && sort != "price" && sort != "name") {
    fields.Fail(Refuse(Refused::kBadRequest, "sort must be price or name"));
  }
  query.sort = sort == "name" ? CatalogueSort::kName : CatalogueSort::kPrice;
  query.descending = fields.Flag("descending");
  query.limit = fields.Integer("limit", Refused::kBadRequest, query.limit);
  query.after = fields.Text("after");
  return RunOperation(shop, fields, &Shop::Catalogue, query, out);
}

StockRequest StockFields(RequestFields& fields) {
  return {.product_id = fields.Text("product_id"),
          .geo_zone = fields.Text("geo_zone"),
          .qty = fields.Integer("qty", Refused::kBadQuantity)};
}
Status RunSetStock(Shop& shop, RequestFields& fields, Bson& out) {
  return RunOperation(shop, fields, &Shop::SetStock, StockFields(fields), out);
}
Status RunReserveStock(Shop& shop, RequestFields& fields, Bson& out) {
  return RunOperation(shop, fields, &Shop::ReserveStock, StockFields(fields), out);
}
Status RunReleaseStock(Shop& shop, RequestFields& fields, Bson& out) {
  return RunOperation(shop, fields, &Shop::ReleaseStock, StockFields(fields), out);
}
Status RunCommitStock(Shop& shop, RequestFields& fields, Bson& out) {
  return RunOperation(shop, fields, &Shop::CommitStock, StockFields(fields), out);
}

CartRequest CartFields(RequestFields& fields) {
  return {.owner = fields.OwnerFields(), .cart_id = fields.Text("cart_id")};
}
CartRequest LineFields(RequestFields& fields, bool with_qty) {
  CartRequest request = CartFields(fields);
  request.product_id = fields.Text("product_id");
  if (with_qty) request.qty = fields.Integer("qty", Refused::kBadQuantity);
  return request;
}
Status RunAddToCart(Shop& shop, RequestFields& fields, Bson& out) {
  return RunOperation(shop, fields, &Shop::AddToCart, LineFields(fields, true), out);
}
Status RunSetQuantity(Shop& shop, RequestFields& fields, Bson& out) {
  return RunOperation(shop, fields, &Shop::SetQuantity, LineFields(fields, true), out);
}
Status RunRemoveFromCart(Shop& shop, RequestFields& fields, Bson& out) {
  return RunOperation(shop, fields, &Shop::RemoveFromCart, LineFields(fields, false), out);
}
Status RunCart(Shop& shop, RequestFields& fields, Bson& out) {
  return RunOperation(shop, fields, &Shop::GetCart, CartFields(fields), out);
}
Status RunMergeCarts(Shop& shop, RequestFields& fields, Bson& out) {
  const MergeRequest request{
      .session_id = fields.Text("session_id"), .user_id = fields.Text("user_id"), .geo_zone = fields.Text("geo_zone")};
  return RunOperation(shop, fields, &Shop::MergeCarts, request, out);
}

Status RunShopCheckout(Shop& shop, RequestFields& fields, Bson& out) {
  const CheckoutRequest request{.owner = fields.OwnerFields(),
                                .geo_zone = fields.Text("geo_zone"),
                                .idempotency_key = fields.Text("idempotency_key"),
                                .cart_id = fields.Text("cart_id")};
  return RunOperation(shop, fields, &Shop::Checkout, request, out);
}
Status RunOrder(Shop& shop, RequestFields& fields, Bson& out) {
  const OrderRequest request{
      .order_id = fields.Text("order_id"), .id = fields.Text("_id"), .user_id = fields.Text("user_id")};
  return RunOperation(shop, fields, &Shop::GetOrder, request, out);
}
Status RunHistory(Shop& shop, RequestFields& fields, Bson& out) {
  const Owner owner = fields.OwnerFields();
  if (owner.user_id.empty() == owner.session_id.empty()) {
    fields.Fail(Refuse(Refused::kBadRequest, "give one of user_id and session_id"));
  }
  HistoryRequest request{.user_id = owner.OrderUserId()};
  request.limit = fields.Integer("limit", Refused::kBadRequest, request.limit);
  request.after = fields.Text("after");
  return RunOperation(shop, fields, &Shop::History, request, out);
}
Status RunTransition(Shop& shop, RequestFields& fields, Bson& out) {
  const TransitionRequest request{
      .order_id = fields.Text("order_id"), .status = fields.Text("status"), .user_id = fields.Text("user_id")};
  return RunOperation(shop, fields, &Shop::Transition, request, out);
}

struct Operation {
  std::string_view name;
  Status (*run)(Shop& shop, RequestFields& fields, Bson& out);
  bool writes_product = false;  // its requests for one product keep their order
};
constexpr Operation kOperations[] = {
    // sorted by name
    {"add_to_cart", RunAddToCart},
    {"card", RunCard},
    {"cart", RunCart},
    {"catalogue", RunCatalogue},
    {"checkout", RunShopCheckout},
    {"commit_stock", RunCommitStock, true},
    {"history", RunHistory},
    {"merge_carts", RunMergeCarts},
    {"order", RunOrder},
    {"put_product", RunPutProduct, true},
    {"release_stock", RunReleaseStock, true},
    {"remove_from_cart", RunRemoveFromCart},
    {"reserve_stock", RunReserveStock, true},
    {"set_quantity", RunSetQuantity},
    {"set_stock", RunSetStock, true},
    {"transition", RunTransition},
};
static_assert(std::is_sorted(std::begin(kOperations), std::end(kOperations),
                             [](const Operation& a, const Operation& b) { return a.name < b.name; }));

const Operation* FindOperation(std::string_view name) {
  const auto* found =
      std::lower_bound(std::begin(kOperations), std::end(kOperations), name,
                       [](const Operation& operation, std::string_view wanted) { return operation.name < wanted; });
  return found != std::end(kOperations) && found->name == name ? found : nullptr;
}

Status RunRequest(Shop& shop, std::string_view request, Bson& out) {
  BRAID_TRY(const simdjson::dom::object object, ParseRequest(request));
  RequestFields fields(object, "");
  const std::string name = fields.Text("op");
  const Operation* operation = FindOperation(name);
  if (operation == nullptr) {
    return Refuse(Refused::kBadRequest, name.empty() ? "op is missing" : "op is none of the shop's operations");
  }
  return operation->run(shop, fields, out);
}

// Empty if there is none.
std::string_view PlainText(simdjson::dom::object object, std::string_view name) {
  std::string_view text;
  return object.at_key(name).get_string().get(text) == simdjson::SUCCESS ? text : std::string_view();
}

}  // namespace

Answer AnswerRequest(Shop& shop, std::string_view request) {
  Bson result;
  const Status status = RunRequest(shop, request, result);
  if (status.ok()) return {.json = SuccessJson(result)};
  return {.json = FailureJson(status), .store_failure = RefusalOf(status) ? Status() : status};
}

Result<std::string> ResultOf(Shop& shop, std::string_view request) {
  Bson result;
  BRAID_CHECK_OK(RunRequest(shop, request, result));
  return client::ToJson(result);
}

std::vector<Touched> TouchedBy(std::string_view request) {
  std::vector<Touched> touched;
  const auto object = ParseRequest(request);
  if (!object.ok()) return touched;
  const Operation* operation = FindOperation(PlainText(*object, "op"));
  if (operation == nullptr) return touched;
  const auto add = [&](std::string_view kind, std::string_view key, bool shared) {
    if (!key.empty()) touched.push_back({.key = StrCat(kind, key), .shared = shared});
  };
  // A guest's orders have a user_id too, which is as good as the session.
  constexpr std::string_view kGuest = "guest:";
  const std::string_view user = PlainText(*object, "user_id");
  const bool guest = user.starts_with(kGuest);
  add(guest ? "session " : "user ", guest ? user.substr(kGuest.size()) : user, false);
  add("session ", PlainText(*object, "session_id"), false);
  add("order ", PlainText(*object, "order_id"), false);
  add("product ", PlainText(*object, "product_id"), !operation->writes_product);
  simdjson::dom::object product;
  if (object->at_key("product").get_object().get(product) == simdjson::SUCCESS) {
    add("product ", PlainText(product, "_id"), false);
  }
  return touched;
}

}  // namespace braid::shop
