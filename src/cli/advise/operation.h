// Operation: one recorded or listed operation on a collection, as far as a shard key is concerned.
#pragma once

#include <string>
#include <vector>

#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::advise {

struct Operation {
  std::string command;     ///< "find", "update", …
  std::string collection;  ///< empty if it was not said
  bson::Document filter;
  bson::Document sort;
  /// Fields that an update changes; a replacement names none.
  std::vector<std::string> changed;
  double weight = 1;
  bool insert = false;
  /// Has a collation of its own: texts are then no places in the order of a shard key.
  bool collated = false;

  /// The shape of the operation, without its values: find { user_id: ?, total: { $gt: ? } } sort { created_at: -1 }.
  std::string Shape() const;
};

/// A listed operation in the form of its command, with "weight" (or "count", but for the command count) for how often
/// it runs: {"find": "orders", "filter": {…}, "count": 120}. Writes may be in the short form {"update": "orders",
/// "q": {…}, "u": {…}} or in the command's own, where each of the updates, deletes and documents is an operation.
/// kBadValue says what was expected.
Result<std::vector<Operation>> OperationsOf(bson::View command);

/// A row of $listSampledQueries: {cmdName: "find", cmd: {filter: {…}}, …}. An insert may say how many documents it has
/// instead of which: that is its weight.
Result<std::vector<Operation>> OperationsOfSample(bson::View row);

}  // namespace braid::advise
