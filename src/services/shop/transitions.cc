// The status of an order, and what may follow it.
#include <algorithm>
#include <iterator>

#include "base/strings.h"
#include "services/shop/checks.h"
#include "services/shop/collections.h"
#include "services/shop/order.h"
#include "services/shop/stock.h"

namespace braid::shop {
namespace {

using client::Bson;

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

// Only from the status that it was read with; a step that was taken meanwhile makes the transaction run again.
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
