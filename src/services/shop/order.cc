// Orders: as documents, by id and by order_id, and a user's history.
#include "services/shop/documents.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/strings.h"
#include "client/fields.h"
#include "services/shop/checks.h"
#include "services/shop/collections.h"

namespace braid::shop {
namespace {

using client::Bson;

constexpr const char* kHistoryKind = "history";

Status UnknownOrder(std::string_view id) {
  return Refuse(Refused::kUnknownOrder, StrCat("there is no order ", id.substr(0, kIdBytesMax)));
}

Result<std::vector<OrderLine>> OrderLinesOf(const bson_t& document) {
  std::vector<OrderLine> lines;
  BRAID_CHECK_OK(ForEachElement(document, "items", [&](const bson_t& item) -> Status {
    OrderLine line{.product_id = std::string(client::TextOf(&item, "product_id")),
                   .qty = client::IntegerOf(&item, "qty")};
    BRAID_TRY(line.price, Money::FromDocument(&item, "price"));
    lines.push_back(std::move(line));
    return {};
  }));
  return lines;
}

Status ReadOrders(Reads& reads, const Bson& filter, int64_t limit, std::vector<Order>& orders) {
  if (limit <= 0) return {};
  Bson sort;
  sort.Integer("created_at", -1).Integer("_id", -1);
  return reads.Find(kOrders, filter.get(), {.sort = sort.get(), .limit = limit}, [&](const bson_t& document) -> Status {
    BRAID_TRY(Order order, OrderOf(document));
    orders.push_back(std::move(order));
    return {};
  });
}

// The rest of the page whose last order came at the same millisecond, and then older ones: two ranges of the index
// {user_id, created_at, _id}.
Status ReadOlder(Reads& reads, const HistoryRequest& request, const PageEnd& end, std::vector<Order>& orders) {
  int64_t created_at = 0;
  const auto [last, error] = std::from_chars(end.value.data(), end.value.data() + end.value.size(), created_at);
  if (error != std::errc() || last != end.value.data() + end.value.size()) {
    return Refuse(Refused::kBadRequest, "`after` is not the `next` of a page of this list");
  }
  Bson before_id;
  AppendObjectId(before_id, "$lt", end.id);
  Bson same;
  same.Text("user_id", request.user_id).Date("created_at", created_at).Document("_id", before_id);
  BRAID_CHECK_OK(ReadOrders(reads, same, request.limit + 1, orders));
  Bson before;
  before.Date("$lt", created_at);
  Bson older;
  older.Text("user_id", request.user_id).Document("created_at", before);
  return ReadOrders(reads, older, request.limit + 1 - static_cast<int64_t>(orders.size()), orders);
}

// By _id. Without its user every shard has to be asked.
Result<Order> FindOrderById(Reads& reads, const OrderRequest& request) {
  Bson filter;
  if (!request.user_id.empty()) filter.Text("user_id", request.user_id);
  AppendObjectId(filter, "_id", request.id);
  BRAID_TRY(const client::BsonPtr document, reads.FindOne(kOrders, filter.get()));
  if (document == nullptr) return UnknownOrder(request.id);
  return OrderOf(*document);
}

struct Step {
  std::string_view from;
  std::string_view to;
  bool returns_stock;
};
constexpr Step kSteps[] = {
    {"paid", "canceled", true},
    {"paid", "shipped", false},
    {"shipped", "canceled", true},
    {"shipped", "delivered", false},
};
constexpr std::string_view kStatuses[] = {"canceled", "delivered", "paid", "shipped"};

Result<const Step*> StepOf(const Order& order, const std::string& status) {
  const auto* step = std::find_if(std::begin(kSteps), std::end(kSteps),
                                  [&](const Step& one) { return one.from == order.status && one.to == status; });
  if (step != std::end(kSteps)) return step;
  return Refuse(Refused::kForbiddenTransition,
                StrCat("order ", order.order_id, " is ", order.status, " and cannot become ", status));
}

// Only if the order still has the status that was read; if it was changed meanwhile, the transaction runs again.
Status SetOrderStatus(Transaction& transaction, const Order& order, const Step& step) {
  Bson filter;
  AppendOrderFilter(order, filter);
  filter.Text("status", step.from);
  Bson set;
  set.Text("status", step.to);
  Bson change;
  change.Document("$set", set);
  const Transaction::Update update{.filter = filter.get(), .change = change.get()};
  BRAID_TRY(const Transaction::Matched matched, transaction.UpdateOnes(kOrders, {&update, 1}));
  return matched.matched == 1 ? Status() : Status(Code::kInternalError, "an order changed inside a snapshot");
}

}  // namespace

Result<Order> OrderOf(const bson_t& document) {
  Order order;
  order.id = ObjectIdOf(document, "_id");
  order.order_id = client::TextOf(&document, "order_id");
  order.user_id = client::TextOf(&document, "user_id");
  order.created_at = client::DateOf(&document, "created_at").value_or(0);
  order.status = client::TextOf(&document, "status");
  order.geo_zone = client::TextOf(&document, "geo_zone");
  BRAID_TRY(order.items, OrderLinesOf(document));
  BRAID_TRY(order.total_amount, Money::FromDocument(&document, "total_amount"));
  order.currency = client::TextOf(&document, "currency");
  return order;
}

void AppendOrder(const Order& order, Bson& document) {
  AppendObjectId(document, "_id", order.id);
  document.Text("order_id", order.order_id)
      .Text("user_id", order.user_id)
      .Date("created_at", order.created_at)
      .Text("status", order.status)
      .Text("geo_zone", order.geo_zone);
  Bson items;
  for (size_t i = 0; i < order.items.size(); ++i) {
    Bson item;
    item.Text("product_id", order.items[i].product_id);
    BSON_APPEND_DECIMAL128(item.get(), "price", &order.items[i].price.value());
    item.Integer("qty", order.items[i].qty);
    items.Document(StrCat(i).c_str(), item);
  }
  document.Array("items", items);
  BSON_APPEND_DECIMAL128(document.get(), "total_amount", &order.total_amount.value());
  document.Text("currency", order.currency);
}

void AppendOrderClaim(const Order& order, Bson& document) {
  document.Text("_id", order.order_id).Text("user_id", order.user_id);
  AppendObjectId(document, "order", order.id);
}

void AppendOrderFilter(const Order& order, Bson& filter) {
  filter.Text("user_id", order.user_id);
  AppendObjectId(filter, "_id", order.id);
}

Result<Order> FindOrder(Reads& reads, const std::string& order_id, const std::string& user_id) {
  Bson by_order_id;
  by_order_id.Text("_id", order_id);
  BRAID_TRY(const client::BsonPtr place, reads.FindOne(kOrderIds, by_order_id.get()));
  // Keys of checkouts are claimed in the same collection, but are not order ids.
  if (place == nullptr || bson_has_field(place.get(), "order_id")) return UnknownOrder(order_id);
  const std::string_view owner = client::TextOf(place.get(), "user_id");
  if (!user_id.empty() && owner != user_id) return UnknownOrder(order_id);
  Bson filter;
  filter.Text("user_id", owner);
  AppendObjectId(filter, "_id", ObjectIdOf(*place, "order"));
  BRAID_TRY(const client::BsonPtr document, reads.FindOne(kOrders, filter.get()));
  if (document == nullptr) return UnknownOrder(order_id);
  return OrderOf(*document);
}

Result<Order> Shop::GetOrder(const OrderRequest& request) {
  if (request.order_id.empty() == request.id.empty()) {
    return Refuse(Refused::kBadRequest, "give one of order_id and _id");
  }
  BRAID_CHECK_OK(CheckOptionalId("user_id", request.user_id));
  const Client client = clients_.Acquire();
  Reads reads(client, options_.database);
  if (!request.id.empty()) return FindOrderById(reads, request);
  BRAID_CHECK_OK(CheckId("order_id", request.order_id));
  return FindOrder(reads, request.order_id, request.user_id);
}

Result<HistoryPage> Shop::History(const HistoryRequest& request) {
  BRAID_CHECK_OK(CheckText("user_id", request.user_id, kIdBytesMax + 8));
  if (request.user_id.empty()) return Refuse(Refused::kBadRequest, "user_id is missing");
  BRAID_CHECK_OK(CheckLimit(request.limit));
  BRAID_TRY(const std::optional<PageEnd> end, ParseToken(request.after, kHistoryKind));
  HistoryPage page;
  const Client client = clients_.Acquire();
  Reads reads(client, options_.database);
  if (end) {
    BRAID_CHECK_OK(ReadOlder(reads, request, *end, page.orders));
  } else {
    Bson filter;
    filter.Text("user_id", request.user_id);
    BRAID_CHECK_OK(ReadOrders(reads, filter, request.limit + 1, page.orders));
  }
  if (static_cast<int64_t>(page.orders.size()) > request.limit) {
    page.orders.pop_back();
    const Order& last = page.orders.back();
    page.next = ToToken({.kind = kHistoryKind, .value = StrCat(last.created_at), .id = last.id});
  }
  return page;
}

// The status of an order, and what may follow it.

Result<Order> Shop::Transition(const TransitionRequest& request) {
  BRAID_CHECK_OK(CheckId("order_id", request.order_id));
  BRAID_CHECK_OK(CheckOptionalId("user_id", request.user_id));
  if (std::find(std::begin(kStatuses), std::end(kStatuses), request.status) == std::end(kStatuses)) {
    return Refuse(Refused::kBadRequest, "status must be paid, shipped, delivered or canceled");
  }
  Order order;
  BRAID_CHECK_OK(Change([&](Transaction& transaction) -> Status {
    Reads reads(transaction);
    BRAID_TRY(order, FindOrder(reads, request.order_id, request.user_id));
    BRAID_TRY(const Step* step, StepOf(order, request.status));
    BRAID_CHECK_OK(SetOrderStatus(transaction, order, *step));
    order.status = step->to;
    return step->returns_stock ? ReturnUnits(transaction, order.geo_zone, UnitsOf(order.items), NowMillis()) : Status();
  }));
  return order;
}

}  // namespace braid::shop
