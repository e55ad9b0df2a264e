// Documents of the shop: finding them inside a transaction or outside of one by the same calls, walking over their
// arrays, ObjectIds as the 24 hexadecimal digits by which carts and orders are called; then products, carts, stock and
// orders as documents.
#pragma once

#include <bson/bson.h>

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "braid/status.h"
#include "braid/transaction.h"
#include "client/handles.h"
#include "services/shop/shop.h"

namespace braid::shop {

/// One thread at a time; lives no longer than what it was made from.
class Reads {
 public:
  /// Of the transaction's snapshot, with its own writes.
  explicit Reads(Transaction& transaction) : transaction_(&transaction) {}
  /// Of the latest committed state, each call by itself: one round trip, without a transaction's commit.
  Reads(const Client& client, const std::string& database) : client_(client.get()), database_(database) {}

  Status Find(const char* collection, const bson_t* filter, const Transaction::FindOptions& options,
              const Transaction::OnDocument& each);
  /// The first that matches; null if there is none.
  Result<client::BsonPtr> FindOne(const char* collection, const bson_t* filter);

 private:
  Transaction* transaction_ = nullptr;
  mongoc_client_t* client_ = nullptr;
  std::string database_;
};

/// Calls `each` for every document in the array `field`; its error ends the walk. Elements of other types are passed
/// over. OK if there is no such array.
template <typename Each>
Status ForEachElement(const bson_t& document, const char* field, const Each& each) {
  bson_iter_t array;
  bson_iter_t element;
  if (!bson_iter_init_find(&array, &document, field) || !BSON_ITER_HOLDS_ARRAY(&array)) return {};
  if (!bson_iter_recurse(&array, &element)) return {};
  while (bson_iter_next(&element)) {
    if (!BSON_ITER_HOLDS_DOCUMENT(&element)) continue;
    const uint8_t* bytes = nullptr;
    uint32_t size = 0;
    bson_t inner;
    bson_iter_document(&element, &size, &bytes);
    if (bson_init_static(&inner, bytes, size)) BRAID_CHECK_OK(each(inner));
  }
  return {};
}

inline std::string NewObjectId() {
  bson_oid_t oid;
  bson_oid_init(&oid, nullptr);
  char text[25];
  bson_oid_to_string(&oid, text);
  return text;
}

/// Empty if the field is not an ObjectId.
inline std::string ObjectIdOf(const bson_t& document, const char* field) {
  bson_iter_t found;
  if (!bson_iter_init_find(&found, &document, field) || !BSON_ITER_HOLDS_OID(&found)) return {};
  char text[25];
  bson_oid_to_string(bson_iter_oid(&found), text);
  return text;
}

/// A text that is not an ObjectId becomes zeros, which no document has.
inline void AppendObjectId(client::Bson& document, const char* key, const std::string& text) {
  bson_oid_t oid{};
  if (bson_oid_is_valid(text.data(), text.size())) bson_oid_init_from_string(&oid, text.c_str());
  BSON_APPEND_OID(document.get(), key, &oid);
}

/// Products: kBadValue if it is not one of the shop's.
Result<Product> ProductOf(const bson_t& document);

/// Refused::kUnknownProduct.
Result<Product> FindProduct(Reads& reads, const std::string& product_id);

/// Those of the ids that there are.
Result<std::map<std::string, Product>> FindProducts(Reads& reads, std::span<const std::string> ids);

/// The attributes as a document, or as fields "attrs.NAME" of a filter.
void AppendAttr(client::Bson& document, const char* key, const AttrValue& value);

Status CheckAttrs(const Attrs& attrs);

/// Where a session's cart is, and whether it was merged into a user's.
struct SessionCart {
  std::string cart_id;
  std::string merged_into;  // a user's Owner::Key(), or empty
};

Result<std::optional<SessionCart>> FindSession(Reads& reads, const std::string& session_id);

/// The owner's active cart that has not expired at `now_ms`, on one shard: by its owner, for a guest by cart_sessions.
Result<std::optional<Cart>> FindActiveCart(Reads& reads, const Owner& owner, int64_t now_ms);

/// The same; Refused::kUnknownCart if there is none, kForeignCart if it is not `cart_id` (unless that is empty).
Result<Cart> NeedActiveCart(Reads& reads, const Owner& owner, const std::string& cart_id, int64_t now_ms);

/// A cart that is not stored yet: it has no id.
Cart NewCart(const Owner& owner, int64_t now_ms);

/// Computes the totals of the lines. Refused::kInexactAmount.
Status SumUp(Cart& cart);

/// Inserts a cart without an id and gives it one, or changes the lines, status and times of an active one; a guest's
/// session points to it. A cart that has expired but is still there becomes `abandoned` beside a new one.
Status SaveCart(Transaction& transaction, Cart& cart);

/// Notes in the session that the guest's cart was merged.
Status MarkMerged(Transaction& transaction, const std::string& session_id, const Owner& user);

/// Stock: units of a product, taken and given back inside a transaction; a list of them names a product once and is
/// sorted by product.
struct Units {
  std::string product_id;
  int64_t qty = 0;
};

/// The units of each product, sums of lines, sorted by product: transactions that want the same products ask for them
/// in the same order, so that they cannot wait for each other in a cycle.
std::vector<Units> UnitsOf(std::span<const OrderLine> lines);

/// OK, or Refused::kOutOfStock with every product of which the zone has less, as the transaction sees it.
Status CheckUnits(Transaction& transaction, const std::string& geo_zone, std::span<const Units> units);

/// Sells units that CheckUnits() found in the same transaction.
Status TakeUnits(Transaction& transaction, const std::string& geo_zone, std::span<const Units> units, int64_t now_ms);

/// Gives them back; a zone that no longer exists is created again. Units of a deleted product are dropped.
Status ReturnUnits(Transaction& transaction, const std::string& geo_zone, std::span<const Units> units, int64_t now_ms);

/// Orders: kBadValue if it is not one of the shop's.
Result<Order> OrderOf(const bson_t& document);

void AppendOrder(const Order& order, client::Bson& document);

/// The claim of its order_id in order_ids.
void AppendOrderClaim(const Order& order, client::Bson& document);

/// Filter of one order on the shard of its user.
void AppendOrderFilter(const Order& order, client::Bson& filter);

/// By order_id, through order_ids: two reads, each of one shard. Refused::kUnknownOrder, also if it is not `user_id`'s
/// (unless that is empty).
Result<Order> FindOrder(Reads& reads, const std::string& order_id, const std::string& user_id);

}  // namespace braid::shop
