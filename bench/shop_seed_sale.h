// The flash sale as the original design would run it, for comparison with the service's.
#pragma once

#include <string>

#include "braid/clients.h"
#include "client/handles.h"

namespace braid::bench {

/// Sells one unit per buyer of one product: finds its stock, decides here, and writes without a condition, durably.
/// Two sellers that read the same stock both sell. One thread.
class SeedSeller {
 public:
  /// `increments`: writes the stock by $inc; otherwise by $set of the expected rest.
  SeedSeller(Clients& clients, const std::string& database, bool increments);
  /// Creates the product, with `units` units, in collections of its own that are sharded as the design says.
  static Status Prepare(Clients& clients, const std::string& database, int64_t units);

  /// False: nothing is left.
  Result<bool> Buy(uint64_t buyer);
  /// The two steps of Buy(), between which others may do the same.
  Result<int64_t> ReadStock();
  Status SellUnit(uint64_t buyer, int64_t seen);
  Result<int64_t> CountOrders();

 private:
  Status WriteStock(int64_t seen);
  Status InsertOrder(uint64_t buyer);

  Client client_;
  client::CollectionPtr products_;
  client::CollectionPtr orders_;
  const bool increments_;
};

}  // namespace braid::bench
