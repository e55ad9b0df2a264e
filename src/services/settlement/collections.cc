#include "services/settlement/collections.h"

#include <vector>

#include "services/settlement/service.h"

namespace braid::settlement {

std::span<const schema::CollectionSpec> Collections() {
  static const std::vector<schema::CollectionSpec> collections = [] {
    const std::string log = Options().log;
    return std::vector<schema::CollectionSpec>{
        {.name = log, .indexes = {{.keys = R"({"symbol_id": 1, "last_seq": 1})"}}},
        {.name = log + "_heads"},
        {.name = log + "_leases"},
        {.name = log + "_repairs"},
        {.name = log + "_tree"},
    };
  }();
  return collections;
}

}  // namespace braid::settlement
