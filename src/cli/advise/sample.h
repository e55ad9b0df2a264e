// Sample: the documents that keys are rated by, and the order they were inserted in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/bson/value.h"

namespace braid::advise {

struct Sample {
  std::vector<bson::Document> documents;
  /// Of the whole collection; the sample has all of them if it is no more.
  uint64_t total = 0;
  /// The documents are in the order of a file, which may be the order they were made in.
  bool in_order = false;
};

/// Indexes of the documents, oldest first, and what says so.
struct InsertionOrder {
  std::vector<size_t> oldest_first;
  std::string by;  ///< "_id" (ObjectIds hold their time), "file", or the path of a date
};

/// By _id if all are ObjectIds; else the order of the file; else the first date at the top that all documents have.
/// Nothing if there is none of these.
std::optional<InsertionOrder> FindInsertionOrder(const Sample& sample);

}  // namespace braid::advise
