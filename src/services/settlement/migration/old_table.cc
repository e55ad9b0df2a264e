#include "services/settlement/migration/old_table.h"

#include "base/strings.h"
#include "client/fields.h"
#include "patterns/chains/bytes.h"
#include "patterns/chains/hash.h"

namespace braid::settlement::migration {

int64_t HashOfOld(const OldRecord& record) {
  std::string bytes;
  bytes.reserve(24 + record.input_data.size() + record.output_data.size());
  chains::Append64(bytes, record.sequence);
  chains::Append64(bytes, record.prev_hash);
  chains::Append32(bytes, static_cast<uint32_t>(record.input_data.size()));
  bytes += record.input_data;
  chains::Append32(bytes, static_cast<uint32_t>(record.output_data.size()));
  bytes += record.output_data;
  return chains::SealOf(bytes);
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

void AppendTo(client::Bson& document, const OldRecord& record) {
  document.Integer("_id", record.sequence)
      .Integer("prev_hash", record.prev_hash)
      .Integer("hash", record.hash)
      .Binary("input_data", record.input_data)
      .Binary("output_data", record.output_data)
      .Integer("created_at", record.created_at);
}

Result<OldRecord> OldRecordOf(const bson_t& document) {
  OldRecord record;
  const std::pair<const char*, int64_t*> integers[] = {{"_id", &record.sequence},
                                                       {"prev_hash", &record.prev_hash},
                                                       {"hash", &record.hash},
                                                       {"created_at", &record.created_at}};
  for (const auto& [name, value] : integers) {
    bson_iter_t field;
    if (!bson_iter_init_find(&field, &document, name) || !BSON_ITER_HOLDS_INT64(&field)) {
      const std::string which = value == &record.sequence ? "a document" : StrCat("output ", record.sequence);
      return Status(Code::kRecordDamaged, StrCat(which, " of the old table: ", name, " is not a 64-bit integer"));
    }
    *value = bson_iter_int64(&field);
  }
  record.input_data = client::BinaryOf(&document, "input_data");
  record.output_data = client::BinaryOf(&document, "output_data");
  return record;
}

namespace {

// Find in one answer: no cursor is left that could fail later.
Result<std::vector<OldRecord>> Find(Clients& clients, const std::string& database, const std::string& collection,
                                    const OldRange& range, int64_t direction) {
  client::Bson above;
  above.Integer("$gt", range.after);
  client::Bson filter;
  filter.Document("_id", above);
  client::Bson sort;
  sort.Integer("_id", direction);
  client::Bson options;
  options.Document("sort", sort).Integer("limit", range.limit).Integer("batchSize", range.limit);
  options.Bool("singleBatch", true);
  const Client client = clients.Acquire();
  const client::CollectionPtr handle = client::CollectionOf(client.get(), database, collection);
  const client::CursorPtr cursor(mongoc_collection_find_with_opts(handle.get(), filter.get(), options.get(), nullptr));
  std::vector<OldRecord> records;
  const bson_t* document = nullptr;
  while (mongoc_cursor_next(cursor.get(), &document)) {
    BRAID_TRY(OldRecord record, OldRecordOf(*document));
    records.push_back(std::move(record));
  }
  bson_error_t error;
  if (mongoc_cursor_error(cursor.get(), &error)) return client::FromError(error);
  return records;
}

Result<int64_t> Count(Clients& clients, const std::string& database, const std::string& collection,
                      const client::Bson& filter) {
  const Client client = clients.Acquire();
  const client::CollectionPtr handle = client::CollectionOf(client.get(), database, collection);
  bson_error_t error;
  const int64_t count =
      mongoc_collection_count_documents(handle.get(), filter.get(), nullptr, nullptr, nullptr, &error);
  if (count < 0) return client::FromError(error);
  return count;
}

}  // namespace

Result<std::vector<OldRecord>> ReadOld(Clients& clients, const std::string& database, const std::string& collection,
                                       const OldRange& range) {
  return Find(clients, database, collection, range, 1);
}

Result<std::optional<OldRecord>> NewestOld(Clients& clients, const std::string& database,
                                           const std::string& collection) {
  BRAID_TRY(std::vector<OldRecord> records, Find(clients, database, collection, {.after = 0, .limit = 1}, -1));
  if (records.empty()) return std::optional<OldRecord>();
  return std::optional<OldRecord>(std::move(records.front()));
}

Result<int64_t> CountOld(Clients& clients, const std::string& database, const std::string& collection,
                         const OldSpan& span) {
  client::Bson bounds;
  bounds.Integer("$gt", span.after).Integer("$lte", span.up_to);
  client::Bson filter;
  filter.Document("_id", bounds);
  return Count(clients, database, collection, filter);
}

Result<int64_t> CountStrange(Clients& clients, const std::string& database, const std::string& collection) {
  client::Bson above;
  above.Integer("$gt", 0);
  client::Bson no_output;
  no_output.Document("$not", above);
  client::Bson filter;
  filter.Document("_id", no_output);
  return Count(clients, database, collection, filter);
}

Status CheckLink(int64_t prev_hash, const OldRecord& record) {
  const auto damaged = [&](std::string_view field, int64_t expected, int64_t got) {
    return Status(Code::kRecordDamaged, StrCat("output ", record.sequence, " of the old table: expected ", field, " ",
                                               expected, ", got ", got));
  };
  if (record.prev_hash != prev_hash) return damaged("prev_hash", prev_hash, record.prev_hash);
  if (const int64_t hash = HashOfOld(record); record.hash != hash) return damaged("hash", hash, record.hash);
  return {};
}

}  // namespace braid::settlement::migration
