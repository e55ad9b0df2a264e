// Carts as documents: finding the active one of an owner, and saving it.
#include "services/shop/documents.h"

#include "base/assert.h"
#include "base/strings.h"
#include "client/fields.h"
#include "services/shop/collections.h"

namespace braid::shop {
namespace {

using client::Bson;

constexpr const char* kActive = "active";

Result<std::vector<CartLine>> CartLinesOf(const bson_t& document) {
  std::vector<CartLine> lines;
  BRAID_CHECK_OK(ForEachElement(document, "items", [&](const bson_t& item) -> Status {
    CartLine line{.product_id = std::string(client::TextOf(&item, "product_id")),
                  .name = std::string(client::TextOf(&item, "name")),
                  .qty = client::IntegerOf(&item, "qty"),
                  .currency = std::string(client::TextOf(&item, "currency"))};
    BRAID_TRY(line.price, Money::FromDocument(&item, "price"));
    lines.push_back(std::move(line));
    return {};
  }));
  return lines;
}

Result<Cart> CartOf(const bson_t& document) {
  Cart cart;
  cart.id = ObjectIdOf(document, "_id");
  cart.owner = {.user_id = std::string(client::TextOf(&document, "user_id")),
                .session_id = std::string(client::TextOf(&document, "session_id"))};
  cart.status = client::TextOf(&document, "status");
  BRAID_TRY(cart.lines, CartLinesOf(document));
  cart.created_at = client::DateOf(&document, "created_at").value_or(0);
  cart.updated_at = client::DateOf(&document, "updated_at").value_or(0);
  cart.expires_at = client::DateOf(&document, "expires_at").value_or(0);
  BRAID_CHECK_OK(SumUp(cart));
  return cart;
}

void AppendCartState(const Cart& cart, Bson& fields) {
  Bson items;
  for (size_t i = 0; i < cart.lines.size(); ++i) {
    const CartLine& line = cart.lines[i];
    Bson item;
    item.Text("product_id", line.product_id).Text("name", line.name).Integer("qty", line.qty);
    BSON_APPEND_DECIMAL128(item.get(), "price", &line.price.value());
    item.Text("currency", line.currency);
    items.Document(StrCat(i).c_str(), item);
  }
  fields.Text("status", cart.status)
      .Array("items", items)
      .Date("updated_at", cart.updated_at)
      .Date("expires_at", cart.expires_at);
}

void AppendOwner(const Owner& owner, Bson& document) {
  BRAID_ASSERT(owner.user_id.empty() != owner.session_id.empty());  // CheckOwner() ensures it
  document.Text("owner", owner.Key());
  if (owner.user_id.empty()) {
    BSON_APPEND_NULL(document.get(), "user_id");
    document.Text("session_id", owner.session_id);
  } else {
    document.Text("user_id", owner.user_id);
    BSON_APPEND_NULL(document.get(), "session_id");
  }
}

Result<int64_t> UpdateOneIn(Transaction& transaction, const char* collection, const Bson& filter, const Bson& change,
                            bool upsert) {
  const Transaction::Update update{.filter = filter.get(), .change = change.get(), .upsert = upsert};
  BRAID_TRY(const Transaction::Matched matched, transaction.UpdateOnes(collection, {&update, 1}));
  return matched.matched;
}

// An expired cart is invisible, but still counts as the owner's active one.
Status AbandonExpired(Transaction& transaction, const Cart& cart) {
  Bson filter;
  filter.Text("owner", cart.owner.Key()).Text("status", kActive);
  Bson set;
  set.Text("status", "abandoned");
  Bson change;
  change.Document("$set", set);
  return UpdateOneIn(transaction, kCarts, filter, change, false).status();
}

Status InsertCart(Transaction& transaction, Cart& cart) {
  BRAID_ASSERT(cart.id.empty());
  BRAID_CHECK_OK(AbandonExpired(transaction, cart));
  cart.id = NewObjectId();
  Bson document;
  AppendObjectId(document, "_id", cart.id);
  AppendOwner(cart.owner, document);
  AppendCartState(cart, document);
  document.Date("created_at", cart.created_at);
  const bson_t* documents[] = {document.get()};
  return transaction.Insert(kCarts, documents);
}

Status UpdateCart(Transaction& transaction, const Cart& cart) {
  BRAID_ASSERT(!cart.id.empty());
  Bson filter;
  AppendObjectId(filter, "_id", cart.id);
  filter.Text("owner", cart.owner.Key()).Text("status", kActive);
  Bson set;
  AppendCartState(cart, set);
  Bson change;
  change.Document("$set", set);
  BRAID_TRY(const int64_t changed, UpdateOneIn(transaction, kCarts, filter, change, false));
  return changed == 1 ? Status() : Status(Code::kInternalError, "a cart changed inside a snapshot");
}

// The session points to its cart for as long as the cart lives.
Status PointSession(Transaction& transaction, const Cart& cart) {
  BRAID_ASSERT(!cart.id.empty() && cart.owner.user_id.empty());
  Bson filter;
  filter.Text("session_id", cart.owner.session_id);
  Bson set;
  AppendObjectId(set, "cart_id", cart.id);
  set.Date("expires_at", cart.expires_at);
  Bson unset;
  unset.Text("merged_into", "");
  Bson change;
  change.Document("$set", set).Document("$unset", unset);
  return UpdateOneIn(transaction, kCartSessions, filter, change, true).status();
}

}  // namespace

Result<std::optional<SessionCart>> FindSession(Reads& reads, const std::string& session_id) {
  Bson filter;
  filter.Text("session_id", session_id);
  BRAID_TRY(const client::BsonPtr document, reads.FindOne(kCartSessions, filter.get()));
  if (document == nullptr) return std::optional<SessionCart>();
  return std::optional(SessionCart{.cart_id = ObjectIdOf(*document, "cart_id"),
                                   .merged_into = std::string(client::TextOf(document.get(), "merged_into"))});
}

Result<std::optional<Cart>> FindActiveCart(Reads& reads, const Owner& owner, int64_t now_ms) {
  Bson filter;
  filter.Text("owner", owner.Key()).Text("status", kActive);
  if (owner.user_id.empty()) {
    BRAID_TRY(const std::optional<SessionCart> session, FindSession(reads, owner.session_id));
    if (!session) return std::optional<Cart>();
    AppendObjectId(filter, "_id", session->cart_id);
  }
  Bson alive;
  alive.Date("$gt", now_ms);
  filter.Document("expires_at", alive);
  BRAID_TRY(const client::BsonPtr document, reads.FindOne(kCarts, filter.get()));
  if (document == nullptr) return std::optional<Cart>();
  BRAID_TRY(Cart cart, CartOf(*document));
  return std::optional(std::move(cart));
}

Result<Cart> NeedActiveCart(Reads& reads, const Owner& owner, const std::string& cart_id, int64_t now_ms) {
  BRAID_TRY(std::optional<Cart> cart, FindActiveCart(reads, owner, now_ms));
  if (!cart) return Refuse(Refused::kUnknownCart, StrCat(owner.Key(), " has no active cart"));
  if (!cart_id.empty() && cart_id != cart->id) {
    return Refuse(Refused::kForeignCart, StrCat(cart_id, " is not the active cart of ", owner.Key()));
  }
  return *std::move(cart);
}

Cart NewCart(const Owner& owner, int64_t now_ms) {
  Cart cart;
  cart.owner = owner;
  cart.status = kActive;
  cart.created_at = now_ms;
  return cart;
}

Status SumUp(Cart& cart) {
  cart.total_amount = Money();
  cart.currency = cart.lines.empty() ? "" : cart.lines[0].currency;
  for (const CartLine& line : cart.lines) {
    BRAID_TRY(const Money amount, line.price.Times(line.qty));
    BRAID_TRY(cart.total_amount, cart.total_amount.Plus(amount));
  }
  return {};
}

Status SaveCart(Transaction& transaction, Cart& cart) {
  BRAID_CHECK_OK(cart.id.empty() ? InsertCart(transaction, cart) : UpdateCart(transaction, cart));
  return cart.owner.user_id.empty() && cart.status == kActive ? PointSession(transaction, cart) : Status();
}

Status MarkMerged(Transaction& transaction, const std::string& session_id, const Owner& user) {
  Bson filter;
  filter.Text("session_id", session_id);
  Bson set;
  set.Text("merged_into", user.Key());
  Bson change;
  change.Document("$set", set);
  return UpdateOneIn(transaction, kCartSessions, filter, change, false).status();
}

}  // namespace braid::shop
