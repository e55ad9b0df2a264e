// Grow(): plans and stores epochs in one transaction.
// An epoch that is too large for that is stored in several. The transaction of the plan only marks the head with
// `growing`, a number and a token. Each further one checks the token, stores some documents and changes the head, and
// the last one stores the record, moves the tip and removes the mark. Readers ignore what is beyond the tip. If a crash
// ends this, or another process grows or pops meanwhile, the mark becomes `removing` and the documents go (remove.cc);
// a Grow() that finds its token gone plans again.
#include "patterns/timeline/grow.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/assert.h"
#include "base/random.h"
#include "base/strings.h"
#include "braid/clock.h"
#include "client/handles.h"

namespace braid::timeline {
namespace {

using client::Bson;

// If epochs were popped and this one is not the one that was there, the reorganisation is recorded. Its time is its
// _id, so two of them are never recorded for the same millisecond.
Status RecordReorganisation(Transaction& transaction, const TimelineOptions& options, const EpochState& first,
                            Head& head) {
  if (!head.popped) return {};
  const Popped popped = *std::move(head.popped);
  head.popped.reset();
  if (first.number == popped.number && first.hash == popped.hash) return {};
  const Clock& clock = options.clock != nullptr ? *options.clock : Clock::System();
  head.reorganised = std::max(clock.NowMillis(), head.reorganised + 1);
  Bson record;
  record.Integer("_id", head.reorganised).Date("time", head.reorganised).Integer("depth", popped.depth);
  record.Integer("fork", head.tip.number).Integer("old_number", popped.old_number).Text("old_hash", popped.old_hash);
  record.Integer("new_number", first.number).Text("new_hash", first.hash);
  const bson_t* const records[] = {record.get()};
  return transaction.Insert(ReorganisationsOf(options), records);
}

constexpr std::chrono::milliseconds kLookAgain{10};

}  // namespace

Status Grower::Run(const TransactionBody& body) {
  return RunTransaction(clients_, {.database = options_.database, .stop = options_.stop}, body);
}

Result<Timeline::Grown> Grower::Grow(const Plan& plan) {
  while (true) {
    BRAID_CHECK_OK(CheckStop(options_));
    BRAID_CHECK_OK(Run([&](Transaction& transaction) { return PlanAndStore(transaction, plan); }));
    if (outcome_ == Outcome::kStored) return grown_;
    if (outcome_ == Outcome::kUnclean) {
      BRAID_CHECK_OK(AwaitOther());
      BRAID_CHECK_OK(Clean(clients_, options_));
      continue;
    }
    const Status stored = StoreParts();
    if (!stored.ok()) {  // a retryable error means that the store must recover first
      if (!IsRetryable(stored.code())) Clean(clients_, options_).Ignore("the next Grow() or PopTo() does it");
      return stored;
    }
    if (outcome_ == Outcome::kStored) return grown_;
    patience_ = backoff_.Next();
  }
}

// One run of the transaction that plans; sets outcome_ and, if that is kStored, grown_.
Status Grower::PlanAndStore(Transaction& transaction, const Plan& plan) {
  growth_.reset();
  BRAID_TRY(Head head, ReadHead(transaction, options_));
  if (!head.clean()) {
    outcome_ = Outcome::kUnclean;
    return {};
  }
  growth_.reset(new Growth(options_, transaction, head.tip));
  BRAID_CHECK_OK(plan(*growth_));
  BRAID_CHECK_OK(growth_->Seal());
  outcome_ = Outcome::kStored;
  grown_ = {.tip = head.tip};
  if (growth_->epochs_.empty()) return {};
  const size_t fitting = Fitting();
  if (fitting > 0) {
    BRAID_CHECK_OK(StoreTogether(transaction, fitting, head));
    grown_ = {.tip = std::move(head.tip), .epochs = static_cast<int64_t>(fitting)};
    return {};
  }
  outcome_ = Outcome::kTooLarge;
  token_ = StrCat(RandomSeed());
  head.growing = Growing{.epoch = growth_->epochs_.front()->state.number, .token = token_};
  return WriteHead(transaction, options_, head);
}

// How many of the epochs one transaction holds.
size_t Grower::Fitting() const {
  int64_t documents = 0;
  int64_t bytes = 0;
  size_t fitting = 0;
  for (const auto& epoch : growth_->epochs_) {
    documents += epoch->count;
    bytes += epoch->bytes;
    if (documents > options_.transaction_documents_max || bytes > options_.transaction_bytes_max) break;
    ++fitting;
  }
  return fitting;
}

Status Grower::StoreTogether(Transaction& transaction, size_t count, Head& head) {
  BRAID_ASSERT(count > 0 && count <= growth_->epochs_.size());
  const std::span<const std::unique_ptr<PlannedEpoch>> epochs(growth_->epochs_.data(), count);
  BRAID_ASSERT(head.tip.empty() || epochs.front()->state.number == head.tip.number + 1);  // Growth::Begin() ensures it
  std::vector<const bson_t*> documents;
  for (size_t i = 0; i < options_.collections.size(); ++i) {
    documents.clear();
    for (const auto& epoch : epochs) {
      documents.insert(documents.end(), epoch->documents[i].begin(), epoch->documents[i].end());
    }
    BRAID_CHECK_OK(transaction.Insert(options_.collections[i], documents));
  }
  std::vector<const EpochState*> states;
  for (const auto& epoch : epochs) states.push_back(&epoch->state);
  return MoveTip(transaction, states, head);
}

// Stores the records of epochs whose documents are stored, and makes the last one the tip.
Status Grower::MoveTip(Transaction& transaction, std::span<const EpochState* const> states, Head& head) const {
  BRAID_ASSERT(!states.empty());
  BRAID_CHECK_OK(InsertRecords(transaction, options_, states));
  BRAID_CHECK_OK(RecordReorganisation(transaction, options_, *states.front(), head));
  if (head.tip.empty()) {
    head.first = states.front()->number;
    head.final_epoch = -1;
  }
  head.tip = *states.back();
  head.final_epoch = std::max(head.final_epoch, head.tip.number - options_.history_epochs);
  head.growing.reset();
  return WriteHead(transaction, options_, head);
}

// The documents of an epoch, cut into pieces that one transaction each can store.
std::vector<Grower::Part> Grower::PartsOf(const PlannedEpoch& epoch) const {
  std::vector<Part> parts(1);
  int64_t documents = 0;
  int64_t bytes = 0;
  for (size_t i = 0; i < options_.collections.size(); ++i) {
    const std::vector<const bson_t*>& all = epoch.documents[i];
    size_t begin = 0;
    for (size_t end = 0; end < all.size(); ++end) {
      if (documents > 0 &&
          (documents == options_.transaction_documents_max || bytes + all[end]->len > options_.transaction_bytes_max)) {
        if (end > begin) parts.back().push_back({i, std::span(all).subspan(begin, end - begin)});
        parts.emplace_back();
        begin = end;
        documents = 0;
        bytes = 0;
      }
      ++documents;
      bytes += all[end]->len;
    }
    if (begin < all.size()) parts.back().push_back({i, std::span(all).subspan(begin)});
  }
  return parts;
}

// Sets outcome_ to kStored and grown_, or leaves both unchanged if another process took the mark away.
Status Grower::StoreParts() {
  BRAID_ASSERT(outcome_ == Outcome::kTooLarge && !growth_->epochs_.empty() && !token_.empty());
  const PlannedEpoch& epoch = *growth_->epochs_.front();
  const std::vector<Part> parts = PartsOf(epoch);
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool is_last = i + 1 == parts.size();
    bool lost = false;
    BRAID_CHECK_OK(CheckStop(options_));
    BRAID_CHECK_OK(Run([&](Transaction& transaction) -> Status {
      BRAID_TRY(Head head, ReadHead(transaction, options_));
      lost = !head.growing || head.growing->token != token_;
      if (lost) return {};
      for (const auto& [collection, documents] : parts[i]) {
        BRAID_CHECK_OK(transaction.Insert(options_.collections[collection], documents));
      }
      if (!is_last) {
        ++head.growing->parts;
        return WriteHead(transaction, options_, head);
      }
      const EpochState* const states[] = {&epoch.state};
      return MoveTip(transaction, states, head);
    }));
    if (lost) return {};
  }
  outcome_ = Outcome::kStored;
  grown_ = {.tip = epoch.state, .epochs = 1};
  return {};
}

// The first time it does not wait, because a mark is usually left by a crash. A Grow() that has lost its epoch to
// another one waits as long as the other makes progress; otherwise both would take the mark from each other forever.
Status Grower::AwaitOther() {
  if (patience_.count() == 0) return {};
  std::optional<Growing> seen;
  auto changed = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - changed < patience_) {
    std::optional<Growing> now;
    BRAID_CHECK_OK(CheckStop(options_));
    BRAID_CHECK_OK(Run([&](Transaction& transaction) -> Status {
      BRAID_TRY(const Head head, ReadHead(transaction, options_));
      now = head.growing;
      return {};
    }));
    if (!now) return {};
    if (!seen || seen->token != now->token || seen->parts != now->parts) changed = std::chrono::steady_clock::now();
    seen = std::move(now);
    std::this_thread::sleep_for(kLookAgain);
  }
  return {};
}

}  // namespace braid::timeline

namespace braid {

Result<Timeline::Grown> Timeline::Grow(const std::function<Status(Growth&)>& plan) {
  return timeline::Grower(clients_, options_).Grow(plan);
}

}  // namespace braid
