// MongoDB's hash of a value: what hashed indexes and hashed shard keys store (E2, wire.md 4.1).
#pragma once

#include <cstdint>

#include "engine/bson/value.h"

namespace braid::bson {

/// First 64 bits of MD5 over seed 0 and the canonical form of the value; missing hashes as null.
int64_t MongoHash(const Value& value);

}  // namespace braid::bson
