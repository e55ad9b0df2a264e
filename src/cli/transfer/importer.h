// Documents from a reader into a collection.
#pragma once

#include <atomic>
#include <functional>
#include <string>
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

}  // namespace braid::transfer
