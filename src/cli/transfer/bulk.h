// One batch of documents as one request to the server.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/transfer/importer.h"

namespace braid::transfer {

struct Batch {
  std::vector<Item> items;
  size_t bytes = 0;
};

struct BatchOutcome {
  /// Done without an error; of an ordered batch, those before the first error.
  size_t done = 0;
  /// By index in the batch.
  std::vector<std::pair<size_t, std::string>> failures;
  /// The whole request failed: nothing is known about the documents.
  Status fatal;
};

/// Sends the batch: unordered, so that one document that fails does not hold up the rest, unless order is kept.
BatchOutcome SendBatch(mongoc_collection_t* collection, const Batch& batch, const ImportOptions& options);

}  // namespace braid::transfer
