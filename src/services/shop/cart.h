// Carts as documents: finding the active one of an owner, and saving it.
#pragma once

#include <optional>

#include "braid/transaction.h"
#include "services/shop/documents.h"
#include "services/shop/shop.h"

namespace braid::shop {

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

}  // namespace braid::shop
