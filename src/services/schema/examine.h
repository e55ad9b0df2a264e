// Compares a spec with the state of a store.
#pragma once

#include "services/schema/actual.h"
#include "services/schema/schema.h"
#include "services/schema/wanted.h"

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

}  // namespace braid::schema
