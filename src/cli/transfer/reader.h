// Documents out of a file, whatever its format.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "braid/status.h"
#include "cli/transfer/columns.h"
#include "cli/transfer/input.h"
#include "client/handles.h"

namespace braid::transfer {

/// One document of the file, or why there is none there.
struct Item {
  uint64_t line = 0;  ///< where it starts
  client::BsonPtr document{nullptr};
  Status error;  ///< the document is missing then; the reader goes on behind it
};

/// Streams: never holds more than one document.
class Reader {
 public:
  virtual ~Reader() = default;
  /// The next document, nothing at the end. A Status ends the file: it cannot be read on.
  virtual Result<std::optional<Item>> Next() = 0;
};

/// Documents one after another, one per line or over several lines, or one array of them; the first byte tells which.
std::unique_ptr<Reader> NewJsonReader(std::unique_ptr<Input> input);

struct TableOptions {
  /// ',' with quotes as in RFC 4180, or '\t' where every byte but tab and line end is data.
  char separator = ',';
  /// Empty: the first line names the columns.
  std::vector<std::string> fields;
  /// Names are followed by types, as in "born.date(2006-01-02)".
  bool typed = false;
  /// Leaves out fields that are empty.
  bool ignore_blanks = false;
  /// What to do with a value that is not of its column's type.
  ParseGrace grace = ParseGrace::kStop;
  /// A value that is not UTF-8 is taken for ISO 8859-1; else it is an error of its row.
  bool latin1 = false;
};
/// One document per row.
Result<std::unique_ptr<Reader>> NewTableReader(std::unique_ptr<Input> input, const TableOptions& options);

}  // namespace braid::transfer
