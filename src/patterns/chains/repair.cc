// Chains::Repair: how a halted chain goes on. Nothing else clears a halt, and what was done is kept (C4). A head or a
// tree that was lost is made again from the log, which is verified on the way.
#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "base/strings.h"
#include "braid/transaction.h"
#include "client/fields.h"
#include "patterns/chains/hash.h"
#include "patterns/chains/log.h"
#include "patterns/chains/parts.h"
#include "patterns/chains/stored_tree.h"
#include "patterns/chains/verify.h"

namespace braid {
namespace chains {
namespace {

using client::Bson;

constexpr size_t kNodesAtOnce = 1000;
// Each failed attempt means that others have appended, and the next attempt has less to read.
constexpr int kTreeAttemptsMax = 1000;
constexpr Code kMovedOn = Code::kConflictingOperationInProgress;

const char* NameOfRepair(RepairAction action) {
  switch (action) {
    case RepairAction::kResume: return "resume";
    case RepairAction::kSkip: return "skip";
    case RepairAction::kHeadFromLog: return "head_from_log";
    case RepairAction::kTreeFromLog: return "tree_from_log";
  }
  return "";
}

void AppendRepairedHead(const char* key, const std::optional<ChainHead>& head, Bson& to) {
  if (!head) {
    BSON_APPEND_NULL(to.get(), key);
    return;
  }
  Bson fields;
  fields.Integer("seq", head->sequence).Binary("hash", TextOf(head->hash)).Integer("records", head->records);
  to.Document(key, fields.Integer("epoch", head->epoch));
}

/// Adds the repair to <log>_repairs.
Status KeepRepair(Transaction& transaction, Parts& parts, const RepairOptions& options,
                  const std::optional<ChainHead>& before, const ChainHead& after) {
  Bson record;
  record.Integer("symbol_id", after.chain).Date("at", parts.clock.NowMillis()).Text("by", options.by);
  record.Text("reason", options.reason).Text("action", NameOfRepair(options.action));
  AppendRepairedHead("before", before, record);
  AppendRepairedHead("after", after, record);
  record.Text("halted", before ? before->halted : std::string());
  Bson skipped;
  for (size_t i = 0; before && i < before->awaits.size(); ++i) {
    skipped.Integer(StrCat(i).c_str(), before->awaits[i].sequence);
  }
  if (options.action == RepairAction::kSkip) record.Array("skipped", skipped);
  const bson_t* const documents[] = {record.get()};
  return transaction.Insert(parts.repairs, documents);
}

/// The end of a chain according to its log; all records before it were verified.
class LogTail {
 public:
  LogTail(Parts& parts, int64_t chain);
  /// Reads the new part of the log and stores the tree's nodes for it. The nodes depend on the records alone, so they
  /// may be stored before the head is updated. kRecordDamaged if the log does not verify.
  Status ReadOn();
  ChainHead Head() const;

 private:
  Parts& parts_;
  const int64_t chain_;
  std::optional<ChainDamage> damage_;
  ChainVerifier verifier_;
  size_t nodes_stored_ = 0;
};

LogTail::LogTail(Parts& parts, int64_t chain)
    : parts_(parts), chain_(chain), verifier_(chain, false, [this](ChainDamage damage) {
        if (!damage_) damage_ = std::move(damage);
      }) {
  verifier_.MakeTree();
}

Status LogTail::ReadOn() {
  const int64_t from = verifier_.records() == 0 ? 0 : verifier_.last_sequence() + 1;
  {
    const Client client = parts_.clients.Acquire();
    BRAID_CHECK_OK(FindSegments(client.get(), parts_.options, {.chain = chain_, .from_sequence = from},
                                [&](const bson_t& document) {
                                  verifier_.Add(document);
                                  return Status();
                                }));
  }
  if (damage_) {
    return Status(Code::kRecordDamaged, StrCat("chain ", chain_, ", sequence ", damage_->sequence, ": ", damage_->what,
                                               "; head and tree cannot be taken from a damaged log"));
  }
  while (nodes_stored_ < verifier_.nodes().size()) {
    const size_t count = std::min(kNodesAtOnce, verifier_.nodes().size() - nodes_stored_);
    const std::span<const ChainTreeNode> nodes = std::span(verifier_.nodes()).subspan(nodes_stored_, count);
    BRAID_CHECK_OK(RunTransaction(parts_.clients, {.database = parts_.options.database}, [&](Transaction& transaction) {
      return PutNodes(transaction, parts_.tree, chain_, nodes);
    }));
    nodes_stored_ += count;
  }
  return {};
}

ChainHead LogTail::Head() const {
  return {.chain = chain_,
          .sequence = verifier_.last_sequence(),
          .hash = verifier_.last_hash(),
          .records = verifier_.records(),
          .tree = verifier_.tree()};
}

// The head gets the tree if the chain still ends where the reading of the log ended.
Status SetTree(Transaction& transaction, Parts& parts, const RepairOptions& options, const ChainHead& from_log) {
  Bson by_chain;
  by_chain.Integer("_id", from_log.chain);
  std::optional<ChainHead> before;
  BRAID_CHECK_OK(transaction.Find(parts.heads, by_chain.get(), [&](const bson_t& document) -> Status {
    BRAID_TRY(before, HeadOf(document));
    return {};
  }));
  if (!before || before->sequence != from_log.sequence || before->hash != from_log.hash) {
    return Status(kMovedOn, StrCat("chain ", from_log.chain,
                                   " does not end where its log does: its head has to be taken from the log"));
  }
  ChainHead after = *before;
  after.tree = from_log.tree;
  Bson fields;
  AppendTree(after, fields);
  Bson change;
  change.Document("$set", fields);
  const Transaction::Update update{.filter = by_chain.get(), .change = change.get()};
  BRAID_CHECK_OK(transaction.UpdateOnes(parts.heads, {&update, 1}));
  BRAID_CHECK_OK(RemoveNodesPast(transaction, parts.tree, after.chain, after.records));
  return KeepRepair(transaction, parts, options, before, after);
}

/// RepairAction::kTreeFromLog.
Status TreeFromLog(Parts& parts, int64_t chain, const RepairOptions& options) {
  LogTail tail(parts, chain);
  Status status;
  for (int attempt = 0; attempt < kTreeAttemptsMax; ++attempt) {
    const int64_t read = tail.Head().sequence;
    BRAID_CHECK_OK(tail.ReadOn());
    status = RunTransaction(parts.clients, {.database = parts.options.database}, [&](Transaction& transaction) {
      return SetTree(transaction, parts, options, tail.Head());
    });
    const bool may_move = attempt == 0 || tail.Head().sequence != read;
    if (status.code() != kMovedOn || !may_move) return status;
  }
  return status;
}

Status OnlyAwaits(const ChainHead& head) {
  const AwaitedRecord& first = head.awaits.front();
  const std::string what = first.held_by ? StrCat("; chain ", *first.held_by, " has to be repaired first") : "";
  return Status(Code::kIllegalOperation, StrCat("chain ", head.chain, " waits for sequence ", first.sequence, " (",
                                                first.why, ") and continues by itself when that is appended", what,
                                                "; to continue without it, the repair has to give it up (skip)"));
}

/// The head's document as it is; null if there is none.
Result<client::BsonPtr> DocumentOf(Parts& parts, int64_t chain) {
  Bson filter;
  filter.Integer("_id", chain);
  const Bson opts;
  const Client client = parts.clients.Acquire();
  client::BsonPtr head;
  BRAID_CHECK_OK(Find(client::CollectionOf(client.get(), parts.options.database, parts.heads), filter, opts,
                      [&](const bson_t& document) {
                        head.reset(bson_copy(&document));
                        return Status();
                      }));
  return head;
}

class Repairing {
 public:
  Repairing(Parts& parts, int64_t chain, const RepairOptions& options)
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
      auto head = HeadOf(document);
      why_none = head.status();
      if (head.ok()) before = *std::move(head);
      return Status();
    }));
    // A lost head has lost its epoch: the lease's epoch keeps the fence where it was.
    BRAID_CHECK_OK(transaction.Find(parts_.leases, by_chain_.get(), [&](const bson_t& document) {
      epoch = std::max(epoch, client::IntegerOf(&document, "epoch"));
      return Status();
    }));
    ChainHead after;
    if (from_log) {
      // The log may have grown since it was read. The head must not move back, or records would be lost.
      if (moved) {
        return Status(Code::kConflictingOperationInProgress,
                      StrCat("chain ", chain_, " was written to meanwhile; its head is not taken from the log"));
      }
      after = *from_log;
      after.epoch = epoch;
      if (before) after.awaits = before->awaits;
      ForgetPassed(after);
    } else {
      if (!before) return why_none.CausedBy(StrCat("chain ", chain_, " cannot continue, take its head from the log"));
      if (before->halted.empty()) return Status(Code::kIllegalOperation, StrCat("chain ", chain_, " is not halted"));
      if (!before->broken && options_.action == RepairAction::kResume) return OnlyAwaits(*before);
      after = *before;
      if (options_.action == RepairAction::kSkip) after.awaits.clear();
    }
    ++after.halt_changes;
    Mend(after);
    BRAID_CHECK_OK(PutHead(transaction, after));
    if (from_log) BRAID_CHECK_OK(RemoveNodesPast(transaction, parts_.tree, chain_, after.records));
    return KeepRepair(transaction, parts_, options_, before, after);
  }

 private:
  Status PutHead(Transaction& transaction, const ChainHead& head) {
    Bson fields;
    fields.Integer("seq", head.sequence).Binary("hash", TextOf(head.hash));
    fields.Integer("records", head.records).Integer("epoch", head.epoch);
    AppendTree(head, fields);
    if (!head.halted.empty()) AppendHalt(head, parts_.clock.NowMillis(), fields);
    Bson change;
    change.Document("$set", fields);
    Bson halted;
    if (head.halted.empty()) change.Document("$unset", halted.Bool("halted", true));
    const Transaction::Update update{.filter = by_chain_.get(), .change = change.get(), .upsert = true};
    return transaction.UpdateOnes(parts_.heads, {&update, 1}).status();
  }

  Parts& parts_;
  const int64_t chain_;
  const RepairOptions& options_;
  Bson by_chain_;
};

}  // namespace
}  // namespace chains

Status Chains::Repair(int64_t chain, const RepairOptions& options) {
  if (options.by.empty() || options.reason.empty()) {
    return Status(Code::kBadValue, "a repair needs to be told by whom and for what reason");
  }
  chains::ChainState& state = parts_->StateOf(chain);
  const std::lock_guard lock(state.mu);
  state.known = false;
  if (options.action == RepairAction::kTreeFromLog) return chains::TreeFromLog(*parts_, chain, options);
  std::optional<ChainHead> from_log;
  client::BsonPtr seen;
  if (options.action == RepairAction::kHeadFromLog) {
    BRAID_TRY(seen, chains::DocumentOf(*parts_, chain));
    chains::LogTail tail(*parts_, chain);
    BRAID_CHECK_OK(tail.ReadOn());
    from_log = tail.Head();
  }
  return RunTransaction(parts_->clients, {.database = parts_->options.database}, [&](Transaction& transaction) {
    return chains::Repairing(*parts_, chain, options).Run(transaction, from_log, seen.get());
  });
}

}  // namespace braid
