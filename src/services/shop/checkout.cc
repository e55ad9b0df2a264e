// Checkout: order, stock and cart in one transaction. What it writes, in this order:
//   order_ids  {_id: "key:{idempotency_key}", user_id, order, order_id, geo_zone}   claims the key
//   order_ids  {_id: order_id, user_id, order}                                      claims the order_id
//   orders     the order, paid
//   carts      the cart, ordered
//   products   the stock, by product; last, because a hot product is locked from then until the commit
// Of two checkouts with one key, or of one cart, the second collides with the first and runs again: it finds the key
// and gives the first one's order, or finds no cart.
#include "base/assert.h"
#include "base/strings.h"
#include "client/fields.h"
#include "services/shop/checks.h"
#include "services/shop/collections.h"
#include "services/shop/documents.h"

namespace braid::shop {
namespace {

using client::Bson;

std::string KeyClaimId(const CheckoutRequest& request) { return StrCat("key:", request.idempotency_key); }

Status CheckCheckoutRequest(const CheckoutRequest& request) {
  BRAID_CHECK_OK(CheckOwner(request.owner));
  BRAID_CHECK_OK(CheckId("geo_zone", request.geo_zone));
  BRAID_CHECK_OK(CheckId("idempotency_key", request.idempotency_key));
  return CheckOptionalId("cart_id", request.cart_id);
}

// The order that was made with the key, as it is now; nothing if the key is new.
Result<std::optional<Order>> FindEarlier(Reads& reads, const CheckoutRequest& request) {
  Bson by_key;
  by_key.Text("_id", KeyClaimId(request));
  BRAID_TRY(const client::BsonPtr claim, reads.FindOne(kOrderIds, by_key.get()));
  if (claim == nullptr) return std::optional<Order>();
  if (client::TextOf(claim.get(), "user_id") != request.owner.OrderUserId() ||
      client::TextOf(claim.get(), "geo_zone") != request.geo_zone) {
    return Refuse(Refused::kConflict, StrCat("idempotency_key ", request.idempotency_key,
                                             " was used for a checkout of another owner or geo zone"));
  }
  BRAID_TRY(Order order,
            FindOrder(reads, std::string(client::TextOf(claim.get(), "order_id")), request.owner.OrderUserId()));
  return std::optional(std::move(order));
}

Order OrderFrom(const Cart& cart, const CheckoutRequest& request, std::string order_id, int64_t now_ms) {
  BRAID_ASSERT(!cart.lines.empty());
  Order order{.id = NewObjectId(),
              .order_id = std::move(order_id),
              .user_id = cart.owner.OrderUserId(),
              .created_at = now_ms,
              .status = "paid",
              .geo_zone = request.geo_zone,
              .total_amount = cart.total_amount,
              .currency = cart.currency};
  for (const CartLine& line : cart.lines) {
    order.items.push_back({.product_id = line.product_id, .price = line.price, .qty = line.qty});
  }
  return order;
}

Status ClaimIds(Transaction& transaction, const CheckoutRequest& request, const Order& order) {
  Bson key;
  key.Text("_id", KeyClaimId(request)).Text("user_id", order.user_id);
  AppendObjectId(key, "order", order.id);
  key.Text("order_id", order.order_id).Text("geo_zone", order.geo_zone);
  Bson id;
  AppendOrderClaim(order, id);
  const bson_t* claims[] = {key.get(), id.get()};
  return transaction.Insert(kOrderIds, claims);
}

Status InsertOrder(Transaction& transaction, const Order& order) {
  Bson document;
  AppendOrder(order, document);
  const bson_t* documents[] = {document.get()};
  return transaction.Insert(kOrders, documents);
}

}  // namespace

Result<Order> Shop::Checkout(const CheckoutRequest& request) {
  BRAID_CHECK_OK(CheckCheckoutRequest(request));
  Order order;
  BRAID_CHECK_OK(Change([&](Transaction& transaction) -> Status {
    const int64_t now = NowMillis();
    Reads reads(transaction);
    BRAID_TRY(std::optional<Order> earlier, FindEarlier(reads, request));
    if (earlier) {
      order = *std::move(earlier);
      return {};
    }
    BRAID_TRY(Cart cart, NeedActiveCart(reads, request.owner, request.cart_id, now));
    if (cart.lines.empty()) return Refuse(Refused::kEmptyCart, StrCat("the cart of ", cart.owner.Key(), " is empty"));
    order = OrderFrom(cart, request, NewOrderId(now), now);
    const std::vector<Units> units = UnitsOf(order.items);
    BRAID_ASSERT(!units.empty() && units.size() <= order.items.size());
    BRAID_CHECK_OK(CheckUnits(transaction, request.geo_zone, units));
    BRAID_CHECK_OK(ClaimIds(transaction, request, order));
    BRAID_CHECK_OK(InsertOrder(transaction, order));
    cart.status = "ordered";
    cart.updated_at = now;
    BRAID_CHECK_OK(SaveCart(transaction, cart));
    return TakeUnits(transaction, request.geo_zone, units, now);
  }));
  return order;
}

}  // namespace braid::shop
