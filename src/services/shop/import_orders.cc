// Invoices as orders of the shop.
#include "services/shop/import_invoices.h"

#include <unordered_map>

#include "base/assert.h"
#include "base/strings.h"
#include "braid/transaction.h"
#include "client/fields.h"
#include "client/handles.h"
#include "services/shop/collections.h"
#include "services/shop/documents.h"

namespace braid::shop {
namespace {

using client::Bson;
using client::BsonPtr;
using Outcome = StoredInvoice::Outcome;

Result<Money> TotalOf(const Invoice& invoice) {
  Money total;
  for (const Invoice::Item& item : invoice.items) {
    BRAID_TRY(const Money amount, item.price.Times(item.qty));
    BRAID_TRY(total, total.Plus(amount));
  }
  return total;
}

// An order that is made once and may be inserted several times, as its transaction runs again.
struct PreparedOrder {
  std::string order_id;
  std::string user_id;
  Money total;
  BsonPtr order{nullptr};
  BsonPtr claim{nullptr};
};

PreparedOrder PrepareOrder(const Invoice& invoice, const Money& total, const std::string& currency) {
  Order order{.id = NewObjectId(),
              .order_id = ImportedOrderId(invoice),
              .user_id = ImportedUserId(invoice),
              .created_at = invoice.date_ms,
              .status = invoice.canceled ? "canceled" : "delivered",
              .geo_zone = invoice.country,
              .total_amount = total,
              .currency = currency};
  for (const Invoice::Item& item : invoice.items) {
    order.items.push_back({.product_id = item.product_id, .price = item.price, .qty = item.qty});
  }
  Bson document;
  AppendOrder(order, document);
  Bson claim;
  AppendOrderClaim(order, claim);
  return {.order_id = order.order_id,
          .user_id = order.user_id,
          .total = total,
          .order = BsonPtr(bson_copy(document.get())),
          .claim = BsonPtr(bson_copy(claim.get()))};
}

size_t ItemsIn(const bson_t& order) {
  bson_iter_t at;
  bson_iter_t items;
  size_t count = 0;
  if (!bson_iter_init_find(&at, &order, "items") || !bson_iter_recurse(&at, &items)) return 0;
  while (bson_iter_next(&items)) ++count;
  return count;
}

// The work of one transaction: finds out which orders are there, compares those, stores the others.
class OrderBatch {
 public:
  OrderBatch(std::span<const Invoice> invoices, std::string currency)
      : invoices_(invoices), currency_(std::move(currency)) {}

  /// Orders whose total cannot be told exactly are refused here.
  void PrepareAll() {
    for (const Invoice& invoice : invoices_) {
      Result<Money> total = TotalOf(invoice);
      prepared_.push_back(PrepareOrder(invoice, total.value_or(Money()), currency_));
      totals_.push_back(total.status());
    }
  }

  Status Run(Transaction& transaction) {
    BRAID_ASSERT(prepared_.size() == invoices_.size() && totals_.size() == invoices_.size());  // PrepareAll() first
    outcomes_.assign(invoices_.size(), {});
    BRAID_CHECK_OK(ReadClaims(transaction));
    BRAID_CHECK_OK(Compare(transaction));
    std::vector<const bson_t*> orders;
    std::vector<const bson_t*> claims;
    for (size_t i = 0; i < invoices_.size(); ++i) {
      if (!totals_[i].ok()) outcomes_[i] = {.outcome = Outcome::kRefused, .reason = std::string(totals_[i].message())};
      if (outcomes_[i].outcome != Outcome::kStored) continue;
      orders.push_back(prepared_[i].order.get());
      claims.push_back(prepared_[i].claim.get());
    }
    BRAID_ASSERT(orders.size() == claims.size());  // an order and its claim are stored together
    BRAID_CHECK_OK(transaction.Insert(kOrderIds, claims));
    return transaction.Insert(kOrders, orders);
  }

  std::vector<StoredInvoice> TakeOutcomes() { return std::move(outcomes_); }

 private:
  Status ReadClaims(Transaction& transaction) {
    std::vector<std::string> ids;
    std::unordered_map<std::string_view, size_t> by_id;
    for (size_t i = 0; i < prepared_.size(); ++i) {
      ids.push_back(prepared_[i].order_id);
      // Twice in one batch: an invoice that went on after it was closed.
      if (const auto [first, fresh] = by_id.emplace(prepared_[i].order_id, i); !fresh) {
        outcomes_[i] = Differing(i, prepared_[first->second].total, invoices_[first->second].items.size());
      }
    }
    claimed_.clear();
    return transaction.FindIds(kOrderIds, ids, [&](const bson_t& claim) -> Status {
      const size_t i = by_id.at(client::TextOf(&claim, "_id"));
      outcomes_[i] = {.outcome = Outcome::kRefused,
                      .reason = StrCat("order_id ", prepared_[i].order_id, " is claimed by user ",
                                       client::TextOf(&claim, "user_id"), ", and there is no such order of user ",
                                       prepared_[i].user_id)};
      claimed_.emplace(prepared_[i].order_id, i);
      return {};
    });
  }

  // What is claimed is a duplicate if its order is there and is the same.
  Status Compare(Transaction& transaction) {
    if (claimed_.empty()) return {};
    std::vector<std::string> ids;
    std::vector<std::string> users;
    for (const auto& [id, i] : claimed_) {
      ids.push_back(id);
      users.push_back(prepared_[i].user_id);
    }
    Bson by_id;
    by_id.Texts("$in", ids);
    Bson by_user;
    by_user.Texts("$in", users);
    Bson filter;
    filter.Document("user_id", by_user).Document("order_id", by_id);
    Bson fields;
    fields.Integer("order_id", 1).Integer("total_amount", 1).Integer("items.qty", 1);
    return transaction.Find(kOrders, filter.get(), {.projection = fields.get()}, [&](const bson_t& order) -> Status {
      const auto claim = claimed_.find(std::string(client::TextOf(&order, "order_id")));
      if (claim == claimed_.end()) return {};
      const size_t i = claim->second;
      BRAID_TRY(const Money total, Money::FromDocument(&order, "total_amount"));
      outcomes_[i] = Differing(i, total, ItemsIn(order));
      return {};
    });
  }

  // A duplicate of an order with this total and so many lines, or how it differs.
  StoredInvoice Differing(size_t i, const Money& total, size_t lines) const {
    BRAID_ASSERT(i < prepared_.size() && i < invoices_.size());
    if (total == prepared_[i].total && lines == invoices_[i].items.size()) return {.outcome = Outcome::kDuplicate};
    return {.outcome = Outcome::kRefused,
            .reason = StrCat("order ", prepared_[i].order_id, " is there with ", lines, " lines for ", total.ToString(),
                             ", here it has ", invoices_[i].items.size(), " for ", prepared_[i].total.ToString(),
                             "; it was left as it is")};
  }

  const std::span<const Invoice> invoices_;
  const std::string currency_;
  std::vector<PreparedOrder> prepared_;
  std::vector<Status> totals_;
  std::vector<StoredInvoice> outcomes_;
  std::unordered_map<std::string, size_t> claimed_;
};

// Whether the error is caused by one document and would recur.
bool IsOfADocument(const Status& status) {
  return status.code() == Code::kDuplicateKey || status.code() == Code::kDocumentValidationFailure ||
         status.code() == Code::kBSONObjectTooLarge;
}

}  // namespace

std::string ImportedOrderId(const Invoice& invoice) { return StrCat("RET-", invoice.number); }

std::string ImportedUserId(const Invoice& invoice) {
  return invoice.customer.empty() ? StrCat("guest:", ImportedOrderId(invoice)) : invoice.customer;
}

Result<std::vector<StoredInvoice>> StoreOrders(Clients& clients, const StoreOrdersOptions& options,
                                               std::span<const Invoice> invoices) {
  OrderBatch batch(invoices, options.currency);
  batch.PrepareAll();
  const Status status = RunTransaction(clients, {.database = options.database, .stop = options.stop},
                                       [&](Transaction& transaction) -> Status { return batch.Run(transaction); });
  if (status.ok()) return batch.TakeOutcomes();
  if (!IsOfADocument(status)) return status;
  if (invoices.size() == 1) {
    return std::vector<StoredInvoice>{{.outcome = Outcome::kRefused, .reason = std::string(status.message())}};
  }
  std::vector<StoredInvoice> all;
  for (size_t i = 0; i < invoices.size(); ++i) {
    BRAID_TRY(std::vector<StoredInvoice> one, StoreOrders(clients, options, invoices.subspan(i, 1)));
    all.push_back(std::move(one.front()));
  }
  return all;
}

}  // namespace braid::shop
