// Imports the invoices of another shop: each invoice becomes an order, each stock code a product. Safe to run again.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "braid/clients.h"
#include "services/shop/import_invoices.h"

namespace braid::shop {

struct ImportOptions {
  std::string database = "shop";
  std::string currency = "GBP";
  /// Orders in one transaction. Default 200, 1..1000.
  size_t batch_orders_max = 200;
  /// Ends the retries of a transaction when it becomes true; may be null.
  const std::atomic<bool>* stop = nullptr;
  /// Called for each refused line with the file, the line number and the reason.
  std::function<void(std::string_view file, uint64_t line, std::string_view reason)> on_refused;
};

/// Atomic, so that a progress line can read them from another thread.
struct ImportCounts {
  std::atomic<uint64_t> rows{0};        ///< lines given
  std::atomic<uint64_t> orders{0};      ///< stored now, canceled ones and guests' among them
  std::atomic<uint64_t> canceled{0};    ///< of these, canceled
  std::atomic<uint64_t> guests{0};      ///< of these, of guests
  std::atomic<uint64_t> products{0};    ///< created or brought up to date
  std::atomic<uint64_t> refused{0};     ///< lines that are in no order
  std::atomic<uint64_t> duplicates{0};  ///< invoices that had been stored before, line for line
};

/// Groups lines into orders and stores them. An order `RET-{invoice}` and the claim of its order_id are stored in one
/// transaction, so after a kill at any point the same files given again complete the work, and what is there already is
/// a duplicate. Memory is bounded by the open invoices (import_invoices.h), one batch and the number of products.
///
/// Lines whose invoice number begins with C are cancellations: their quantities are negative, and they become an order
/// of status `canceled` with positive ones. Other orders are `delivered`. One thread at a time, counts() any.
class Importer {
 public:
  /// Creates the shop's collections if they are missing.
  static Result<std::unique_ptr<Importer>> Open(Clients& clients, const ImportOptions& options);

  /// Sets the file that the following lines come from.
  void BeginFile(std::string name) { file_ = std::move(name); }
  /// A line that cannot be in an order is refused, which is not an error here: every error is one of the store.
  Status Add(InvoiceLine line);
  /// A line that could not even be read.
  void RefuseRow(uint64_t line, std::string_view reason);
  /// Stores the orders that are still open. If the file was not read to its end they may lack lines, so they are
  /// forgotten.
  Status EndFile(bool complete);
  /// Stores the products. To be called at the end of everything.
  Status Finish();

  const ImportCounts& counts() const { return counts_; }

 private:
  Importer(Clients& clients, const ImportOptions& options) : clients_(clients), options_(options) {}
  void RefuseLines(uint64_t line, size_t lines, std::string_view reason);
  Status StoreBatch();
  Status StoreProducts();

  Clients& clients_;
  const ImportOptions options_;
  std::string file_;
  OpenInvoices open_;
  ImportedProducts products_;
  std::vector<Invoice> batch_;
  ImportCounts counts_;
};

}  // namespace braid::shop
