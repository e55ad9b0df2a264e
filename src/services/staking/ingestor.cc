#include "services/staking/ingestor.h"

#include <algorithm>
#include <functional>

#include "base/assert.h"
#include "base/strings.h"

namespace braid::staking {
namespace {

constexpr size_t kBatch = 2000;

}  // namespace

// The events that one worker parsed, grouped by the worker that will apply them.
struct Ingestor::Parsed {
  std::vector<Event> active;
  std::vector<Event> unbonded;
};

struct Ingestor::Worker {
  EventParser parser;
  std::unique_ptr<ShardLease> lease;
  std::vector<Parsed> parts;  // one for each worker
  std::vector<Conflict> bad;
  std::vector<Conflict> conflicting;
};

Ingestor::Ingestor(Clients& clients, const IngestOptions& options, std::unique_ptr<Tables> tables)
    : clients_(clients), options_(options), tables_(std::move(tables)), threads_(options.workers - 1) {}
Ingestor::~Ingestor() = default;

Result<std::unique_ptr<Ingestor>> Ingestor::Open(Clients& clients, const IngestOptions& options) {
  if (options.workers < 1 || options.workers > 64) return Status(Code::kBadValue, "there are 1 to 64 workers");
  if (options.batch_events_max < 1 || options.batch_events_max > 20'000) {
    return Status(Code::kBadValue, "a batch has 1 to 20000 events");
  }
  BRAID_TRY(std::unique_ptr<Tables> tables, Tables::Open(clients, options.tables));
  std::unique_ptr<Ingestor> ingestor(new Ingestor(clients, options, std::move(tables)));
  for (size_t i = 0; i < options.workers; ++i) {
    auto worker = std::make_unique<Worker>();
    BRAID_TRY(worker->lease, ShardLease::Take(clients, {.database = options.tables.database,
                                                        .group = kLeaseGroup,
                                                        .shard_count = ingestor->tables_->overall->shard_count()}));
    ingestor->workers_.push_back(std::move(worker));
  }
  return ingestor;
}

// Active events go by staker, so that only one worker sees a staker's first; unbonded ones name no staker and go by
// hash. So no two workers of this process change the same document, as long as each has a shard of its own.
void Ingestor::Parse(std::span<const std::string_view> lines, size_t begin, size_t end, Worker& worker) const {
  BRAID_ASSERT(begin <= end && end <= lines.size());
  const std::hash<std::string> hash;
  worker.parts.assign(workers_.size(), Parsed());
  worker.bad.clear();
  worker.conflicting.clear();
  for (size_t i = begin; i < end; ++i) {
    Result<Event> event = worker.parser.Parse(lines[i]);
    if (!event.ok()) {
      worker.bad.push_back({.line = i, .reason = std::string(event.error().message())});
      continue;
    }
    event->line = i;
    const bool active = event->state == State::kActive;
    Parsed& part = worker.parts[hash(active ? event->staker : event->hash) % workers_.size()];
    (active ? part.active : part.unbonded).push_back(*std::move(event));
  }
}

Status Ingestor::KeepLines(std::vector<Conflict> Worker::*which, const char* collection,
                           std::span<const std::string_view> lines, const LineSource& source, uint64_t& count) {
  for (const auto& worker : workers_) {
    std::vector<BadMessage> messages;
    for (Conflict& kept : (*worker).*which) {
      BRAID_ASSERT(kept.line < lines.size());
      messages.push_back({.text = lines[kept.line],
                          .reason = std::move(kept.reason),
                          .file = source.file,
                          .line = kept.line < source.numbers.size() ? source.numbers[kept.line] : 0});
    }
    ((*worker).*which).clear();
    BRAID_CHECK_OK(Keep(clients_, tables_->database, collection, messages));
    count += messages.size();
    for (size_t i = 0; options_.on_kept && i < messages.size(); ++i) options_.on_kept(messages[i]);
  }
  return {};
}

Result<Outcome> Ingestor::Apply(std::span<const std::string_view> lines, const LineSource& source) {
  BRAID_ASSERT(!workers_.empty());
  const size_t share = (lines.size() + workers_.size() - 1) / workers_.size();
  threads_.Run(workers_.size(), [&](size_t i) {
    const size_t begin = std::min(i * share, lines.size());
    Parse(lines, begin, std::min(begin + share, lines.size()), *workers_[i]);
  });
  Outcome outcome;
  BRAID_CHECK_OK(KeepLines(&Worker::bad, kUnprocessable, lines, source, outcome.rejected));
  // Active events first: so an unbonded one of the same lines finds its delegation.
  BRAID_TRY(const Outcome active, ApplyParts(ApplyActive, State::kActive));
  BRAID_TRY(const Outcome unbonded, ApplyParts(ApplyUnbonded, State::kUnbonded));
  outcome += active;
  outcome += unbonded;
  // Events that would make a total overflow were found only now.
  BRAID_CHECK_OK(KeepLines(&Worker::bad, kUnprocessable, lines, source, outcome.rejected));
  uint64_t conflicting = 0;  // counted already
  BRAID_CHECK_OK(KeepLines(&Worker::conflicting, kConflicting, lines, source, conflicting));
  // Every line is counted exactly once.
  BRAID_ASSERT(outcome.accepted + outcome.duplicate + outcome.conflicting + outcome.parked + outcome.rejected ==
               lines.size());
  return outcome;
}

Status Ingestor::UpdateRankings() {
  BRAID_CHECK_OK(tables_->providers->UpdateRanking(clients_, options_.stop));
  return tables_->stakers->UpdateRanking(clients_, options_.stop);
}

Result<Outcome> Ingestor::ApplyParts(ApplyBatch apply, State state) {
  std::vector<Outcome> outcomes(workers_.size());
  std::vector<Status> statuses(workers_.size());
  threads_.Run(workers_.size(), [&](size_t part) { statuses[part] = ApplyPart(apply, state, part, outcomes[part]); });
  Outcome outcome;
  for (size_t i = 0; i < workers_.size(); ++i) {
    BRAID_CHECK_OK(statuses[i]);
    outcome += outcomes[i];
  }
  return outcome;
}

Status Ingestor::ApplyPart(ApplyBatch apply, State state, size_t part, Outcome& outcome) {
  BRAID_ASSERT(part < workers_.size());
  std::vector<Event> events;
  for (const auto& worker : workers_) {
    std::vector<Event>& from = state == State::kActive ? worker->parts[part].active : worker->parts[part].unbonded;
    std::move(from.begin(), from.end(), std::back_inserter(events));
  }
  // Neighbours in the store are read and written one after the other. Of equal events the first to come stays first.
  std::ranges::stable_sort(events, {}, &Event::hash);
  const std::span<const Event> all(events);
  for (size_t begin = 0; begin < all.size(); begin += options_.batch_events_max) {
    const auto batch = all.subspan(begin, std::min(options_.batch_events_max, all.size() - begin));
    BRAID_CHECK_OK(ApplyEvents(apply, state, batch, *workers_[part], outcome));
  }
  return {};
}

// Applies events in one transaction. If a total would overflow, splits them in halves, down to the events that cause it
// (A7).
Status Ingestor::ApplyEvents(ApplyBatch apply, State state, std::span<const Event> events, Worker& worker,
                             Outcome& outcome) {
  BRAID_ASSERT(!events.empty());
  BRAID_TRY(const uint32_t shard, worker.lease->Shard());
  BRAID_ASSERT(shard < tables_->overall->shard_count());
  const TransactionOptions options{.database = tables_->database, .stop = options_.stop, .retries = &retries_};
  Outcome applied;
  std::vector<Conflict> conflicts;
  const auto run = [&](ApplyBatch how) {
    return RunTransaction(clients_, options, [&](Transaction& transaction) -> Status {
      BRAID_TRY(applied, how(transaction, *tables_, shard, events, conflicts));
      return {};
    });
  };
  Status status = run(apply);
  if (status.code() == Code::kDuplicateKey && state == State::kActive) status = run(ApplyActiveLooking);
  if (status.code() == Code::kOverflow && events.size() > 1) {
    const size_t half = events.size() / 2;
    BRAID_CHECK_OK(ApplyEvents(apply, state, events.first(half), worker, outcome));
    return ApplyEvents(apply, state, events.subspan(half), worker, outcome);
  }
  if (status.code() == Code::kOverflow) {
    worker.bad.push_back({.line = events[0].line, .reason = std::string(status.message())});
    return {};
  }
  BRAID_CHECK_OK(status);
  outcome += applied;
  std::ranges::move(conflicts, std::back_inserter(worker.conflicting));
  return {};
}

Result<Outcome> Backfill(Clients& clients, const Tables& tables, const std::atomic<bool>& stop,
                         std::atomic<uint64_t>& done) {
  BRAID_TRY(const auto lease, ShardLease::Take(clients, {.database = tables.database,
                                                         .group = kLeaseGroup,
                                                         .shard_count = tables.overall->shard_count()}));
  Outcome outcome;
  BRAID_CHECK_OK(tables.locks.ForEachMissing(clients, tables.locks.all(), kBatch, [&](auto ids) -> Status {
    if (stop.load()) return Status(Code::kInterrupted, "interrupted; what was done stays done");
    std::vector<std::string> hashes;
    for (const std::string& id : ids) hashes.push_back(id.substr(0, id.find(':')));
    BRAID_TRY(const uint32_t shard, lease->Shard());
    Outcome applied;
    BRAID_CHECK_OK(
        RunTransaction(clients, {.database = tables.database, .stop = &stop}, [&](Transaction& transaction) -> Status {
          BRAID_TRY(applied, Resume(transaction, tables, shard, hashes));
          return {};
        }));
    outcome += applied;
    done += ids.size();
    return {};
  }));
  return outcome;
}

}  // namespace braid::staking
