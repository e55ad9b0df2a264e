// How an old table names and keeps what the migration needs of it: a mapping, as JSON in a file. All of it, with what
// is assumed where a name is left out:
//
//   {"collection": "engine_output_log_single", "sequence": "_id", "prev_hash": "prev_hash", "hash": "hash",
//    "input": "input_data", "output": "output_data", "created_at": "created_at", "form": "binary",
//    "hash_function": "sha256"}
//
//   collection    the table's name.
//   sequence      the output_seq: an integer, or a double that is one. If it is not _id, the table gets an index on it.
//   prev_hash,    64-bit integers; null for both: the table has none, or they are not looked at.
//   hash
//   input         the output's input, output the rest of it: {"order_update", "trades", "balance_events"}; JSON as
//   output        binary or as a string, or a document; read in any of these forms, written in that of `form`
//                 (binary, text, document). Or, in place of output, the fields order_update, trades and balance_events:
//                 the names of fields that hold these, as documents and arrays. The form is document then.
//   created_at    a date, or milliseconds since 1970 as an integer; null: the table has none.
//   hash_function sha256, as in old_table.h, or unknown: links are checked, but hashes are not computed again. Outputs
//                 that are written during the migration are linked by sha256 all the same. A document has no bytes that
//                 could be hashed, so the form document needs unknown hashes or none.
#pragma once

#include <string>
#include <string_view>

#include "braid/status.h"

namespace braid::settlement::migration {

struct OldLayout {
  enum class Form { kBinary, kText, kDocument };

  std::string sequence = "_id";
  std::string prev_hash = "prev_hash";  ///< empty, with `hash`: there are none
  std::string hash = "hash";
  std::string input = "input_data";
  std::string output = "output_data";  ///< empty: the next three instead
  std::string order_update;
  std::string trades;
  std::string balance_events;
  std::string created_at = "created_at";  ///< empty: there is none
  Form form = Form::kBinary;
  bool hash_known = true;

  bool operator==(const OldLayout&) const = default;
  bool has_hashes() const { return !hash.empty(); }
  /// kBadValue if it contradicts itself.
  Status Validate() const;
  /// The mapping in one spelling.
  std::string ToJson() const;
};

struct OldMapping {
  std::string collection;  ///< empty if it is not named
  OldLayout layout;
};
/// kBadValue names what is not a mapping: an unknown name, a value of another kind, or one that contradicts another.
Result<OldMapping> ParseMapping(std::string_view json);

}  // namespace braid::settlement::migration
