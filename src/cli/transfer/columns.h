// The columns of a CSV or TSV file: their names, their types, and a row as a document.
#pragma once

#include <bson/bson.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "braid/status.h"
#include "cli/transfer/date_layout.h"

namespace braid::transfer {

/// How a value that is not of its column's type is treated.
enum class ParseGrace {
  kAutoCast,   ///< what it looks like, as in a column of type auto
  kSkipField,  ///< nothing: the field is left out
  kSkipRow,    ///< an error of the row
  kStop,       ///< an error that ends the import
};

enum class ColumnType { kAuto, kBinary, kBoolean, kDate, kDecimal, kDouble, kInt32, kInt64, kString };
enum class BinaryEncoding { kBase64, kBase32, kHex };

struct Column {
  std::string name;
  ColumnType type = ColumnType::kAuto;
  BinaryEncoding encoding = BinaryEncoding::kBase64;
  DateLayout layout;
};

/// "name", or with `typed` "name.type(argument)"; kBadValue says what is wrong and what types there are.
Result<Column> ParseColumn(std::string_view text, bool typed);

/// Appends the text as the column's type; kFailedToParse, with nothing appended, if it is not of that type.
Status AppendTyped(bson_t* document, std::string_view name, const Column& column, std::string_view text);
/// An integer if it is one, else a number if it is one, else a string.
void AppendAuto(bson_t* document, std::string_view name, std::string_view text);

/// Rows to documents: a name with dots is a field of a document within. Constant after Make().
class Columns {
 public:
  /// kBadValue for names that cannot stand beside one another ("a" and "a.b", or the same twice) or are empty.
  static Result<Columns> Make(const std::vector<std::string>& fields, bool typed);

  struct Rules {
    bool ignore_blanks = false;
    ParseGrace grace = ParseGrace::kStop;
  };
  /// Values beyond the columns are named field<number>; columns beyond the values are left out.
  Status AppendRow(bson_t* document, const std::vector<std::string>& values, const Rules& rules) const;

 private:
  // A name between dots; a leaf has a column.
  struct Node {
    std::string name;
    int column = -1;
    std::vector<Node> children;
  };
  Status Add(std::string_view path, int column);
  static bool HasValue(const Node& node, const std::vector<std::string>& values, const Rules& rules);
  Status AppendNode(bson_t* document, const Node& node, const std::vector<std::string>& values,
                    const Rules& rules) const;

  std::vector<Column> columns_;
  Node root_;
};

}  // namespace braid::transfer
