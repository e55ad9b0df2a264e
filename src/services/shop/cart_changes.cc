// Changes of a cart's lines, and the merge of a guest's cart into a user's. Each reads the cart, changes it in memory
// and writes it back in one transaction: of two that run concurrently, one is run again on the result of the other.
#include <algorithm>

#include "base/strings.h"
#include "services/shop/checks.h"
#include "services/shop/documents.h"

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

// The most units that a merged line may have, and the reason for that limit.
struct LineCap {
  int64_t most = 0;
  Refused reason = Refused::kOutOfStock;
};

int64_t StockFor(const Product& product, const std::string& geo_zone) {
  int64_t sum = 0;
  for (const ZoneStock& stock : product.stock_by_geo) {
    if (geo_zone.empty() || stock.geo_zone == geo_zone) sum += stock.qty;
  }
  return sum;
}

MergeNote NoteOf(const CartLine& line, int64_t wanted, int64_t kept, Refused reason) {
  return {.product_id = line.product_id,
          .wanted = wanted,
          .kept = kept,
          .reason = std::string(NameOf(reason)),
          .message = StrCat(kept, " of ", wanted, " units of ", line.product_id, " are in the cart: ", NameOf(reason))};
}

class CartMerger {
 public:
  CartMerger(const ShopOptions& options, const std::map<std::string, Product>& products, const std::string& geo_zone)
      : options_(options), products_(products), geo_zone_(geo_zone) {}

  Status Run(const Cart& guest, Merge& merge) {
    Cart& cart = merge.cart;
    if (!cart.lines.empty() && !guest.lines.empty() && cart.currency != guest.currency) {
      return Refuse(Refused::kCurrencyMismatch,
                    StrCat("the guest's cart is in ", guest.currency, ", the user's in ", cart.currency));
    }
    for (const CartLine& line : guest.lines) AddGuestLine(line, merge);
    return SumUp(cart);
  }

 private:
  LineCap CapOf(const CartLine& line) const {
    const auto product = products_.find(line.product_id);
    if (product == products_.end()) return {.most = 0, .reason = Refused::kUnknownProduct};
    const int64_t stock = StockFor(product->second, geo_zone_);
    if (options_.line_qty_max < stock) return {.most = options_.line_qty_max, .reason = Refused::kBadQuantity};
    return {.most = stock, .reason = Refused::kOutOfStock};
  }

  void AddGuestLine(const CartLine& line, Merge& merge) const {
    std::vector<CartLine>& lines = merge.cart.lines;
    const auto there = std::find_if(lines.begin(), lines.end(),
                                    [&](const CartLine& own) { return own.product_id == line.product_id; });
    const int64_t wanted = line.qty + (there == lines.end() ? 0 : there->qty);
    const LineCap cap = CapOf(line);
    const int64_t kept = std::min(wanted, cap.most);
    if (there == lines.end() && kept > 0 && lines.size() >= options_.cart_lines_max) {
      merge.notes.push_back(NoteOf(line, wanted, 0, Refused::kCartFull));
      return;
    }
    if (kept < wanted) merge.notes.push_back(NoteOf(line, wanted, kept, cap.reason));
    if (there == lines.end() && kept > 0) {
      lines.push_back(line);
      lines.back().qty = kept;
    } else if (there != lines.end() && kept > 0) {
      there->qty = kept;
    } else if (there != lines.end()) {
      lines.erase(there);
    }
  }

  const ShopOptions& options_;
  const std::map<std::string, Product>& products_;
  const std::string& geo_zone_;
};

// No active cart of the guest: merged before, ordered, expired or never there.
Result<Merge> MergedBefore(Reads& reads, const MergeRequest& request, const Owner& user, int64_t now_ms) {
  BRAID_TRY(const std::optional<SessionCart> session, FindSession(reads, request.session_id));
  if (!session || session->merged_into.empty()) {
    return Refuse(Refused::kUnknownCart, StrCat("session ", request.session_id, " has no active cart"));
  }
  if (session->merged_into != user.Key()) {
    return Refuse(Refused::kForeignCart, StrCat("the cart of session ", request.session_id, " went to another user"));
  }
  BRAID_TRY(std::optional<Cart> cart, FindActiveCart(reads, user, now_ms));
  return Merge{.cart = cart ? *std::move(cart) : NewCart(user, now_ms), .merged = false};
}

std::vector<std::string> ProductIdsOf(const Cart& cart) {
  std::vector<std::string> ids;
  for (const CartLine& line : cart.lines) ids.push_back(line.product_id);
  return ids;
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

// On login. One transaction: the user's cart gets the lines and the guest's becomes `abandoned`, or neither. A checkout
// of either cart that runs meanwhile writes the same document, so one of the two starts again and sees what the other
// did.
Result<Merge> Shop::MergeCarts(const MergeRequest& request) {
  const Owner user = Owner::User(request.user_id);
  BRAID_CHECK_OK(CheckId("session_id", request.session_id));
  BRAID_CHECK_OK(CheckOwner(user));
  BRAID_CHECK_OK(CheckOptionalId("geo_zone", request.geo_zone));
  Merge merge;
  BRAID_CHECK_OK(Change([&](Transaction& transaction) -> Status {
    const int64_t now = NowMillis();
    Reads reads(transaction);
    BRAID_TRY(std::optional<Cart> guest, FindActiveCart(reads, Owner::Guest(request.session_id), now));
    if (!guest) {
      BRAID_TRY(merge, MergedBefore(reads, request, user, now));
      return {};
    }
    BRAID_TRY(std::optional<Cart> own, FindActiveCart(reads, user, now));
    BRAID_TRY(const auto products, FindProducts(reads, ProductIdsOf(*guest)));
    merge = {.cart = own ? *std::move(own) : NewCart(user, now)};
    BRAID_CHECK_OK(CartMerger(options_, products, request.geo_zone).Run(*guest, merge));
    merge.cart.updated_at = now;
    merge.cart.expires_at = now + options_.cart_lifetime_ms;
    BRAID_CHECK_OK(SaveCart(transaction, merge.cart));
    guest->status = "abandoned";
    guest->updated_at = now;
    BRAID_CHECK_OK(SaveCart(transaction, *guest));
    return MarkMerged(transaction, request.session_id, user);
  }));
  return merge;
}

}  // namespace braid::shop
