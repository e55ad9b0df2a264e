// The CSV files of the retail data: InvoiceNo, StockCode, Description, Quantity, InvoiceDate, UnitPrice, CustomerID,
// Country.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/transfer/reader.h"
#include "services/shop/import_invoices.h"

namespace braid::cli::shop {

/// One row: a line of an invoice, or why it is not one.
struct RetailRow {
  uint64_t line = 0;
  braid::shop::InvoiceLine content;
  Status error;
};

/// Reads one file, packed with gzip or not; "-" is standard input. Text is UTF-8 or else ISO 8859-1. Holds one row.
class RetailCsv {
 public:
  /// kBadValue if the file cannot be read or its first line does not name the columns.
  static Result<std::unique_ptr<RetailCsv>> Open(const std::string& path);

  /// Nothing at the end. A Status: the file cannot be read on.
  Result<std::optional<RetailRow>> Next();

 private:
  explicit RetailCsv(std::unique_ptr<transfer::Reader> reader) : reader_(std::move(reader)) {}
  Status ReadHeader();

  std::unique_ptr<transfer::Reader> reader_;
};

/// 2010-12-01 08:26:00, the same without seconds, or 12/1/2010 8:26; milliseconds since 1970.
std::optional<int64_t> ReadInvoiceDate(std::string_view text);

}  // namespace braid::cli::shop
