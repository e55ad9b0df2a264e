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
// This is the layout unless a mapping says otherwise (layout.h). input_data is the JSON of the output's input,
// output_data that of the rest: {"order_update":…,"trades":[…], "balance_events":[…]}, each spelled as in a payload
// (output.h) when this program writes it; other programs may spell it differently. created_at is in milliseconds since
// 1970.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "braid/clients.h"
#include "client/handles.h"
#include "services/settlement/migration/layout.h"
#include "services/settlement/output.h"

namespace braid::settlement::migration {

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
