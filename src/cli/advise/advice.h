// Advice: the ratings of all candidates and their context; as a recommendation, for people (a table and prose) and for
// programs (one JSON object).
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "braid/clients.h"
#include "cli/advise/rating.h"

namespace braid::advise {

struct Place;

/// A unique index of the collection, as listIndexes has it.
struct UniqueIndex {
  std::string name;
  std::vector<std::string> fields;
};

struct Advice {
  std::string database;
  std::string collection;
  size_t shards = 4;
  uint64_t sampled = 0;
  uint64_t total = 0;
  std::string documents_from;   ///< "collection" or "file"
  std::string operations_from;  ///< "file", "server", or "none"
  uint64_t operations = 0;
  double weight = 0;
  uint64_t skipped = 0;         ///< operations on other collections
  std::string insertion_order;  ///< as InsertionOrder::by; empty if it is not known
  std::vector<UniqueIndex> unique_indexes;
  std::vector<Rating> ratings;  ///< the recommended one first; at least one
};

/// Remarks on a key beyond its figures: null keys, a hot end, few values, arrays, moving documents, unique indexes.
/// Each is a sentence or two, the worst first.
std::vector<std::string> Notes(const Advice& advice, const Rating& rating);

/// The recommendation, as one would explain it to a colleague: paragraphs.
std::vector<std::string> Recommend(const Advice& advice);

/// The commands for mongosh that put the recommendation in place.
std::vector<std::string> Commands(const Advice& advice);

/// "31 %", "0.4 %".
std::string Percent(double share);
/// "12345", "2.5": with a fraction only if it is a small number that has one.
std::string Quantity(double value);

/// A line about the input, the table, the recommendation and its commands.
std::string ToText(const Advice& advice);

/// One object; docs/tools.md describes its fields. Names are never changed, only added.
std::string ToJson(const Advice& advice);

/// The advice for a collection, for any caller with clients of its store. Rates the keys that the documents suggest,
/// and the operations if the server has recorded any. Looks at `sample` documents at most. kNamespaceNotFound if the
/// collection has none.
Result<Advice> AdviseCollection(Clients& clients, const Place& place, size_t sample, size_t shards,
                                const std::atomic<bool>& stop);

}  // namespace braid::advise
