// The products that invoices tell of: their newest name and price.
#pragma once

#include <string>
#include <unordered_map>

#include "braid/clients.h"
#include "services/shop/import_invoices.h"

namespace braid::shop {

/// Gathers what the lines say about products. Name and price of a product are those of its last sale: a line with a
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

  /// Creates what is missing and brings up to date what is older, and forgets all; the number of both. A product that
  /// was changed later than its last sale here is left alone, and so is one of another currency.
  Result<uint64_t> Store(Clients& clients, const StoreOptions& options);

 private:
  std::unordered_map<std::string, Newest> products_;  // by stock code
};

}  // namespace braid::shop
