// The contents of another shop's invoices: lines are grouped into invoices as they come, products are derived from
// them, and invoices become orders of the shop, stored once, however often they come.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "braid/clients.h"
#include "services/shop/money.h"

namespace braid::shop {

/// One line of an invoice.
struct InvoiceLine {
  uint64_t line = 0;  ///< where it stands in its file
  std::string invoice;
  std::string stock_code;
  std::string description;  ///< may be empty
  int64_t quantity = 0;
  int64_t date_ms = 0;
  Money price;
  std::string customer;  ///< empty: a guest
  std::string country;
};

/// Cancellations have a number that begins with C.
bool IsCancellation(const InvoiceLine& line);

/// Why the line cannot be part of an order, whatever invoice it is in; empty if it can.
std::string FaultOf(const InvoiceLine& line);

struct Invoice {
  struct Item {
    std::string product_id;
    Money price;
    int64_t qty = 0;  // positive, in cancellations too
  };
  std::string number;
  std::string customer;
  std::string country;
  int64_t date_ms = 0;  // of the first line
  bool canceled = false;
  uint64_t first_line = 0;
  std::vector<Item> items;
};

/// The invoices whose lines are still coming. Lines of one invoice follow one another in the files, but for a few that
/// were written while others were: so an invoice is closed when kOpenMax others have had a line since its last one.
class OpenInvoices {
 public:
  static constexpr size_t kOpenMax = 64;

  /// Adds a line without a fault. kBadValue if it contradicts its invoice, or the invoice has too many lines.
  Status Add(InvoiceLine line);
  /// An invoice that is closed now; nothing if there is none.
  std::optional<Invoice> TakeClosed();
  /// One that is still open, the one that waits longest first; nothing if there is none.
  std::optional<Invoice> TakeAny();

 private:
  std::list<Invoice> invoices_;  // the last to have had a line is at the back
  std::unordered_map<std::string, std::list<Invoice>::iterator> by_number_;
};

/// Gathers the products that the lines mention. Name and price of a product are those of its last sale: a line with a
/// price and a positive quantity that is no cancellation; of lines of the same minute the later one. Other lines count
/// only as long as a product has no sale: it is named after what they call it, or else after its code.
class ImportedProducts {
 public:
  // Sales before all others, then by date.
  struct Rank {
    bool sale = false;
    int64_t date_ms = 0;
    friend auto operator<=>(const Rank&, const Rank&) = default;
  };
  struct Newest {
    std::string name;
    Rank named;
    Money price;
    Rank priced;
  };
  struct StoreOptions {
    std::string database;
    std::string currency;
  };

  void Note(const InvoiceLine& line);
  size_t size() const { return products_.size(); }

  /// Creates missing products, updates older ones, and forgets all; returns the number of both. A product that was
  /// changed later than its last sale here is left alone, and so is one of another currency.
  Result<uint64_t> Store(Clients& clients, const StoreOptions& options);

 private:
  std::unordered_map<std::string, Newest> products_;  // by stock code
};

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
