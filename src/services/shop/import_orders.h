// Invoices as orders of the shop: stored once, however often they come.
#pragma once

#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "braid/clients.h"
#include "services/shop/import_invoices.h"

namespace braid::shop {

/// What became of an invoice.
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

/// Stores the orders and their claims in one transaction; what each has become, in the order given. An order that is
/// there with other lines or another amount is refused and stays as it is. If the store refuses a document, it costs
/// only that one: then each order is stored by itself. An error: the store failed, and nothing is known.
Result<std::vector<StoredInvoice>> StoreOrders(Clients& clients, const StoreOrdersOptions& options,
                                               std::span<const Invoice> invoices);

}  // namespace braid::shop
