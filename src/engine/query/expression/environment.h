// Environment: what one command's expressions share. Made once a command, alive as long as what was parsed with it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/bson/collation.h"
#include "engine/bson/value.h"

namespace braid::query {

struct Environment {
  std::shared_ptr<const bson::Collation> collation;                 // null: simple
  int64_t now_millis = 0;                                           // $$NOW
  uint64_t cluster_time = 0;                                        // $$CLUSTER_TIME, timestamp bits
  std::vector<std::pair<std::string, bson::OwnedValue>> variables;  // `let`; values may change between evaluations
};

}  // namespace braid::query
