// Changes of a cart's lines. Each reads the cart, changes it in memory and writes it back in one transaction: of two
// that do so side by side, one runs again on what the other has left.
#include <algorithm>

#include "base/strings.h"
#include "services/shop/cart.h"
#include "services/shop/checks.h"
#include "services/shop/product.h"

namespace braid::shop {
namespace {

Status CheckCartRequest(const CartRequest& request) {
  BRAID_CHECK_OK(CheckOwner(request.owner));
  return CheckOptionalId("cart_id", request.cart_id);
}

Status CheckLineRequest(const CartRequest& request) {
  BRAID_CHECK_OK(CheckCartRequest(request));
  return CheckId("product_id", request.product_id);
}

auto LineOf(Cart& cart, const std::string& product_id) {
  return std::find_if(cart.lines.begin(), cart.lines.end(),
                      [&](const CartLine& line) { return line.product_id == product_id; });
}

Status NotInCart(const CartRequest& request) {
  return Refuse(Refused::kNotInCart, StrCat("the cart has no line of ", request.product_id));
}

// The line keeps the price that it was made with.
Status AddLine(Cart& cart, const Product& product, int64_t qty, const ShopOptions& options) {
  if (!cart.lines.empty() && cart.currency != product.currency) {
    return Refuse(Refused::kCurrencyMismatch,
                  StrCat(product.id, " is sold in ", product.currency, ", the cart is in ", cart.currency));
  }
  const auto line = LineOf(cart, product.id);
  if (line != cart.lines.end()) {
    line->qty += qty;
    return CheckQuantity(line->qty, options.line_qty_max);
  }
  if (cart.lines.size() >= options.cart_lines_max) {
    return Refuse(Refused::kCartFull, StrCat("a cart has ", options.cart_lines_max, " lines at most"));
  }
  cart.lines.push_back({.product_id = product.id,
                        .name = product.name,
                        .qty = qty,
                        .price = product.price,
                        .currency = product.currency});
  return {};
}

Status TouchAndSave(Transaction& transaction, const ShopOptions& options, int64_t now_ms, Cart& cart) {
  BRAID_CHECK_OK(SumUp(cart));
  cart.updated_at = now_ms;
  cart.expires_at = now_ms + options.cart_lifetime_ms;
  return SaveCart(transaction, cart);
}

}  // namespace

Result<Cart> Shop::AddToCart(const CartRequest& request) {
  BRAID_CHECK_OK(CheckLineRequest(request));
  BRAID_CHECK_OK(CheckQuantity(request.qty, options_.line_qty_max));
  Cart cart;
  BRAID_CHECK_OK(Change([&](Transaction& transaction) -> Status {
    const int64_t now = NowMillis();
    Reads reads(transaction);
    BRAID_TRY(const Product product, FindProduct(reads, request.product_id));
    if (request.cart_id.empty()) {
      BRAID_TRY(std::optional<Cart> found, FindActiveCart(reads, request.owner, now));
      cart = found ? *std::move(found) : NewCart(request.owner, now);
    } else {
      BRAID_TRY(cart, NeedActiveCart(reads, request.owner, request.cart_id, now));
    }
    BRAID_CHECK_OK(AddLine(cart, product, request.qty, options_));
    return TouchAndSave(transaction, options_, now, cart);
  }));
  return cart;
}

Result<Cart> Shop::SetQuantity(const CartRequest& request) {
  BRAID_CHECK_OK(CheckLineRequest(request));
  BRAID_CHECK_OK(CheckQuantity(request.qty, options_.line_qty_max));
  Cart cart;
  BRAID_CHECK_OK(Change([&](Transaction& transaction) -> Status {
    const int64_t now = NowMillis();
    Reads reads(transaction);
    BRAID_TRY(cart, NeedActiveCart(reads, request.owner, request.cart_id, now));
    const auto line = LineOf(cart, request.product_id);
    if (line == cart.lines.end()) return NotInCart(request);
    line->qty = request.qty;
    return TouchAndSave(transaction, options_, now, cart);
  }));
  return cart;
}

Result<Cart> Shop::RemoveFromCart(const CartRequest& request) {
  BRAID_CHECK_OK(CheckLineRequest(request));
  Cart cart;
  BRAID_CHECK_OK(Change([&](Transaction& transaction) -> Status {
    const int64_t now = NowMillis();
    Reads reads(transaction);
    BRAID_TRY(cart, NeedActiveCart(reads, request.owner, request.cart_id, now));
    const auto line = LineOf(cart, request.product_id);
    if (line == cart.lines.end()) return NotInCart(request);
    cart.lines.erase(line);
    return TouchAndSave(transaction, options_, now, cart);
  }));
  return cart;
}

Result<Cart> Shop::GetCart(const CartRequest& request) {
  BRAID_CHECK_OK(CheckCartRequest(request));
  const Client client = clients_.Acquire();
  Reads reads(client, options_.database);
  return NeedActiveCart(reads, request.owner, request.cart_id, NowMillis());
}

}  // namespace braid::shop
