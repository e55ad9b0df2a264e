// MongoDB's hash of a value, which hashed indexes and hashed shard keys store (E2).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/bson/value.h"

namespace braid::bson {

/// First 64 bits of MD5 over seed 0 and the canonical form of the value; missing hashes as null.
int64_t MongoHash(const Value& value);

/// The hashes of all values that compare equal to this one, and perhaps a few more. Usually that is one hash. Numbers
/// that are not 64-bit integers may have two: the double 3.5 hashes as 3, the equal decimal as 4. Nothing if there may
/// be too many to list, as for a document or array with such a number inside.
std::optional<std::vector<int64_t>> HashesOfEqual(const Value& value);

}  // namespace braid::bson
