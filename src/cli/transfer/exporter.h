// Documents of a collection into a file.
#pragma once

#include <atomic>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/clients.h"
#include "braid/status.h"

namespace braid::transfer {

enum class JsonFormat { kRelaxed, kCanonical };

struct ExportOptions {
  std::string database;
  std::string collection;
  bool csv = false;
  JsonFormat json_format = JsonFormat::kRelaxed;
  bool json_array = false;
  bool pretty = false;
  /// The columns of CSV; for JSON the fields to write besides _id, all if empty.
  std::vector<std::string> fields;
  bool header_line = true;
  /// Extended JSON; empty for all documents, and for no order.
  std::string query;
  std::string sort;
  int64_t skip = 0;
  int64_t limit = 0;  ///< 0: no limit
  const std::atomic<bool>* stop = nullptr;
  /// A document that cannot be written.
  std::function<void(std::string_view reason)> on_failure;
};

struct ExportCounts {
  std::atomic<uint64_t> exported{0};
  std::atomic<uint64_t> failed{0};
};

/// Writes to `out` and flushes it.
Status Export(Clients& clients, const ExportOptions& options, FILE* out, ExportCounts& counts);

/// Compact JSON, spread over lines with two spaces per level.
std::string Indent(std::string_view json);

/// A row of CSV: the values at the paths, in quotes where RFC 4180 wants them, with the line end. A path goes into
/// documents by name and into arrays by number; a missing value is empty.
void AppendCsvRow(std::string& out, const bson_t* document, const std::vector<std::string>& paths);
/// One value, quoted if it must be.
void AppendCsvValue(std::string& out, std::string_view value);

}  // namespace braid::transfer
