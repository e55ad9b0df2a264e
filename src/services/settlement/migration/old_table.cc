// The old table's outputs, as documents in the layout that the table has, and as records of a single chain.
#include "services/settlement/migration/old_table.h"

#include <cmath>
#include <memory>
#include <string>

#include "base/big_endian.h"
#include "base/strings.h"
#include "client/fields.h"
#include "patterns/chains/merkle.h"

namespace braid::settlement::migration {
namespace {

using client::Bson;
using JsonText = std::unique_ptr<char, decltype([](char* text) { bson_free(text); })>;

bool ReadInteger(const bson_t& document, const std::string& name, int64_t& to) {
  bson_iter_t field;
  if (!bson_iter_init_find(&field, &document, name.c_str())) return false;
  if (BSON_ITER_HOLDS_INT32(&field) || BSON_ITER_HOLDS_INT64(&field)) {
    to = bson_iter_as_int64(&field);
    return true;
  }
  const double value = BSON_ITER_HOLDS_DOUBLE(&field) ? bson_iter_double(&field) : NAN;
  if (std::nearbyint(value) != value || std::fabs(value) > 9e15) return false;
  to = static_cast<int64_t>(value);
  return true;
}

// JSON as binary or text, or a document that is made JSON.
bool ReadJson(const bson_t& document, const std::string& name, std::string& to) {
  bson_iter_t field;
  if (!bson_iter_init_find(&field, &document, name.c_str())) return false;
  if (BSON_ITER_HOLDS_BINARY(&field)) {
    to = client::BinaryOf(&document, name.c_str());
  } else if (BSON_ITER_HOLDS_UTF8(&field)) {
    to = client::TextOf(&document, name.c_str());
  } else if (BSON_ITER_HOLDS_DOCUMENT(&field)) {
    uint32_t size = 0;
    const uint8_t* bytes = nullptr;
    bson_iter_document(&field, &size, &bytes);
    bson_t value;
    if (!bson_init_static(&value, bytes, size)) return false;
    to = JsonText(bson_as_relaxed_extended_json(&value, nullptr)).get();
  } else {
    return false;
  }
  return true;
}

// The three parts of an output from fields of their own; one that is not there is left out.
std::string ReadParts(const bson_t& document, const OldLayout& layout) {
  Bson output;
  const std::pair<const char*, const std::string*> parts[] = {
      {"order_update", &layout.order_update}, {"trades", &layout.trades}, {"balance_events", &layout.balance_events}};
  for (const auto& [key, name] : parts) {
    bson_iter_t field;
    if (bson_iter_init_find(&field, &document, name->c_str())) bson_append_iter(output.get(), key, -1, &field);
  }
  return JsonText(bson_as_relaxed_extended_json(output.get(), nullptr)).get();
}

client::BsonPtr FromJson(const std::string& json) {
  return client::BsonPtr(
      bson_new_from_json(reinterpret_cast<const uint8_t*>(json.data()), static_cast<ssize_t>(json.size()), nullptr));
}

Status WriteJson(Bson& document, const std::string& name, const std::string& json, OldLayout::Form form) {
  if (form == OldLayout::Form::kBinary) document.Binary(name.c_str(), json);
  if (form == OldLayout::Form::kText) document.Text(name.c_str(), json);
  if (form != OldLayout::Form::kDocument) return {};
  const client::BsonPtr value = FromJson(json);
  if (value == nullptr) return Status(Code::kBadValue, "cannot be kept as a document");
  bson_append_document(document.get(), name.c_str(), -1, value.get());
  return {};
}

Status WriteParts(Bson& document, const OldLayout& layout, const std::string& output_data) {
  const client::BsonPtr output = FromJson(output_data);
  if (output == nullptr) return Status(Code::kBadValue, "cannot be kept as documents");
  const std::pair<const char*, const std::string*> parts[] = {
      {"order_update", &layout.order_update}, {"trades", &layout.trades}, {"balance_events", &layout.balance_events}};
  for (const auto& [key, name] : parts) {
    bson_iter_t field;
    if (bson_iter_init_find(&field, output.get(), key)) bson_append_iter(document.get(), name->c_str(), -1, &field);
  }
  return {};
}

// Find in one answer: no cursor is left that could fail later.
Result<std::vector<OldRecord>> Find(Clients& clients, const OldTable& table, const OldRange& range, int64_t direction) {
  client::Bson above;
  above.Integer("$gt", range.after);
  client::Bson filter;
  filter.Document(table.layout.sequence.c_str(), above);
  client::Bson sort;
  sort.Integer(table.layout.sequence.c_str(), direction);
  client::Bson options;
  options.Document("sort", sort).Integer("limit", range.limit).Integer("batchSize", range.limit);
  options.Bool("singleBatch", true);
  const Client client = clients.Acquire();
  const client::CollectionPtr handle = client::CollectionOf(client.get(), table.database, table.collection);
  const client::CursorPtr cursor(mongoc_collection_find_with_opts(handle.get(), filter.get(), options.get(), nullptr));
  std::vector<OldRecord> records;
  const bson_t* document = nullptr;
  while (mongoc_cursor_next(cursor.get(), &document)) {
    BRAID_TRY(OldRecord record, OldRecordOf(*document, table.layout));
    records.push_back(std::move(record));
  }
  bson_error_t error;
  if (mongoc_cursor_error(cursor.get(), &error)) return client::FromError(error);
  return records;
}

Result<int64_t> Count(Clients& clients, const OldTable& table, const client::Bson& filter) {
  const Client client = clients.Acquire();
  const client::CollectionPtr handle = client::CollectionOf(client.get(), table.database, table.collection);
  bson_error_t error;
  const int64_t count =
      mongoc_collection_count_documents(handle.get(), filter.get(), nullptr, nullptr, nullptr, &error);
  if (count < 0) return client::FromError(error);
  return count;
}

}  // namespace

Status AppendTo(client::Bson& document, const OldLayout& layout, const OldRecord& record) {
  document.Integer(layout.sequence.c_str(), record.sequence);
  if (layout.has_hashes()) {
    document.Integer(layout.prev_hash.c_str(), record.prev_hash).Integer(layout.hash.c_str(), record.hash);
  }
  BRAID_CHECK_OK(WriteJson(document, layout.input, record.input_data, layout.form));
  BRAID_CHECK_OK(layout.output.empty() ? WriteParts(document, layout, record.output_data)
                                       : WriteJson(document, layout.output, record.output_data, layout.form));
  if (layout.created_at.empty()) return {};
  layout == OldLayout() ? document.Integer(layout.created_at.c_str(), record.created_at)
                        : document.Date(layout.created_at.c_str(), record.created_at);
  return {};
}

Result<OldRecord> OldRecordOf(const bson_t& document, const OldLayout& layout) {
  OldRecord record;
  const auto damaged = [&](const std::string& name, const char* what) {
    const std::string which = record.sequence == 0 ? "a document" : StrCat("output ", record.sequence);
    return Status(Code::kRecordDamaged, StrCat(which, " of the old table: ", name, " is not ", what));
  };
  if (!ReadInteger(document, layout.sequence, record.sequence)) return damaged(layout.sequence, "a 64-bit integer");
  if (layout.has_hashes()) {
    for (const auto& [name, value] :
         {std::pair(&layout.prev_hash, &record.prev_hash), std::pair(&layout.hash, &record.hash)}) {
      if (!ReadInteger(document, *name, *value)) return damaged(*name, "a 64-bit integer");
    }
  }
  if (!layout.created_at.empty()) {
    const std::optional<int64_t> date = client::DateOf(&document, layout.created_at.c_str());
    if (date) record.created_at = *date;
    if (!date && !ReadInteger(document, layout.created_at, record.created_at)) {
      return damaged(layout.created_at, "a date, nor a 64-bit integer");
    }
  }
  if (!ReadJson(document, layout.input, record.input_data)) return damaged(layout.input, "JSON, nor a document");
  if (layout.output.empty()) {
    record.output_data = ReadParts(document, layout);
  } else if (!ReadJson(document, layout.output, record.output_data)) {
    return damaged(layout.output, "JSON, nor a document");
  }
  return record;
}

int64_t HashOfOld(const OldRecord& record) {
  std::string bytes;
  bytes.reserve(24 + record.input_data.size() + record.output_data.size());
  big_endian::Append64(bytes, record.sequence);
  big_endian::Append64(bytes, record.prev_hash);
  big_endian::Append32(bytes, static_cast<uint32_t>(record.input_data.size()));
  bytes += record.input_data;
  big_endian::Append32(bytes, static_cast<uint32_t>(record.output_data.size()));
  bytes += record.output_data;
  const Sha256Hash hash = merkle::Sha256(bytes);
  return big_endian::Get64(reinterpret_cast<const char*>(hash.data()));
}

OldRecord ToOld(const Output& output, int64_t prev_hash, int64_t created_at) {
  OldRecord record{.sequence = output.output_seq, .prev_hash = prev_hash, .created_at = created_at};
  record.input_data = output.input;
  record.output_data = EncodeOutputData(output);
  record.hash = HashOfOld(record);
  return record;
}

Result<Output> FromOld(OutputParser& parser, const OldRecord& record) {
  const auto damaged = [&](std::string_view why) {
    return Status(Code::kRecordDamaged, StrCat("output ", record.sequence, " of the old table: ", why));
  };
  if (!record.output_data.starts_with('{')) return damaged("output_data is not a JSON object");
  const bool empty = record.output_data.find_first_not_of(" \t\r\n", 1) == record.output_data.find('}');
  Result<Output> output = parser.Parse(StrCat(R"({"output_seq":)", record.sequence, R"(,"input":)", record.input_data,
                                              empty ? "" : ",", std::string_view(record.output_data).substr(1)));
  if (!output.ok()) return damaged(output.error().message());
  if (output->prev_hash || output->hash) return damaged("output_data holds hashes");
  if (output->output_seq != record.sequence) return damaged("output_data names another sequence");
  return output;
}

Status CheckFits(const Output& output) {
  const size_t bytes = EncodePayload(output).size();
  const size_t chains = 1 + output.other_symbols().size();
  if (bytes <= Chains::kPayloadBytesMax && bytes * chains <= Chains::kBatchBytesMax) return {};
  return Status(Code::kBadValue, StrCat("output ", output.output_seq, " has ", bytes, " bytes in each of ", chains,
                                        " chains; the most is ", Chains::kPayloadBytesMax, ", and in all of them ",
                                        Chains::kBatchBytesMax));
}

Result<std::vector<OldRecord>> ReadOld(Clients& clients, const OldTable& table, const OldRange& range) {
  return Find(clients, table, range, 1);
}

Result<std::optional<OldRecord>> NewestOld(Clients& clients, const OldTable& table) {
  BRAID_TRY(std::vector<OldRecord> records, Find(clients, table, {.after = 0, .limit = 1}, -1));
  if (records.empty()) return std::optional<OldRecord>();
  return std::optional<OldRecord>(std::move(records.front()));
}

Result<int64_t> CountOld(Clients& clients, const OldTable& table, const OldSpan& span) {
  client::Bson bounds;
  bounds.Integer("$gt", span.after).Integer("$lte", span.up_to);
  client::Bson filter;
  filter.Document(table.layout.sequence.c_str(), bounds);
  return Count(clients, table, filter);
}

Result<int64_t> CountStrange(Clients& clients, const OldTable& table) {
  client::Bson above;
  above.Integer("$gt", 0);
  client::Bson no_output;
  no_output.Document("$not", above);
  client::Bson filter;
  filter.Document(table.layout.sequence.c_str(), no_output);
  return Count(clients, table, filter);
}

Status CheckLink(const OldLayout& layout, int64_t prev_hash, const OldRecord& record) {
  if (!layout.has_hashes()) return {};
  const auto damaged = [&](std::string_view field, int64_t expected, int64_t got) {
    return Status(Code::kRecordDamaged, StrCat("output ", record.sequence, " of the old table: expected ", field, " ",
                                               expected, ", got ", got));
  };
  if (record.prev_hash != prev_hash) return damaged("prev_hash", prev_hash, record.prev_hash);
  if (!layout.hash_known) return {};
  if (const int64_t hash = HashOfOld(record); record.hash != hash) return damaged("hash", hash, record.hash);
  return {};
}

}  // namespace braid::settlement::migration
