// Index keys: the entries of a document in an index.
#pragma once

#include <string>
#include <vector>

#include "engine/catalog/index.h"

namespace braid::catalog {

/// One entry: the encoded values, and the same values as BSON ({"0": v0, …}, missing ones left out) for covering and
/// messages.
struct IndexEntry {
  std::string key;
  bson::Document values;
};

struct IndexEntries {
  std::vector<IndexEntry> entries;  // sorted by key, no two alike
  uint64_t multikey = 0;            // bit i: field i met an array in this document
};

/// The entries of `document` in the index: none if sparse or partial leave it out. Arrays give one entry per element
/// (the empty array one of undefined), missing fields null; kCannotIndexParallelArrays (171); Location(16766) for an
/// array under a hashed field.
Result<IndexEntries> MakeEntries(const IndexSpec& spec, bson::View document);

}  // namespace braid::catalog
