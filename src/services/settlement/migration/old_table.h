// The old layout: one chain over all symbols, one document per output, no symbol.
//   {_id: output_seq, prev_hash, hash, input_data, output_data, created_at}
// Sequences ascend. prev_hash is the hash of the document before, 0 for the first; both are 64-bit integers. The
// original design does not say which hash function makes them; here it is the first 8 bytes of SHA-256, big-endian,
// over
//      0  8  output_seq          (integers are big-endian, signed ones two's complement)
//      8  8  prev_hash
//     16  4  n: bytes of input_data
//     20  n  input_data
//   20+n  4  m: bytes of output_data
//   24+n  m  output_data
// This is the layout unless a mapping says otherwise (below). input_data is the JSON of the output's input,
// output_data that of the rest: {"order_update":…,"trades":[…], "balance_events":[…]}, each spelled as in a payload
// (output.h) when this program writes it; other programs may spell it differently. created_at is in milliseconds since
// 1970.
//
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
//   hash_function sha256, as above, or unknown: links are checked, but hashes are not computed again. Outputs
//                 that are written during the migration are linked by sha256 all the same. A document has no bytes that
//                 could be hashed, so the form document needs unknown hashes or none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "braid/clients.h"
#include "braid/status.h"
#include "client/handles.h"
#include "services/settlement/output.h"

namespace braid::settlement::migration {

/// The mapping of a table.
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

struct OldRecord {
  int64_t sequence = 0;
  int64_t prev_hash = 0;
  int64_t hash = 0;
  std::string input_data;
  std::string output_data;
  int64_t created_at = 0;
};

/// The expected value of `hash`.
int64_t HashOfOld(const OldRecord& record);

/// The output as the next record after one with the hash `prev_hash`.
OldRecord ToOld(const Output& output, int64_t prev_hash, int64_t created_at);

/// The location of records.
struct OldTable {
  const std::string& database;
  const std::string& collection;
  const OldLayout& layout;
};

/// kRecordDamaged if it does not hold an output. The hashes are not looked at.
Result<Output> FromOld(OutputParser& parser, const OldRecord& record);

/// Whether the chains can hold an output: kBadValue if it is too large, by itself or in all of its chains.
Status CheckFits(const Output& output);

/// kBadValue if the layout cannot hold it.
Status AppendTo(client::Bson& document, const OldLayout& layout, const OldRecord& record);
/// kRecordDamaged if it is not such a document. Hashes are 0 if the layout has none.
Result<OldRecord> OldRecordOf(const bson_t& document, const OldLayout& layout);

struct OldRange {
  int64_t after = 0;  ///< sequences above this
  int64_t limit = 0;  ///< so many records at most
};

/// Records of a range in the order of sequences, as many as one answer of the store holds: one at least if there is
/// one. They are read at one moment, so a table that is dropped meanwhile gives all of them or none. A collection that
/// does not exist has none.
Result<std::vector<OldRecord>> ReadOld(Clients& clients, const OldTable& table, const OldRange& range);

/// The record with the highest sequence, if there is any.
Result<std::optional<OldRecord>> NewestOld(Clients& clients, const OldTable& table);

struct OldSpan {
  int64_t after = 0;
  int64_t up_to = 0;
};
/// How many records there are.
Result<int64_t> CountOld(Clients& clients, const OldTable& table, const OldSpan& span);

/// The number of documents that cannot be outputs, because their sequence is not a number above 0: no read of a range
/// finds them.
Result<int64_t> CountStrange(Clients& clients, const OldTable& table);

/// Whether a record follows the one before: kRecordDamaged names the sequence, what was expected and what is there.
/// Hashes are checked only as far as the layout describes them.
Status CheckLink(const OldLayout& layout, int64_t prev_hash, const OldRecord& record);

}  // namespace braid::settlement::migration
