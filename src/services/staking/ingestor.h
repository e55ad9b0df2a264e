// Ingestor: turns lines of events into durable totals. Backfill: does the calculations that older delegations lack, on
// request (A4).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/workers.h"
#include "braid/clients.h"
#include "services/staking/batch.h"

namespace braid::staking {

/// A message that cannot be processed.
struct BadMessage {
  std::string_view text;
  std::string reason;
  std::string_view file;  // empty: none, such as a message of a queue
  uint64_t line = 0;      // of the file, from 1
};

/// Keeps messages that cannot be processed, with the reason (A7), in `collection` (unprocessable_messages or
/// conflicting_events): {_id: SHA-256 of the text, message, reason, file, line, bytes, received_at}. The same message
/// again is kept once. What is not UTF-8 is kept as binary; of a very long one, its first megabyte. OK: durable.
Status Keep(Clients& clients, const std::string& database, const std::string& collection,
            std::span<const BadMessage> messages);

struct IngestOptions {
  Options tables;
  /// Transactions side by side, each with a logical shard of its own. Default 2, 1..64.
  size_t workers = 2;
  /// The most events in one transaction: more is faster, until conflicts with other processes become too costly to
  /// repeat. Default 5000, 1..20000.
  size_t batch_events_max = 5000;
  /// Ends the retries of a store that does not answer; may be null.
  const std::atomic<bool>* stop = nullptr;
  /// Called, on the thread of Apply(), for each line that was kept as unprocessable or conflicting; may be empty.
  std::function<void(const BadMessage& message)> on_kept;
};

/// Where lines come from, so that those that are kept can be found again.
struct LineSource {
  std::string_view file;              // empty: no file
  std::span<const uint64_t> numbers;  // of each line, from 1
};

/// One thread at a time; any number of ingestors, in any number of processes, may work on one store.
class Ingestor {
 public:
  static Result<std::unique_ptr<Ingestor>> Open(Clients& clients, const IngestOptions& options);
  ~Ingestor();

  /// OK: every line has had its effect exactly once, or is kept with the reason why not, durably. After an error some
  /// lines may have had theirs; call it again with the same lines. The order of the lines is that of their arrival, but
  /// it decides nothing: an unbonded event waits for its active.
  Result<Outcome> Apply(std::span<const std::string_view> lines, const LineSource& source = {});

  /// Updates the rankings, so that a page of them is quick. They are correct without it, even if it fails: call it when
  /// there is nothing else to do.
  Status UpdateRankings();

  /// Transactions that were run again because of a conflict or a lost connection.
  uint64_t retries() const { return retries_; }
  const Tables& tables() const { return *tables_; }

 private:
  struct Parsed;
  struct Worker;
  using ApplyBatch = Result<Outcome> (*)(Transaction&, const Tables&, uint32_t shard, std::span<const Event>,
                                         std::vector<Conflict>&);
  Ingestor(Clients& clients, const IngestOptions& options, std::unique_ptr<Tables> tables);
  void Parse(std::span<const std::string_view> lines, size_t begin, size_t end, Worker& worker) const;
  Result<Outcome> ApplyParts(ApplyBatch apply, State state);
  Status ApplyPart(ApplyBatch apply, State state, size_t part, Outcome& outcome);
  Status ApplyEvents(ApplyBatch apply, State state, std::span<const Event> events, Worker& worker, Outcome& outcome);
  Status KeepLines(std::vector<Conflict> Worker::*which, const char* collection,
                   std::span<const std::string_view> lines, const LineSource& source, uint64_t& count);

  Clients& clients_;
  const IngestOptions options_;
  const std::unique_ptr<Tables> tables_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Workers threads_;
  std::atomic<uint64_t> retries_ = 0;
};

/// Does the missing calculations of every delegation in stats_lock: after a calculation was added, or after another
/// program was killed half-way. May run while others write, and again after a kill. `done` counts keys.
Result<Outcome> Backfill(Clients& clients, const Tables& tables, const std::atomic<bool>& stop,
                         std::atomic<uint64_t>& done);

}  // namespace braid::staking
