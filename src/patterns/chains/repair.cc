// Chains::Repair: how a halted chain goes on. Nothing else clears a halt, and what was done is kept (C4).
#include <optional>

#include "base/strings.h"
#include "client/fields.h"
#include "patterns/chains/hash.h"
#include "patterns/chains/log.h"
#include "patterns/chains/parts.h"
#include "patterns/chains/verify.h"

namespace braid {

using client::Bson;

namespace {

const char* NameOf(RepairAction action) { return action == RepairAction::kResume ? "resume" : "head_from_log"; }

void AppendHead(const char* key, const std::optional<ChainHead>& head, Bson& to) {
  if (!head) {
    BSON_APPEND_NULL(to.get(), key);
    return;
  }
  Bson fields;
  fields.Integer("seq", head->sequence).Binary("hash", chains::TextOf(head->hash)).Integer("records", head->records);
  to.Document(key, fields.Integer("epoch", head->epoch));
}

/// The head's document as it is; null if there is none.
Result<client::BsonPtr> DocumentOf(chains::Parts& parts, int64_t chain) {
  Bson filter;
  filter.Integer("_id", chain);
  const Bson opts;
  const Client client = parts.clients.Acquire();
  client::BsonPtr head;
  BRAID_CHECK_OK(chains::Find(client::CollectionOf(client.get(), parts.options.database, parts.heads), filter, opts,
                              [&](const bson_t& document) {
                                head.reset(bson_copy(&document));
                                return Status();
                              }));
  return head;
}

// What the log says the head is; kRecordDamaged if the log itself is not sound.
Result<ChainHead> HeadFromLog(chains::Parts& parts, int64_t chain) {
  std::optional<ChainDamage> first;
  chains::ChainVerifier verifier(chain, false, [&](ChainDamage damage) {
    if (!first) first = std::move(damage);
  });
  const Client client = parts.clients.Acquire();
  BRAID_CHECK_OK(chains::FindSegments(client.get(), parts.options, {.chain = chain}, [&](const bson_t& document) {
    verifier.Add(document);
    return Status();
  }));
  if (first) {
    return Status(Code::kRecordDamaged, StrCat("chain ", chain, ", sequence ", first->sequence, ": ", first->what,
                                               "; the head cannot be taken from a damaged log"));
  }
  return ChainHead{.chain = chain,
                   .sequence = verifier.last_sequence(),
                   .hash = verifier.last_hash(),
                   .records = verifier.records()};
}

class Repairing {
 public:
  Repairing(chains::Parts& parts, int64_t chain, const RepairOptions& options)
      : parts_(parts), chain_(chain), options_(options) {
    by_chain_.Integer("_id", chain);
  }

  /// `seen`: the head's document before the log was read, null if there was none.
  Status Run(Transaction& transaction, const std::optional<ChainHead>& from_log, const bson_t* seen) {
    std::optional<ChainHead> before;
    Status why_none(Code::kRecordDamaged, "there is no head");
    int64_t epoch = 0;
    bool moved = seen != nullptr;
    BRAID_CHECK_OK(transaction.Find(parts_.heads, by_chain_.get(), [&](const bson_t& document) {
      moved = seen == nullptr || !bson_equal(seen, &document);
      epoch = client::IntegerOf(&document, "epoch");
      auto head = chains::HeadOf(document);
      why_none = head.status();
      if (head.ok()) before = *std::move(head);
      return Status();
    }));
    // A lost head loses its epoch: the lease's keeps the fence where it was.
    BRAID_CHECK_OK(transaction.Find(parts_.leases, by_chain_.get(), [&](const bson_t& document) {
      epoch = std::max(epoch, client::IntegerOf(&document, "epoch"));
      return Status();
    }));
    ChainHead after;
    if (from_log) {
      // The log may have grown since it was read. The head must not go back: records would be forgotten.
      if (moved) {
        return Status(Code::kConflictingOperationInProgress,
                      StrCat("chain ", chain_, " was written to meanwhile; its head is not taken from the log"));
      }
      after = *from_log;
      after.epoch = epoch;
    } else {
      if (!before) return why_none.CausedBy(StrCat("chain ", chain_, " cannot go on, take its head from the log"));
      if (before->halted.empty()) return Status(Code::kIllegalOperation, StrCat("chain ", chain_, " is not halted"));
      after = *before;
    }
    after.halted.clear();
    BRAID_CHECK_OK(PutHead(transaction, after));
    return Record(transaction, before, after);
  }

 private:
  Status PutHead(Transaction& transaction, const ChainHead& head) {
    Bson fields;
    fields.Integer("seq", head.sequence).Binary("hash", chains::TextOf(head.hash));
    fields.Integer("records", head.records).Integer("epoch", head.epoch);
    Bson halted;
    halted.Bool("halted", true);
    Bson change;
    change.Document("$set", fields).Document("$unset", halted);
    const Transaction::Update update{.filter = by_chain_.get(), .change = change.get(), .upsert = true};
    return transaction.UpdateOnes(parts_.heads, {&update, 1}).status();
  }

  Status Record(Transaction& transaction, const std::optional<ChainHead>& before, const ChainHead& after) {
    Bson record;
    record.Integer("symbol_id", chain_).Date("at", parts_.clock.NowMillis()).Text("by", options_.by);
    record.Text("reason", options_.reason).Text("action", NameOf(options_.action));
    AppendHead("before", before, record);
    AppendHead("after", after, record);
    record.Text("halted", before ? before->halted : std::string());
    const bson_t* const documents[] = {record.get()};
    return transaction.Insert(parts_.repairs, documents);
  }

  chains::Parts& parts_;
  const int64_t chain_;
  const RepairOptions& options_;
  Bson by_chain_;
};

}  // namespace

Status Chains::Repair(int64_t chain, const RepairOptions& options) {
  if (options.by.empty() || options.reason.empty()) {
    return Status(Code::kBadValue, "a repair needs to be told by whom and for what reason");
  }
  chains::ChainState& state = parts_->StateOf(chain);
  const std::lock_guard lock(state.mu);
  state.known = false;
  std::optional<ChainHead> from_log;
  client::BsonPtr seen;
  if (options.action == RepairAction::kHeadFromLog) {
    BRAID_TRY(seen, DocumentOf(*parts_, chain));
    BRAID_TRY(from_log, HeadFromLog(*parts_, chain));
  }
  return RunTransaction(parts_->clients, {.database = parts_->options.database}, [&](Transaction& transaction) {
    return Repairing(*parts_, chain, options).Run(transaction, from_log, seen.get());
  });
}

}  // namespace braid
