// Ingestor: lines of events in, durable totals out.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/workers.h"
#include "services/staking/batch.h"

namespace braid::staking {

struct IngestOptions {
  Options tables;
  /// Transactions side by side, each with a logical shard of its own. Default 2, 1..64.
  size_t workers = 2;
  /// Events in one transaction at most: more is faster, until conflicts with other processes cost more to repeat.
  /// Default 5000, 1..20000.
  size_t batch_events_max = 5000;
  /// Ends the retries of a store that does not answer; may be null.
  const std::atomic<bool>* stop = nullptr;
};

/// One thread at a time; any number of ingestors, in any number of processes, may work on one store.
class Ingestor {
 public:
  static Result<std::unique_ptr<Ingestor>> Open(Clients& clients, const IngestOptions& options);
  ~Ingestor();

  /// OK: every line has had its effect exactly once, or is kept with the reason why not, durably. An error: some may
  /// have; give the same lines again. The order of the lines is that of their arrival, but it decides nothing: an
  /// unbonded event waits for its active.
  Result<Outcome> Apply(std::span<const std::string_view> lines);

  /// Transactions that were run again because of a conflict or a lost connection.
  uint64_t retries() const { return retries_; }
  const Tables& tables() const { return *tables_; }

 private:
  struct Parsed;
  struct Worker;
  using ApplyBatch = Result<Outcome> (*)(Transaction&, const Tables&, uint32_t shard, std::span<const Event>);
  Ingestor(Clients& clients, const IngestOptions& options, std::unique_ptr<Tables> tables);
  void Parse(std::span<const std::string_view> lines, Worker& worker) const;
  Result<Outcome> ApplyParts(ApplyBatch apply, State state);
  Status ApplyPart(ApplyBatch apply, State state, size_t part, Outcome& outcome);

  Clients& clients_;
  const IngestOptions options_;
  const std::unique_ptr<Tables> tables_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Workers threads_;
  std::atomic<uint64_t> retries_ = 0;
};

}  // namespace braid::staking
