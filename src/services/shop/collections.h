// The shop's collections (B1, B3, B4): their names, and their specification for any store.
#pragma once

#include <span>
#include <string>

#include "services/schema/schema.h"

namespace braid::shop {

/// Orders, on the shard of their user (B3). A guest's user_id is `guest:{session_id}`, so that the shard key is never
/// null.
inline constexpr char kOrders[] = "orders";
/// {_id: order_id, user_id, order: the order's _id}: claims each order_id, and finds its order on one shard. The
/// idempotency keys of checkouts are claimed there too, as {_id: "key:…", user_id, order, …}.
inline constexpr char kOrderIds[] = "order_ids";
/// Products, on the shard of their _id.
inline constexpr char kProducts[] = "products";
/// Carts, on the shard of their `owner`: `u:{user_id}` or `g:{session_id}`.
inline constexpr char kCarts[] = "carts";
/// {_id: session_id, session_id, cart_id, expires_at, …}: finds the cart of a guest on one shard.
inline constexpr char kCartSessions[] = "cart_sessions";

/// The specification of the collections: validators, indexes and shard keys.
std::span<const schema::CollectionSpec> Collections();

/// Creates what is missing. Collections that are there but differ are left as they are: `braid init shop --diff` shows
/// them. Caches nothing: each call asks the store.
Status EnsureCollections(Clients& clients, const std::string& database);

}  // namespace braid::shop
