// A spec beside what the store has.
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

/// Drops what the store cannot have, and says so: shard keys without a sharded cluster, and on a MongoDB cluster the
/// `unique` of indexes that lack the shard key.
std::vector<Finding> Adapt(const StoreKind& kind, Wanted& wanted);

/// Every thing of the spec: as specified, missing or different. Pure: asks and changes nothing.
std::vector<Finding> Examine(const Wanted& wanted, const Actual& actual);

}  // namespace braid::schema
