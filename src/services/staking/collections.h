// What the collections of the staking statistics must look like.
#pragma once

#include <span>

#include "services/schema/spec.h"

namespace braid::staking {

/// As Tables::Open() creates them. Everything is found by _id, so that there are neither indexes nor shard keys.
std::span<const schema::CollectionSpec> Collections();

}  // namespace braid::staking
