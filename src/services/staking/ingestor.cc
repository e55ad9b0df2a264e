#include "services/staking/ingestor.h"

#include <algorithm>
#include <functional>

#include "base/strings.h"
#include "services/staking/unprocessable.h"

namespace braid::staking {

// What one worker parsed, by the worker that will apply it.
struct Ingestor::Parsed {
  std::vector<Event> active;
  std::vector<Event> unbonded;
};

struct Ingestor::Worker {
  EventParser parser;
  std::unique_ptr<ShardLease> lease;
  std::vector<Parsed> parts;  // one for each worker
  std::vector<BadMessage> bad;
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
// hash. Two workers of this process then change no document both, while each has a shard of its own.
void Ingestor::Parse(std::span<const std::string_view> lines, Worker& worker) const {
  const std::hash<std::string> hash;
  worker.parts.assign(workers_.size(), Parsed());
  worker.bad.clear();
  for (const std::string_view line : lines) {
    Result<Event> event = worker.parser.Parse(line);
    if (!event.ok()) {
      worker.bad.push_back({.text = line, .reason = std::string(event.error().message())});
      continue;
    }
    const bool active = event->state == State::kActive;
    Parsed& part = worker.parts[hash(active ? event->staker : event->hash) % workers_.size()];
    (active ? part.active : part.unbonded).push_back(*std::move(event));
  }
}

Result<Outcome> Ingestor::Apply(std::span<const std::string_view> lines) {
  const size_t share = (lines.size() + workers_.size() - 1) / workers_.size();
  threads_.Run(workers_.size(), [&](size_t i) {
    const size_t begin = std::min(i * share, lines.size());
    Parse(lines.subspan(begin, std::min(share, lines.size() - begin)), *workers_[i]);
  });
  Outcome outcome;
  for (const auto& worker : workers_) {
    BRAID_CHECK_OK(Keep(clients_, tables_->database, worker->bad));
    outcome.rejected += worker->bad.size();
  }
  // Active events first: so an unbonded one of the same lines finds its delegation.
  BRAID_TRY(const Outcome active, ApplyParts(ApplyActive, State::kActive));
  BRAID_TRY(const Outcome unbonded, ApplyParts(ApplyUnbonded, State::kUnbonded));
  outcome += active;
  outcome += unbonded;
  return outcome;
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
    BRAID_TRY(const uint32_t shard, workers_[part]->lease->Shard());
    const TransactionOptions options{.database = tables_->database, .stop = options_.stop, .retries = &retries_};
    Outcome applied;
    const auto run = [&](ApplyBatch how) {
      return RunTransaction(clients_, options, [&](Transaction& transaction) -> Status {
        BRAID_TRY(applied, how(transaction, *tables_, shard, batch));
        return {};
      });
    };
    Status status = run(apply);
    if (status.code() == Code::kDuplicateKey && state == State::kActive) status = run(ApplyActiveLooking);
    BRAID_CHECK_OK(status);
    outcome += applied;
  }
  return {};
}

}  // namespace braid::staking
