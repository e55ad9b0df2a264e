#include "services/settlement/checkpoints.h"

#include <algorithm>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "patterns/chains/hash.h"
#include "patterns/chains/log.h"
#include "patterns/chains/segment.h"

namespace braid::settlement {
namespace {

using client::Bson;

const CheckpointHead* HeadOf(const Checkpoint& checkpoint, int64_t chain) {
  const auto head = std::lower_bound(checkpoint.heads.begin(), checkpoint.heads.end(), chain,
                                     [](const CheckpointHead& each, int64_t number) { return each.chain < number; });
  return head != checkpoint.heads.end() && head->chain == chain ? &*head : nullptr;
}

// The hash of the last record commits to all earlier ones; the tree must be the tree over exactly these records.
Status CompareTree(Chains& chains, const Checkpoint& checkpoint, const CheckpointHead& head,
                   std::vector<ChainDamage>& differences) {
  if (checkpoint.statement.version == 1) return {};
  const auto root = chains.RootAt(head.chain, head.records);
  if (!root.ok() && root.error().code() != Code::kRecordDamaged && root.error().code() != Code::kBadValue) {
    return root.error();
  }
  if (root.ok() && *root == head.tree) return {};
  const std::string got = root.ok() ? StrCat("got ", chains::HexOf(*root)) : std::string(root.error().message());
  differences.push_back({head.chain, head.sequence,
                         StrCat("the tree is not the checkpoint's: expected the root ", chains::HexOf(head.tree),
                                " over ", head.records, " records, ", got)});
  return {};
}

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

Result<std::optional<ChainHash>> HashAt(Clients& clients, const ChainsOptions& options, int64_t chain,
                                        int64_t sequence) {
  const Client client = clients.Acquire();
  std::optional<ChainHash> hash;
  BRAID_CHECK_OK(chains::FindSegments(client.get(), options, {.chain = chain, .from_sequence = sequence, .limit = 1},
                                      [&](const bson_t& document) -> Status {
                                        chains::Segment segment;
                                        BRAID_CHECK_OK(segment.Read(document));
                                        const ChainRecordView* record = segment.Find(sequence);
                                        if (record != nullptr) hash = record->hash;
                                        return {};
                                      }));
  return hash;
}

Result<std::vector<ChainDamage>> CompareWith(Chains& chains, const Checkpoint& checkpoint, const PublicKey& key) {
  BRAID_CHECK_OK(checkpoint.Verify(key));
  std::vector<ChainDamage> differences;
  for (const CheckpointHead& head : checkpoint.heads) {
    const auto found = HashAt(chains.clients(), chains.options(), head.chain, head.sequence);
    if (!found.ok() && found.error().code() != Code::kRecordDamaged) return found.error();
    if (found.ok() && *found == head.hash) {
      BRAID_CHECK_OK(CompareTree(chains, checkpoint, head, differences));
      continue;
    }
    const std::string got = !found.ok() ? std::string(found.error().message())
                            : *found    ? StrCat("got ", chains::HexOf(**found))
                                        : std::string("but there is no such record");
    differences.push_back(
        {head.chain, head.sequence,
         StrCat("history was changed after the checkpoint: expected hash ", chains::HexOf(head.hash), ", ", got)});
  }
  return differences;
}

Result<InclusionProof> Prove(Chains& chains, const Checkpoint& checkpoint, int64_t chain, int64_t sequence) {
  const CheckpointHead* head = HeadOf(checkpoint, chain);
  if (head == nullptr || head->sequence < sequence) {
    return Status(Code::kBadValue,
                  StrCat("the checkpoint does not reach to output ", sequence, " of symbol ", chain,
                         head == nullptr ? ": it has no such symbol" : StrCat(": it ends at ", head->sequence)));
  }
  if (checkpoint.statement.version == 1) {
    return Status(Code::kUnsupportedFormat,
                  "the checkpoint is of version 1, which has no trees to prove outputs with: braid settlement "
                  "checkpoint makes one that has them");
  }
  BRAID_TRY(ChainPlace place, chains.PlaceOf(chain, sequence, head->records));
  return MakeInclusionProof(checkpoint,
                            {.chain = chain,
                             .sequence = sequence,
                             .prev_hash = place.prev_hash,
                             .also = std::move(place.also),
                             .payload = std::move(place.payload)},
                            {.index = place.index, .path = std::move(place.path)}, HashOf);
}

Sha256Hash HashOf(const HashedFields& record) {
  return HashChainRecord({.chain = record.chain,
                          .sequence = record.sequence,
                          .prev_hash = record.prev_hash,
                          .also = record.also,
                          .payload = record.payload});
}

Result<Checkpoint> SignHeads(Chains& chains, const SigningKey& key, int64_t now_ms) {
  const ChainsOptions& options = chains.options();
  CheckpointInput input{.store = StrCat(options.database, ".", options.log), .created_at_ms = now_ms};
  BRAID_TRY(const std::vector<ChainHead> heads, chains.Heads());
  for (const ChainHead& head : heads) {
    if (head.sequence == 0) {  // halted before its first record, or the record that the head named is lost
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
    if (!head.tree) {
      return Status(Code::kIllegalOperation, StrCat("symbol ", head.chain,
                                                    " has no tree, since it was written before there were any: braid "
                                                    "settlement repair --tree makes one from the log"));
    }
    input.heads.push_back({head.chain, head.sequence, head.hash, head.records, head.tree->Root()});
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
  // Whatever the connection string says: a file that is written next must not know more than the store after a crash.
  const client::WriteConcernPtr durable(mongoc_write_concern_new());
  mongoc_write_concern_set_w(durable.get(), MONGOC_WRITE_CONCERN_W_MAJORITY);
  mongoc_write_concern_set_journal(durable.get(), true);
  Bson opts;
  mongoc_write_concern_append(durable.get(), opts.get());
  const bool inserted = mongoc_collection_insert_one(collection.get(), document.get(), opts.get(), nullptr, &error);
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
