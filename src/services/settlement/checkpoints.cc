#include "services/settlement/checkpoints.h"

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::settlement {
namespace {

using client::Bson;

// A document may have 16 MiB.
constexpr size_t kCheckpointBytesMax = (16u << 20) - 1024;

client::CollectionPtr CollectionOf(const Client& client, const ChainsOptions& options) {
  return client::CollectionOf(client.get(), options.database, options.log + "_checkpoints");
}

// Calls `each` with the documents, the newest first; all for limit 0.
template <typename Each>
Status Find(Clients& clients, const ChainsOptions& options, int64_t limit, bool with_text, Each each) {
  const Client client = clients.Acquire();
  const auto collection = CollectionOf(client, options);
  Bson sort;
  sort.Integer("created_at", -1).Integer("_id", -1);
  Bson opts;
  opts.Document("sort", sort);
  if (limit > 0) opts.Integer("limit", limit);
  Bson without_text;
  without_text.Integer("checkpoint", 0);
  if (!with_text) opts.Document("projection", without_text);
  const Bson all;
  const client::CursorPtr cursor(mongoc_collection_find_with_opts(collection.get(), all.get(), opts.get(), nullptr));
  const bson_t* document = nullptr;
  while (mongoc_cursor_next(cursor.get(), &document)) BRAID_CHECK_OK(each(*document));
  bson_error_t error;
  return mongoc_cursor_error(cursor.get(), &error) ? client::FromError(error) : Status();
}

}  // namespace

Result<Checkpoint> SignHeads(Chains& chains, const SigningKey& key, int64_t now_ms) {
  const ChainsOptions& options = chains.options();
  CheckpointInput input{.store = StrCat(options.database, ".", options.log), .created_at_ms = now_ms};
  BRAID_TRY(const std::vector<ChainHead> heads, chains.Heads());
  for (const ChainHead& head : heads) {
    if (head.sequence == 0) {  // halted before its first record, or what the head said is lost
      BRAID_TRY(const VerifyReport report, chains.Verify({.chains = {head.chain}}));
      if (report.ok()) continue;
    }
    bool found = false;
    BRAID_CHECK_OK(chains.Read(head.chain, head.sequence, [&](const ChainRecordView& record) -> Result<bool> {
      found = record.sequence == head.sequence && record.hash == head.hash;
      return false;
    }));
    if (!found) {
      return Status(Code::kRecordDamaged, StrCat("symbol ", head.chain, ": its head is output ", head.sequence,
                                                 " with a hash that the log does not have; braid settlement verify "
                                                 "says more"));
    }
    input.heads.push_back({head.chain, head.sequence, head.hash});
  }
  return MakeCheckpoint(std::move(input), key);
}

Status KeepCheckpoint(Clients& clients, const ChainsOptions& options, const Checkpoint& checkpoint) {
  const std::string text = ToJson(checkpoint);
  if (text.size() > kCheckpointBytesMax) {
    return Status(Code::kBSONObjectTooLarge,
                  StrCat("a checkpoint of ", text.size(), " bytes is too large for the store: keep it as a file"));
  }
  const SignedStatement& statement = checkpoint.statement;
  Bson document;
  document.Date("created_at", statement.created_at_ms)
      .Integer("sequence", statement.sequence)
      .Integer("chains", statement.chain_count)
      .Text("key_id", statement.key_id)
      .Text("checkpoint", text);
  const Client client = clients.Acquire();
  const auto collection = CollectionOf(client, options);
  bson_error_t error;
  const bool inserted = mongoc_collection_insert_one(collection.get(), document.get(), nullptr, nullptr, &error);
  return inserted ? Status() : client::FromError(error);
}

Result<std::vector<StoredCheckpoint>> ListCheckpoints(Clients& clients, const ChainsOptions& options) {
  std::vector<StoredCheckpoint> list;
  BRAID_CHECK_OK(Find(clients, options, 0, false, [&](const bson_t& document) {
    list.push_back({.created_at_ms = client::DateOf(&document, "created_at").value_or(0),
                    .sequence = client::IntegerOf(&document, "sequence"),
                    .chains = client::IntegerOf(&document, "chains"),
                    .key_id = std::string(client::TextOf(&document, "key_id"))});
    return Status();
  }));
  return list;
}

Result<std::optional<Checkpoint>> NewestCheckpoint(Clients& clients, const ChainsOptions& options) {
  std::optional<Checkpoint> newest;
  BRAID_CHECK_OK(Find(clients, options, 1, true, [&](const bson_t& document) -> Status {
    BRAID_TRY(newest, ParseCheckpoint(client::TextOf(&document, "checkpoint")));
    return {};
  }));
  return newest;
}

}  // namespace braid::settlement
