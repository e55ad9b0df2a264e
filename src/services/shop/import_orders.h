// Invoices as orders of the shop: stored once, however often they come.
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "braid/clients.h"
#include "services/shop/import_invoices.h"

namespace braid::shop {

/// The result for an invoice.
struct StoredInvoice {
  enum class Outcome { kStored, kDuplicate, kRefused };
  Outcome outcome = Outcome::kStored;
  std::string reason;  // of a refusal
};

struct StoreOrdersOptions {
  std::string database;
  std::string currency;
  const std::atomic<bool>* stop = nullptr;
};

/// RET-{number}
std::string ImportedOrderId(const Invoice& invoice);
/// The customer, or of a guest an id that no other order has: guest:RET-{number}.
std::string ImportedUserId(const Invoice& invoice);

/// Stores the orders and their claims in one transaction and returns a result for each, in the given order. An order
/// that exists with other lines or another amount is refused and stays unchanged. If the store refuses a document, only
/// that order is lost: then each order is stored by itself. An error means that the store failed, and the result is not
/// known.
Result<std::vector<StoredInvoice>> StoreOrders(Clients& clients, const StoreOrdersOptions& options,
                                               std::span<const Invoice> invoices);

}  // namespace braid::shop
