#include "services/shop/import.h"

#include "base/strings.h"
#include "services/shop/checks.h"
#include "services/shop/collections.h"
#include "services/shop/import_invoices.h"

namespace braid::shop {
namespace {

constexpr size_t kProductsHeldMax = 100'000;

}  // namespace

Result<std::unique_ptr<Importer>> Importer::Open(Clients& clients, const ImportOptions& options) {
  if (options.batch_orders_max < 1 || options.batch_orders_max > 1000) {
    return Status(Code::kBadValue, StrCat("a batch has 1 to 1000 orders, not ", options.batch_orders_max));
  }
  BRAID_CHECK_OK(EnsureCollections(clients, options.database));
  return std::unique_ptr<Importer>(new Importer(clients, options));
}

Status Importer::Add(InvoiceLine line) {
  ++counts_.rows;
  if (CheckId("StockCode", line.stock_code).ok()) products_.Note(line);
  const uint64_t at = line.line;
  std::string fault = FaultOf(line);
  if (fault.empty()) fault = open_.Add(std::move(line)).message();
  if (!fault.empty()) {
    RefuseLines(at, 1, fault);
    return {};
  }
  for (std::optional<Invoice> closed = open_.TakeClosed(); closed; closed = open_.TakeClosed()) {
    batch_.push_back(*std::move(closed));
  }
  return batch_.size() < options_.batch_orders_max ? Status() : StoreBatch();
}

void Importer::RefuseRow(uint64_t line, std::string_view reason) {
  ++counts_.rows;
  RefuseLines(line, 1, reason);
}

void Importer::RefuseLines(uint64_t line, size_t lines, std::string_view reason) {
  counts_.refused += lines;
  if (options_.on_refused) options_.on_refused(file_, line, reason);
}

Status Importer::EndFile(bool complete) {
  for (std::optional<Invoice> open = open_.TakeAny(); open; open = open_.TakeAny()) {
    if (!complete) continue;
    batch_.push_back(*std::move(open));
    if (batch_.size() >= options_.batch_orders_max) BRAID_CHECK_OK(StoreBatch());
  }
  BRAID_CHECK_OK(StoreBatch());
  return products_.size() < kProductsHeldMax ? Status() : StoreProducts();
}

Status Importer::Finish() { return StoreProducts(); }

Status Importer::StoreBatch() {
  if (batch_.empty()) return {};
  BRAID_TRY(const std::vector<StoredInvoice> outcomes,
            StoreOrders(clients_, {.database = options_.database, .currency = options_.currency, .stop = options_.stop},
                        batch_));
  for (size_t i = 0; i < batch_.size(); ++i) {
    const Invoice& invoice = batch_[i];
    switch (outcomes[i].outcome) {
      case StoredInvoice::Outcome::kStored:
        ++counts_.orders;
        counts_.canceled += invoice.canceled ? 1 : 0;
        counts_.guests += invoice.customer.empty() ? 1 : 0;
        break;
      case StoredInvoice::Outcome::kDuplicate: ++counts_.duplicates; break;
      case StoredInvoice::Outcome::kRefused:
        RefuseLines(invoice.first_line, invoice.items.size(), outcomes[i].reason);
        break;
    }
  }
  batch_.clear();
  return {};
}

Status Importer::StoreProducts() {
  BRAID_TRY(const uint64_t stored,
            products_.Store(clients_, {.database = options_.database, .currency = options_.currency}));
  counts_.products += stored;
  return {};
}

}  // namespace braid::shop
