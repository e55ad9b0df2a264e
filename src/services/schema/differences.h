// Where two documents differ, field by field.
#pragma once

#include <mongoc/mongoc.h>

#include <string>
#include <vector>

namespace braid::schema {

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
