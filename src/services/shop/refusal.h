// Refusal: why the storefront refused an operation. A refused operation has changed nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/status.h"

namespace braid::shop {

enum class Refused {
  kBadRequest,           ///< a field is missing, unknown, too long or of the wrong type
  kBadQuantity,          ///< below 1, or above what a line or a stock may hold
  kBadPrice,             ///< not a decimal of at most 34 digits, or below zero
  kInexactAmount,        ///< a sum would have more than 34 digits
  kCurrencyMismatch,     ///< the lines of one cart have one currency
  kUnknownProduct,       ///< no product has this id
  kUnknownCart,          ///< the owner has no active cart
  kUnknownOrder,         ///< no order has this id, or it is another user's
  kNotInCart,            ///< the cart has no line of this product
  kForeignCart,          ///< the cart belongs to another owner
  kEmptyCart,            ///< checkout of a cart without lines
  kCartFull,             ///< the cart has as many lines as it may have
  kOutOfStock,           ///< `lines` names every line that is short
  kNotReserved,          ///< release or commit of more than is reserved; `lines` names it
  kForbiddenTransition,  ///< the order's status does not lead to the one asked for
  kConflict,             ///< the idempotency key was used for another owner or geo zone
};

/// "out_of_stock": what JSON and docs/shop.md call it.
std::string_view NameOf(Refused code);

/// A product with less stock than was wanted.
struct ShortLine {
  std::string product_id;
  int64_t wanted = 0;
  int64_t available = 0;
  bool operator==(const ShortLine&) const = default;
};

struct Refusal {
  Refused code = Refused::kBadRequest;
  std::string message;
  std::vector<ShortLine> lines;
};

/// A refusal travels as a Status, so that it passes through Result<T> and ends a transaction.
Status Refuse(Refused code, std::string message);
Status Refuse(const Refusal& refusal);

/// The refusal that the status carries; nothing if it is an error of the store.
std::optional<Refusal> RefusalOf(const Status& status);

}  // namespace braid::shop
