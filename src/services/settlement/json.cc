#include "services/settlement/json.h"

#include <algorithm>

#include "base/strings.h"
#include "patterns/chains/hash.h"

namespace braid::settlement {
namespace {

using chains::HexOf;

void AppendHaltOf(const ChainHead& head, client::Bson& row) {
  client::Bson awaits;
  for (size_t i = 0; i < head.awaits.size(); ++i) {
    client::Bson awaited;
    awaited.Integer("output_seq", head.awaits[i].sequence).Text("why", head.awaits[i].why);
    if (head.awaits[i].held_by) awaited.Integer("held_by", *head.awaits[i].held_by);
    awaits.Document(StrCat(i).c_str(), awaited);
  }
  row.Text("halted_because", head.halted).Bool("broken", head.broken).Array("awaits", awaits);
}

}  // namespace

Result<RefusedNow> ReadRefused(Clients& clients, const ChainsOptions& log) {
  RefusedNow refused;
  BRAID_TRY(refused.kept, RefusedOutputs::Count(clients, log));
  BRAID_TRY(refused.unplaced, UnplacedLines::List(clients, log));
  return refused;
}

void AppendUnplaced(const std::vector<UnplacedLine>& lines, client::Bson& json) {
  client::Bson rows;
  for (size_t i = 0; i < lines.size(); ++i) {
    client::Bson row;
    row.Text("file", lines[i].source).Integer("line", static_cast<int64_t>(lines[i].line));
    if (lines[i].output_seq > 0) row.Integer("output_seq", lines[i].output_seq);
    rows.Document(StrCat(i).c_str(), row.Text("reason", lines[i].reason));
  }
  json.Array("unplaced", rows);
}

void AppendHeads(const std::vector<ChainHead>& heads, const std::vector<LeaseInfo>& leases, const RefusedNow& refused,
                 client::Bson& json) {
  int64_t records = 0;
  int64_t halted = 0;
  int64_t newest = 0;
  client::Bson rows;
  for (size_t i = 0; i < heads.size(); ++i) {
    const ChainHead& head = heads[i];
    records += head.records;
    halted += head.halted.empty() ? 0 : 1;
    newest = std::max(newest, head.sequence);
    client::Bson row;
    row.Integer("symbol_id", head.chain)
        .Integer("records", head.records)
        .Integer("output_seq", head.sequence)
        .Text("hash", HexOf(head.hash))
        .Bool("halted", !head.halted.empty());
    if (!head.halted.empty()) AppendHaltOf(head, row);
    const auto lease = std::ranges::find(leases, head.chain, &LeaseInfo::chain);
    if (lease != leases.end()) {
      client::Bson fields;
      fields.Text("owner", lease->owner).Integer("epoch", lease->epoch).Integer("expires_at_ms", lease->expires_at_ms);
      row.Document("lease", fields);
    }
    rows.Document(StrCat(i).c_str(), row);
  }
  json.Integer("records", records)
      .Integer("output_seq", newest)
      .Integer("halted", halted)
      .Integer("refused", refused.kept);
  AppendUnplaced(refused.unplaced, json);
  json.Array("symbols", rows);
}

Result<std::string> RecordLine(OutputParser& parser, const ChainRecordView& record) {
  const Result<Output> output = parser.Decode(record.payload);
  if (!output.ok()) {
    return Status(output.error().code(),
                  StrCat("symbol ", record.chain, ", output ", record.sequence, ": ", output.error().message()));
  }
  std::string also;
  for (const int64_t symbol : record.also) also += StrCat(also.empty() ? ",\"also\":[" : ",", symbol);
  if (!also.empty()) also += ']';
  return StrCat("{\"symbol_id\":", record.chain, ",\"output_seq\":", record.sequence, ",\"prev_hash\":\"",
                HexOf(record.prev_hash), "\",\"hash\":\"", HexOf(record.hash), "\",\"input_data\":", output->input,
                ",\"output_data\":", EncodeOutputData(*output), ",\"created_at\":\"", UtcText(record.created_at_ms),
                "\"", also, "}");
}

void AppendDamage(const std::vector<ChainDamage>& damage, client::Bson& json) {
  client::Bson rows;
  for (size_t i = 0; i < damage.size(); ++i) {
    client::Bson row;
    row.Integer("symbol_id", damage[i].chain).Integer("output_seq", damage[i].sequence).Text("what", damage[i].what);
    rows.Document(StrCat(i).c_str(), row);
  }
  json.Array("damage", rows);
}

void AppendVerification(const VerifyReport& report, client::Bson& json) {
  json.Bool("ok", report.ok())
      .Integer("symbols", report.chains)
      .Integer("records", report.records)
      .Integer("payload_bytes", report.payload_bytes)
      .Integer("damaged", report.damaged);
  AppendDamage(report.damage, json);
}

void AppendCheckpoints(const std::vector<StoredCheckpoint>& list, client::Bson& json) {
  client::Bson rows;
  for (size_t i = 0; i < list.size(); ++i) {
    client::Bson row;
    row.Integer("created_at_ms", list[i].created_at_ms)
        .Integer("output_seq", list[i].sequence)
        .Integer("symbols", list[i].chains)
        .Text("key_id", list[i].key_id);
    rows.Document(StrCat(i).c_str(), row);
  }
  json.Array("checkpoints", rows);
}

void AppendTotals(const Totals& totals, client::Bson& json) {
  for (size_t i = 0; i < kOutcomes; ++i) {
    const auto outcome = static_cast<Outcome>(i);
    json.Integer(std::string(NameOf(outcome)).c_str(), static_cast<int64_t>(totals[outcome]));
  }
}

}  // namespace braid::settlement
