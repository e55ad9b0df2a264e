// Specifications of collections as plain data, which each service has a table of. Apply makes the collections of a
// database match their specs; Compare reports where they differ.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
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

enum class State {
  kAsSpecified,
  kCreated,    // by this call
  kMissing,    // only from Compare()
  kDifferent,  // something else exists, or the store refused to create it; left alone
  kSkipped,    // the store does not support it, and the service works without it
};

/// One item of a collection's spec, and what was found.
struct Finding {
  State state;
  std::string collection;
  /// "collection", "validator", "indexes.NAME" or "shard_key"; for a difference the path of the field that differs,
  /// such as "validator.$jsonSchema.properties.qty.minimum" or "indexes.order_id_1.unique".
  std::string field;
  std::string expected = {};  // JSON; empty: nothing
  std::string found = {};     // JSON; empty: nothing
  std::string note = {};      // why it is skipped, or what the store said when it refused; may be empty
};

struct Report {
  std::vector<Finding> findings;  // in the order of the specs

  size_t Count(State state) const;
  /// True if everything is as specified.
  bool ok() const { return Count(State::kMissing) == 0 && Count(State::kDifferent) == 0; }
};

/// Creates missing collections, validators, indexes and shard keys. Existing ones that differ are reported and left
/// alone; a validator that existing documents break is reported and not created. Calling it again, or from several
/// processes at once, is safe: after a crash the next call creates the rest. Indexes that no spec names are left alone,
/// and reported only if they are unique or have a TTL, because these refuse or remove documents. Shard keys are skipped
/// on a MongoDB that is not a sharded cluster. On a MongoDB cluster an index that cannot be unique over the shards is
/// created without `unique`. An error means that the store failed, or that a spec is wrong.
Result<Report> Apply(Clients& clients, const std::string& database, std::span<const CollectionSpec> specs);

/// The same without changing anything.
Result<Report> Compare(Clients& clients, const std::string& database, std::span<const CollectionSpec> specs);

}  // namespace braid::schema
