// Removing epochs: Clean() removes what is beyond the tip in as many transactions as it takes. PopTo() removes the
// newest epochs, each in one transaction; the documents of an epoch that is too large are removed by further
// transactions: they are beyond the tip by then, and invisible.
#include "patterns/timeline/grow.h"

#include <algorithm>

#include "base/assert.h"
#include "base/strings.h"
#include "client/handles.h"

namespace braid::timeline {
namespace {

using client::Bson;

constexpr int64_t kIdsMax = 10'000;  // of one command, so that it is no larger than a message may be

// Removes up to `limit` documents of the epoch from a collection and says how many there were.
Result<int64_t> RemoveSome(Transaction& transaction, const std::string& collection, int64_t epoch, int64_t limit) {
  Bson filter;
  filter.Integer("epoch", epoch);
  Bson by_epoch;
  by_epoch.Integer("epoch", 1);
  Bson only_id;
  only_id.Integer("_id", 1);
  Bson ids;
  int64_t count = 0;
  const Transaction::FindOptions options{.projection = only_id.get(), .limit = limit, .hint = by_epoch.get()};
  BRAID_CHECK_OK(transaction.Find(collection, filter.get(), options, [&](const bson_t& document) {
    bson_iter_t id;
    if (bson_iter_init_find(&id, &document, "_id")) {
      bson_append_iter(ids.get(), StrCat(count++).c_str(), -1, &id);
    }
    return Status();
  }));
  if (count == 0) return count;
  Bson among;
  among.Array("$in", ids);
  Bson doomed;
  doomed.Document("_id", among).Integer("epoch", epoch);
  BRAID_CHECK_OK(transaction.Remove(collection, doomed.get()));
  return count;
}

// True if all documents of the epoch are removed; false if this transaction has removed as many as it may.
Result<bool> RemovePart(Transaction& transaction, const TimelineOptions& options, int64_t epoch) {
  int64_t left = options.transaction_documents_max;
  for (const std::string& collection : options.collections) {
    while (true) {
      if (left == 0) return false;
      const int64_t limit = std::min(left, kIdsMax);
      BRAID_TRY(const int64_t removed, RemoveSome(transaction, collection, epoch, limit));
      left -= removed;
      if (removed < limit) break;
    }
  }
  return true;
}

enum class PopOutcome {
  kReached,  // the tip is where it should be
  kPopped,   // one epoch nearer
  kUnclean,  // something has to be removed first
};

// One below the first epoch: the tip of an empty chain.
int64_t BelowAll(const Head& head) { return head.first < 0 ? -1 : head.first - 1; }

Status CheckTarget(const Head& head, int64_t number) {
  const int64_t tip = head.tip.empty() ? BelowAll(head) : head.tip.number;
  if (number > tip || number < BelowAll(head)) {
    return Status(Code::kBadValue, StrCat("cannot pop to epoch ", number, ": the tip is ", tip, " and the first epoch ",
                                          BelowAll(head) + 1));
  }
  if (number < tip && number < head.final_epoch) {
    return Status(Code::kTimelineFinal,
                  StrCat("cannot pop to epoch ", number, ": epoch ", head.final_epoch, " and all before it are final"));
  }
  return {};
}

void NotePop(Head& head) {
  if (!head.popped) head.popped = Popped{.old_number = head.tip.number, .old_hash = head.tip.hash};
  ++head.popped->depth;
  head.popped->number = head.tip.number;
  head.popped->hash = head.tip.hash;
}

Status PopTip(Transaction& transaction, const TimelineOptions& options, Head& head) {
  BRAID_ASSERT(head.clean() && !head.tip.empty());
  const int64_t number = head.tip.number;
  EpochState before;
  if (number > head.first) {
    BRAID_TRY(before, ReadRecord(transaction, options, number - 1));
    if (before.empty()) {
      return Status(Code::kRecordDamaged, StrCat(options.database, ".", EpochsOf(options), ": the record of epoch ",
                                                 number - 1, " is missing"));
    }
  }
  if (head.tip.documents > options.transaction_documents_max) {
    head.removing = number;
  } else {
    BRAID_CHECK_OK(RemoveEpoch(transaction, options, number));
  }
  Bson record;
  record.Integer("_id", number);
  BRAID_CHECK_OK(transaction.Remove(EpochsOf(options), record.get()));
  NotePop(head);
  head.tip = std::move(before);
  return WriteHead(transaction, options, head);
}

}  // namespace

Status RemoveEpoch(Transaction& transaction, const TimelineOptions& options, int64_t epoch) {
  Bson filter;
  filter.Integer("epoch", epoch);
  for (const std::string& collection : options.collections) {
    BRAID_CHECK_OK(transaction.Remove(collection, filter.get()));
  }
  return {};
}

Status Clean(Clients& clients, const TimelineOptions& options) {
  bool clean = false;
  while (!clean) {
    BRAID_CHECK_OK(CheckStop(options));
    const TransactionOptions how{.database = options.database, .stop = options.stop};
    BRAID_CHECK_OK(RunTransaction(clients, how, [&](Transaction& transaction) -> Status {
      BRAID_TRY(Head head, ReadHead(transaction, options));
      clean = head.clean();
      if (clean) return {};
      if (head.growing) head.removing = head.growing->epoch;  // its Grow() finds its token gone, or collides with this
      head.growing.reset();
      BRAID_TRY(clean, RemovePart(transaction, options, *head.removing));
      if (clean) head.removing.reset();
      return WriteHead(transaction, options, head);
    }));
  }
  return {};
}

}  // namespace braid::timeline

namespace braid {

Result<EpochState> Timeline::PopTo(int64_t number) {
  using timeline::PopOutcome;
  EpochState tip;
  auto outcome = PopOutcome::kPopped;
  const TransactionOptions how{.database = options_.database, .stop = options_.stop};
  while (outcome != PopOutcome::kReached) {
    BRAID_CHECK_OK(timeline::CheckStop(options_));
    BRAID_CHECK_OK(RunTransaction(clients_, how, [&](Transaction& transaction) -> Status {
      BRAID_TRY(timeline::Head head, timeline::ReadHead(transaction, options_));
      outcome = PopOutcome::kUnclean;
      if (!head.clean()) return {};
      BRAID_CHECK_OK(timeline::CheckTarget(head, number));
      outcome = PopOutcome::kReached;
      tip = head.tip;
      if (head.tip.empty() || head.tip.number == number) return {};
      BRAID_CHECK_OK(timeline::PopTip(transaction, options_, head));
      const bool further = !head.tip.empty() && head.tip.number > number;
      outcome = !head.clean() ? PopOutcome::kUnclean : further ? PopOutcome::kPopped : PopOutcome::kReached;
      tip = std::move(head.tip);
      return {};
    }));
    if (outcome == PopOutcome::kUnclean) BRAID_CHECK_OK(timeline::Clean(clients_, options_));
  }
  return tip;
}

}  // namespace braid
