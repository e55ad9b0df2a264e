#include "services/shop/import_invoices.h"

#include <algorithm>
#include <cctype>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "services/shop/checks.h"
#include "services/shop/collections.h"

namespace braid::shop {
namespace {

using client::Bson;

constexpr size_t kNumberBytesMax = 64;
constexpr size_t kInvoiceLinesMax = 10'000;  // an order is one document

bool IsInvoiceNumber(const std::string& text) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  return !text.empty() && text.size() <= kNumberBytesMax && std::all_of(text.begin(), text.end(), fits);
}

using Newest = ImportedProducts::Newest;
using StoreOptions = ImportedProducts::StoreOptions;
using Entries = std::span<const std::pair<const std::string, Newest>* const>;

constexpr size_t kProductsInRequest = 1000;

// The files have no categories. A code that begins with five digits is that of a physical product; POST, BANK CHARGES,
// vouchers and the like are not products.
const char* ImportedCategory(const std::string& code) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return code.size() >= 5 && std::all_of(code.begin(), code.begin() + 5, is_digit) ? "retail" : "service";
}

// Products that are stored and would not change.
Result<std::unordered_set<std::string>> FindSettled(mongoc_client_t* client, const StoreOptions& options,
                                                    Entries entries) {
  std::unordered_map<std::string_view, const Newest*> by_code;
  std::vector<std::string> codes;
  for (const auto* entry : entries) {
    by_code.emplace(entry->first, &entry->second);
    codes.push_back(entry->first);
  }
  Bson among;
  among.Texts("$in", codes);
  Bson filter;
  filter.Document("_id", among);
  Bson fields;
  fields.Integer("updated_at", 1).Integer("price", 1).Integer("currency", 1);
  Bson opts;
  opts.Document("projection", fields);
  const client::CollectionPtr collection = client::CollectionOf(client, options.database, kProducts);
  const client::CursorPtr cursor(mongoc_collection_find_with_opts(collection.get(), filter.get(), opts.get(), nullptr));
  std::unordered_set<std::string> settled;
  const bson_t* document = nullptr;
  while (mongoc_cursor_next(cursor.get(), &document)) {
    const std::string_view code = client::TextOf(document, "_id");
    const Newest& newest = *by_code.at(code);
    const Result<Money> price = Money::FromDocument(document, "price");
    const bool unpriced = price.ok() && *price == Money();
    const bool older = client::DateOf(document, "updated_at").value_or(0) < newest.priced.date_ms;
    const bool ours = client::TextOf(document, "currency") == options.currency;
    if (!newest.priced.sale || !ours || !(older || unpriced)) settled.emplace(code);
  }
  bson_error_t error{};
  if (mongoc_cursor_error(cursor.get(), &error)) return client::FromError(error);
  return settled;
}

// Of a sale: makes the product, or changes the stored one if it is older or has had no sale. Else only makes it.
bool AddUpsert(mongoc_bulk_operation_t* bulk, const StoreOptions& options, const std::string& code,
               const Newest& newest, bson_error_t* error) {
  Bson filter;
  filter.Text("_id", code);
  Bson content;
  content.Text("name", newest.name.empty() ? code : newest.name);
  bson_append_decimal128(content.get(), "price", -1, &newest.price.value());
  content.Date("updated_at", newest.priced.date_ms);
  Bson made;
  if (newest.priced.sale) {
    Bson before;
    before.Date("$lt", newest.priced.date_ms);
    Bson older;
    older.Document("updated_at", before);
    Bson unpriced;
    bson_append_decimal128(unpriced.get(), "price", -1, &Money().value());
    Bson either;
    either.Document("0", older).Document("1", unpriced);
    filter.Text("currency", options.currency).Array("$or", either);
  } else {
    bson_concat(made.get(), content.get());
    made.Text("currency", options.currency);
  }
  made.Text("category", ImportedCategory(code)).Array("stock_by_geo", Bson()).Document("attrs", Bson());
  Bson change;
  if (newest.priced.sale) change.Document("$set", content);
  change.Document("$setOnInsert", made);
  Bson opts;
  opts.Bool("upsert", true);
  return mongoc_bulk_operation_update_one_with_opts(bulk, filter.get(), change.get(), opts.get(), error);
}

// A duplicate was created or changed meanwhile, by another import or by the shop, and is not older than this one.
bool OnlyDuplicates(const bson_t* reply) {
  bson_iter_t errors;
  bson_iter_t list;
  if (!bson_iter_init_find(&errors, reply, "writeErrors") || !bson_iter_recurse(&errors, &list)) return false;
  bool any = false;
  while (bson_iter_next(&list)) {
    bson_iter_t one;
    if (!bson_iter_recurse(&list, &one) || !bson_iter_find(&one, "code")) return false;
    if (bson_iter_as_int64(&one) != static_cast<int64_t>(Code::kDuplicateKey)) return false;
    any = true;
  }
  return any;
}

Result<uint64_t> StoreSome(mongoc_client_t* client, const StoreOptions& options, Entries entries) {
  BRAID_TRY(const std::unordered_set<std::string> settled, FindSettled(client, options, entries));
  if (settled.size() == entries.size()) return uint64_t{0};
  Bson opts;
  opts.Bool("ordered", false);
  const client::WriteConcernPtr durable(mongoc_write_concern_new());
  mongoc_write_concern_set_w(durable.get(), MONGOC_WRITE_CONCERN_W_MAJORITY);
  mongoc_write_concern_append(durable.get(), opts.get());
  const client::CollectionPtr collection = client::CollectionOf(client, options.database, kProducts);
  const client::BulkPtr bulk(mongoc_collection_create_bulk_operation_with_opts(collection.get(), opts.get()));
  bson_error_t error{};
  for (const auto* entry : entries) {
    if (settled.contains(entry->first)) continue;
    if (!AddUpsert(bulk.get(), options, entry->first, entry->second, &error)) return client::FromError(error);
  }
  bson_t reply;
  const bool ok = mongoc_bulk_operation_execute(bulk.get(), &reply, &error) != 0;
  const Status status = ok || OnlyDuplicates(&reply) ? Status() : client::FromError(error);
  const int64_t stored = client::IntegerOf(&reply, "nUpserted") + client::IntegerOf(&reply, "nModified");
  bson_destroy(&reply);
  if (!status.ok()) return status;
  return static_cast<uint64_t>(stored);
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
    return StrCat("Quantity ", line.quantity,
                  " on an invoice that is not a cancellation: a correction of stock, not a sale");
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

void ImportedProducts::Note(const InvoiceLine& line) {
  const Rank rank{.sale = !IsCancellation(line) && line.quantity > 0 && Money() < line.price, .date_ms = line.date_ms};
  const auto [entry, first] = products_.try_emplace(line.stock_code);
  Newest& newest = entry->second;
  if (first || rank >= newest.priced) {
    newest.price = rank.sale ? line.price : Money();
    newest.priced = rank;
  }
  if (!line.description.empty() && (newest.name.empty() || rank >= newest.named)) {
    newest.name = line.description;
    newest.named = rank;
  }
}

Result<uint64_t> ImportedProducts::Store(Clients& clients, const StoreOptions& options) {
  std::vector<const std::pair<const std::string, Newest>*> entries;
  for (const auto& entry : products_) entries.push_back(&entry);
  const Client client = clients.Acquire();
  uint64_t stored = 0;
  for (size_t begin = 0; begin < entries.size(); begin += kProductsInRequest) {
    const size_t count = std::min(kProductsInRequest, entries.size() - begin);
    BRAID_TRY(const uint64_t some, StoreSome(client.get(), options, Entries(entries).subspan(begin, count)));
    stored += some;
  }
  products_.clear();
  return stored;
}

}  // namespace braid::shop
