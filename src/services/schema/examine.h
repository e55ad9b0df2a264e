// Compares a spec with the state of a store, and documents field by field.
#pragma once

#include <mongoc/mongoc.h>

#include <string>
#include <vector>

#include "services/schema/collection.h"
#include "services/schema/schema.h"

namespace braid::schema {

/// Fields of findings.
inline constexpr char kCollectionField[] = "collection";
inline constexpr char kValidatorField[] = "validator";
inline constexpr char kShardKeyField[] = "shard_key";
std::string IndexField(const std::string& index_name);

/// Removes from the spec, with a finding for each, what the store does not support: shard keys without a sharded
/// cluster, and on a MongoDB cluster the `unique` of indexes without the shard key.
std::vector<Finding> Adapt(const StoreKind& kind, Wanted& wanted);

/// A finding for each item of the spec: as specified, missing or different. Does not access the store.
std::vector<Finding> Examine(const Wanted& wanted, const Actual& actual);

struct FieldDifference {
  std::string path;      // with dots
  std::string expected;  // JSON; empty: there is no such field
  std::string found;
};

/// Compares by meaning: the order of fields does not count, nor whether a number is stored as int32, int64 or double,
/// nor the order of the keywords' lists that are sets (required, enum, bsonType, type). Paths begin with `path`.
std::vector<FieldDifference> FindDifferences(const bson_t& expected, const bson_t& found, const std::string& path);

/// Equal with regard to the order of the fields, as it counts in the keys of an index or a shard key.
bool SameKeys(const bson_t& a, const bson_t& b);

/// A whole document, or one value of it, as relaxed Extended JSON.
std::string JsonOf(const bson_t& document);
std::string JsonOf(const bson_iter_t& value);

}  // namespace braid::schema
