// Holdings: the contents of a store in a few numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "braid/clients.h"

namespace braid::backup {

struct Holdings {
  struct Collection {
    std::string name;  // with its database
    int64_t documents = 0;
  };
  std::vector<Collection> collections;

  int64_t documents() const {
    int64_t sum = 0;
    for (const Collection& collection : collections) sum += collection.documents;
    return sum;
  }
};

/// Every collection and how many documents it has.
Result<Holdings> CountHoldings(Clients& clients);

}  // namespace braid::backup
