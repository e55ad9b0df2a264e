// What a collection must look like, as plain data: the tables of the services are made of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "braid/clients.h"

namespace braid::schema {

/// An index. Documents are JSON, as they would be typed in a shell; an empty text means none.
struct IndexSpec {
  std::string keys;  // {"user_id": 1, "created_at": -1}
  bool unique = false;
  bool sparse = false;
  std::optional<int64_t> expire_after_seconds = {};  // TTL
  std::string partial_filter = {};                   // {"status": "active"}
  std::string name = {};                             // empty: the one that drivers give, user_id_1_created_at_-1
};

/// A collection.
struct CollectionSpec {
  std::string name;
  std::string validator = {};  // {"$jsonSchema": {…}}; none also means that there must be none
  std::vector<IndexSpec> indexes = {};
  /// {"user_id": "hashed"}; none leaves the choice to the operator. Its index belongs into `indexes`, because a
  /// collection that has documents can only be sharded when that index is there.
  std::string shard_key = {};
};

}  // namespace braid::schema
