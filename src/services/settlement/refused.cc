#include "services/settlement/refused.h"

#include "base/strings.h"
#include "braid/clock.h"
#include "client/handles.h"
#include "patterns/chains/hash.h"
#include "services/settlement/json_fields.h"

namespace braid::settlement {
namespace {

using client::Bson;

constexpr size_t kTextKeptMax = 64 * 1024;

// Bytes that are no UTF-8 cannot be a string of the store's.
void AppendLine(std::string_view text, Bson& fields) {
  const std::string_view kept = Shortened(text, kTextKeptMax);
  const bool readable = bson_utf8_validate(kept.data(), kept.size(), false);
  readable ? fields.Text("text", kept) : fields.Binary("text", kept);
}

std::string IdOf(const RefusedOutput& refused) {
  return chains::HexOf(HashChainRecord(
      {.sequence = static_cast<int64_t>(refused.line),
       .payload = StrCat(refused.source, "\n", refused.output_seq, "\n", refused.reason, "\n", refused.text)}));
}

}  // namespace

Status RefusedOutputs::Keep(const RefusedOutput& refused) {
  const ChainsOptions& options = chains_.options();
  const Clock& clock = options.clock != nullptr ? *options.clock : Clock::System();
  Bson fields;
  fields.Date("at", clock.NowMillis()).Text("file", refused.source);
  fields.Integer("line", static_cast<int64_t>(refused.line)).Text("reason", refused.reason);
  if (refused.output_seq > 0) fields.Integer("output_seq", refused.output_seq);
  Bson symbols;
  for (size_t i = 0; i < refused.symbols.size(); ++i) symbols.Integer(StrCat(i).c_str(), refused.symbols[i]);
  if (!refused.symbols.empty()) fields.Array("symbols", symbols);
  if (!refused.text.empty()) AppendLine(refused.text, fields);
  if (!refused.skipped.empty()) fields.Text("skipped", refused.skipped);
  Bson once;
  once.Integer("times", 1);
  Bson change;
  change.Document("$set", fields).Document("$inc", once);
  Bson filter;
  filter.Text("_id", IdOf(refused));
  Bson upsert;
  upsert.Bool("upsert", true);
  const Client client = chains_.clients().Acquire();
  const auto collection = client::CollectionOf(client.get(), options.database, CollectionOf(options));
  bson_error_t error{};
  const bool kept =
      mongoc_collection_update_one(collection.get(), filter.get(), change.get(), upsert.get(), nullptr, &error);
  return kept ? Status() : client::FromError(error);
}

Result<int64_t> RefusedOutputs::Count(Clients& clients, const ChainsOptions& log) {
  const Client client = clients.Acquire();
  const auto collection = client::CollectionOf(client.get(), log.database, CollectionOf(log));
  const Bson all;
  bson_error_t error{};
  const int64_t count =
      mongoc_collection_count_documents(collection.get(), all.get(), nullptr, nullptr, nullptr, &error);
  return count < 0 ? Result<int64_t>(client::FromError(error)) : Result<int64_t>(count);
}

}  // namespace braid::settlement
