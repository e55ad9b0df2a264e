// Orders as documents, and where they are found.
#pragma once

#include "client/handles.h"
#include "services/shop/documents.h"
#include "services/shop/shop.h"

namespace braid::shop {

/// kBadValue if it is not one of the shop's.
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
