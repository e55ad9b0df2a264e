#include "services/shop/import_invoices.h"

#include <algorithm>
#include <cctype>

#include "base/strings.h"
#include "services/shop/checks.h"

namespace braid::shop {
namespace {

constexpr size_t kNumberBytesMax = 64;
constexpr size_t kInvoiceLinesMax = 10'000;  // an order is one document

bool IsInvoiceNumber(const std::string& text) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  return !text.empty() && text.size() <= kNumberBytesMax && std::all_of(text.begin(), text.end(), fits);
}

}  // namespace

bool IsCancellation(const InvoiceLine& line) { return line.invoice.starts_with('C') || line.invoice.starts_with('c'); }

std::string FaultOf(const InvoiceLine& line) {
  if (!IsInvoiceNumber(line.invoice)) {
    return StrCat("InvoiceNo '", line.invoice, "' is not 1 to ", kNumberBytesMax, " letters and digits");
  }
  for (const Status& status : {CheckId("StockCode", line.stock_code), CheckId("Country", line.country),
                               CheckOptionalId("CustomerID", line.customer)}) {
    if (!status.ok()) return std::string(status.message());
  }
  if (line.quantity == 0) return "Quantity is 0";
  if (IsCancellation(line) && line.quantity > 0) {
    return StrCat("Quantity ", line.quantity, " on a cancellation, where it should be negative");
  }
  if (!IsCancellation(line) && line.quantity < 0) {
    return StrCat("Quantity ", line.quantity, " on an invoice that is no cancellation: a correction of stock, no sale");
  }
  return {};
}

Status OpenInvoices::Add(InvoiceLine line) {
  auto found = by_number_.find(line.invoice);
  if (found == by_number_.end()) {
    invoices_.push_back(Invoice{.number = line.invoice,
                                .customer = std::move(line.customer),
                                .country = std::move(line.country),
                                .date_ms = line.date_ms,
                                .canceled = IsCancellation(line),
                                .first_line = line.line});
    found = by_number_.emplace(std::move(line.invoice), std::prev(invoices_.end())).first;
  } else {
    const Invoice& invoice = *found->second;
    if (line.customer != invoice.customer || line.country != invoice.country) {
      return Status(Code::kBadValue,
                    StrCat("invoice ", invoice.number, " is of customer '", invoice.customer, "' in ", invoice.country,
                           " since line ", invoice.first_line, ", not of '", line.customer, "' in ", line.country));
    }
    if (invoice.items.size() >= kInvoiceLinesMax) {
      return Status(Code::kBadValue, StrCat("invoice ", invoice.number, " has more than ", kInvoiceLinesMax, " lines"));
    }
    invoices_.splice(invoices_.end(), invoices_, found->second);
  }
  found->second->items.push_back({.product_id = std::move(line.stock_code),
                                  .price = line.price,
                                  .qty = line.quantity < 0 ? -line.quantity : line.quantity});
  return {};
}

std::optional<Invoice> OpenInvoices::TakeClosed() {
  return invoices_.size() > kOpenMax ? TakeAny() : std::optional<Invoice>();
}

std::optional<Invoice> OpenInvoices::TakeAny() {
  if (invoices_.empty()) return std::nullopt;
  std::optional<Invoice> oldest = std::move(invoices_.front());
  by_number_.erase(oldest->number);
  invoices_.pop_front();
  return oldest;
}

}  // namespace braid::shop
