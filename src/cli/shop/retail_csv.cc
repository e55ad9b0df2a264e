#include "cli/shop/retail_csv.h"

#include <charconv>

#include "base/strings.h"
#include "cli/transfer/date_layout.h"
#include "client/fields.h"

namespace braid::cli::shop {
namespace {

using braid::shop::InvoiceLine;
using braid::shop::Money;

// The names in the first line; some editions of the data have the second ones.
struct RetailColumn {
  const char* name;
  const char* other_name;
};
constexpr RetailColumn kRetailColumns[] = {
    {"InvoiceNo", "Invoice"},      {"StockCode", "StockCode"},     {"Description", "Description"},
    {"Quantity", "Quantity"},      {"InvoiceDate", "InvoiceDate"}, {"UnitPrice", "Price"},
    {"CustomerID", "Customer ID"}, {"Country", "Country"},
};
constexpr const char* kNotARetailFile =
    "its first line should be InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country";

std::string_view TrimmedField(const bson_t* row, const char* name) {
  std::string_view text = client::TextOf(row, name);
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\t')) text.remove_suffix(1);
  return text;
}

// "17850.0" is what a spreadsheet makes of 17850.
std::string_view WithoutFraction(std::string_view text) {
  if (text.ends_with(".0")) text.remove_suffix(2);
  return text;
}

Result<int64_t> ReadQuantity(std::string_view text) {
  constexpr int64_t kQuantityMax = 1'000'000'000;
  const std::string_view digits = WithoutFraction(text);
  int64_t quantity = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), quantity);
  if (error != std::errc() || end != digits.data() + digits.size() || quantity > kQuantityMax ||
      quantity < -kQuantityMax) {
    return Status(Code::kBadValue,
                  StrCat("Quantity '", text, "' is not an integer of at most ", kQuantityMax, " either way"));
  }
  return quantity;
}

Result<InvoiceLine> ReadLine(const bson_t* row) {
  for (const RetailColumn& column : kRetailColumns) {
    if (!bson_has_field(row, column.name)) return Status(Code::kBadValue, StrCat(column.name, " is missing"));
  }
  if (bson_has_field(row, "field8")) return Status(Code::kBadValue, "the row has more than 8 values");
  InvoiceLine line;
  line.invoice = WithoutFraction(TrimmedField(row, "InvoiceNo"));
  line.stock_code = TrimmedField(row, "StockCode");
  line.description = TrimmedField(row, "Description");
  BRAID_TRY(line.quantity, ReadQuantity(TrimmedField(row, "Quantity")));
  const std::string_view date = TrimmedField(row, "InvoiceDate");
  const std::optional<int64_t> date_ms = ReadInvoiceDate(date);
  if (!date_ms) return Status(Code::kBadValue, StrCat("InvoiceDate '", date, "' is not YYYY-MM-DD HH:MM:SS"));
  line.date_ms = *date_ms;
  const std::string_view price = TrimmedField(row, "UnitPrice");
  const Result<Money> money = Money::Parse(price);
  if (!money.ok()) return Status(Code::kBadValue, StrCat("UnitPrice '", price, "': ", money.error().message()));
  line.price = *money;
  line.customer = WithoutFraction(TrimmedField(row, "CustomerID"));
  line.country = TrimmedField(row, "Country");
  return line;
}

}  // namespace

std::optional<int64_t> ReadInvoiceDate(std::string_view text) {
  using Notation = transfer::DateLayout::Notation;
  static const std::vector<transfer::DateLayout> layouts = [] {
    std::vector<transfer::DateLayout> all;
    for (const char* layout : {"yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd HH:mm", "M/d/yyyy H:mm"}) {
      all.push_back(*transfer::DateLayout::Parse(layout, Notation::kMs));
    }
    return all;
  }();
  for (const transfer::DateLayout& layout : layouts) {
    if (const std::optional<int64_t> date_ms = layout.Read(text)) return date_ms;
  }
  return std::nullopt;
}

Result<std::unique_ptr<RetailCsv>> RetailCsv::Open(const std::string& path) {
  BRAID_TRY(std::unique_ptr<transfer::Input> input, transfer::Input::Open(path));
  transfer::TableOptions options{.typed = true, .latin1 = true};
  // The columns are given, so that the first line is a row like any other and can be looked at.
  for (const RetailColumn& column : kRetailColumns) options.fields.push_back(StrCat(column.name, ".string()"));
  BRAID_TRY(std::unique_ptr<transfer::Reader> reader, transfer::NewTableReader(std::move(input), options));
  std::unique_ptr<RetailCsv> csv(new RetailCsv(std::move(reader)));
  BRAID_CHECK_OK(csv->ReadHeader());
  return csv;
}

Status RetailCsv::ReadHeader() {
  BRAID_TRY(const std::optional<transfer::Item> header, reader_->Next());
  if (!header) return Status(Code::kBadValue, StrCat("the file is empty; ", kNotARetailFile));
  if (!header->error.ok()) return Status(Code::kBadValue, StrCat(header->error.message(), "; ", kNotARetailFile));
  for (const RetailColumn& column : kRetailColumns) {
    const std::string_view name = TrimmedField(header->document.get(), column.name);
    if (name != column.name && name != column.other_name) {
      return Status(Code::kBadValue, StrCat("'", name, "' stands where ", column.name, " should; ", kNotARetailFile));
    }
  }
  return {};
}

Result<std::optional<RetailRow>> RetailCsv::Next() {
  BRAID_TRY(const std::optional<transfer::Item> item, reader_->Next());
  if (!item) return std::optional<RetailRow>();
  RetailRow row{.line = item->line, .error = item->error};
  if (row.error.ok()) {
    Result<InvoiceLine> line = ReadLine(item->document.get());
    row.error = line.status();
    if (line.ok()) row.content = *std::move(line);
  }
  row.content.line = row.line;
  return std::optional<RetailRow>(std::move(row));
}

}  // namespace braid::cli::shop
