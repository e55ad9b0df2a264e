// Documents from a reader into a collection, in batches of which each is one request to the server.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "braid/clients.h"
#include "braid/status.h"
#include "cli/transfer/reader.h"

namespace braid::transfer {

enum class ImportMode {
  kInsert,
  kUpsert,  ///< replaces the document with the same upsert fields, or inserts
  kMerge,   ///< sets the fields in the document with the same upsert fields, or inserts
  kDelete,  ///< removes a document with the same upsert fields
};

struct ImportOptions {
  std::string database;
  std::string collection;
  ImportMode mode = ImportMode::kInsert;
  /// Fields, dotted if inside others, that say which stored document a document of the file is about.
  std::vector<std::string> upsert_fields = {"_id"};
  /// Ends the import at the first document that fails; otherwise the rest is still imported.
  bool stop_on_error = false;
  /// Documents are stored in the order of the file: one worker, and the first failure ends the import.
  bool keep_order = false;
  /// Documents per request. Default 1000, 1..100000.
  int batch_size = 1000;
  /// Connections that write at the same time. Default 1, 1..256.
  int workers = 1;
  /// The write concern as JSON: {"w": 1, "j": true}, "majority" or 1. Empty: the server's.
  std::string write_concern;
  /// Set from outside to end early.
  const std::atomic<bool>* stop = nullptr;
  /// A document that failed: its line in the file and why. Any thread.
  std::function<void(uint64_t line, std::string_view reason)> on_failure;
};

struct ImportCounts {
  std::atomic<uint64_t> imported{0};
  std::atomic<uint64_t> failed{0};
};

/// Reads on one thread and writes on `workers`, with a bounded number of batches between. An error ends the import as a
/// whole (the server is gone, the file cannot be read on); documents that fail are in `counts`. What was imported
/// before an error stays.
Status Import(Clients& clients, Reader& reader, const ImportOptions& options, ImportCounts& counts);

/// "majority", a number, or a document; kBadValue.
Result<client::WriteConcernPtr> ParseWriteConcern(const std::string& text);

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
