// Field paths: how "a.b.0" leads through documents and arrays. Shared by the matcher, sort keys and index keys.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "engine/bson/value.h"

namespace braid::query {

/// The value at a dotted path without entering arrays except by number: what _id-like lookups and upserts use. Missing if none.
bson::Value Lookup(bson::View document, std::string_view path);

/// True if the path component is a plain array index: digits without a leading zero.
bool IsArrayIndex(std::string_view component);

}  // namespace braid::query
