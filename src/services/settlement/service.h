// Settlement: outputs of matching engines into the chains of their symbols (C3, C4, C9, C10).
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "braid/chains.h"
#include "services/schema/schema.h"
#include "services/settlement/leases.h"
#include "services/settlement/output.h"
#include "services/settlement/refused.h"

namespace braid::settlement {

struct Options {
  std::string database = "settlement";
  std::string log = "engine_output_log";
  /// The unique name of this service among those that share the store; empty if it is the only one.
  std::string owner;
  /// The most symbols that a service with an owner takes; outputs of other symbols are answered kElsewhere. 0: no
  /// limit.
  uint32_t leases_max = 0;
  /// How long other services must wait for its symbols after it was killed. Default 10 s.
  std::chrono::milliseconds lease_ttl{10'000};
  /// If not empty, lines that are not outputs are skipped: this reason is kept with each of them, and nothing waits for
  /// them. If empty, their symbols accept nothing later until such lines are corrected.
  std::string skip_refused;
  /// Threads, batches, queues.
  ChainWritersOptions writers;

  ChainsOptions ToChains() const;
};

/// The result for an output; the numbers are those of the TCP stream.
enum class Outcome : uint8_t {
  kAccepted = 0,   ///< durable now
  kDuplicate = 1,  ///< was stored already
  kRefused = 2,    ///< not an output, or it does not follow its chain's head; its chains are halted now
  kHalted = 3,     ///< its chain was halted before, or waits for an output that was held back
  kElsewhere = 4,  ///< its symbol is leased to another service
  kFailed = 5,     ///< the store failed; whether it is stored is not known
};
inline constexpr size_t kOutcomes = 6;
/// "accepted", "duplicate", …
std::string_view NameOf(Outcome outcome);

struct Answer {
  uint64_t number = 0;     ///< of the line among those of its intake, from 1
  uint64_t line = 0;       ///< what its source calls it: the number of the line in a file, of the message otherwise
  int64_t output_seq = 0;  ///< 0 if the line could not be read
  int64_t symbol_id = 0;
  Outcome outcome = Outcome::kFailed;
  ChainHash hash{};  ///< of the stored record in the chain of symbol_id, if accepted or duplicate
  Status status;     ///< why not
};

/// How many of each outcome.
struct Totals {
  std::array<uint64_t, kOutcomes> counts{};
  uint64_t operator[](Outcome outcome) const { return counts[static_cast<size_t>(outcome)]; }
  uint64_t sum() const;
  /// Whether every output is in the log.
  bool all_stored() const { return (*this)[Outcome::kAccepted] + (*this)[Outcome::kDuplicate] == sum(); }
};

class Intake;

/// The service over one store. Any thread. The Clients must outlive it.
class Settlement {
 public:
  static Result<std::unique_ptr<Settlement>> Open(Clients& clients, const Options& options);
  /// Stop().
  ~Settlement();
  Settlement(const Settlement&) = delete;
  Settlement& operator=(const Settlement&) = delete;

  /// Commits what is queued, ends the writers and gives the leases back. Every Intake must be gone.
  Status Stop();
  Chains& chains() { return *chains_; }
  ChainWriters& writers() { return *writers_; }

 private:
  friend class Intake;
  Settlement(std::unique_ptr<Chains> chains, const Options& options)
      : chains_(std::move(chains)),
        skip_refused_(options.skip_refused),
        leases_(*chains_, options.leases_max),
        refused_(*chains_),
        unplaced_(*chains_) {}

  const std::unique_ptr<Chains> chains_;
  const std::string skip_refused_;
  SymbolLeases leases_;
  RefusedOutputs refused_;
  UnplacedLines unplaced_;
  std::unique_ptr<ChainWriters> writers_;
};

/// One source of outputs: a file, or a connection. Outputs of one symbol are appended in the order of Submit(). Once an
/// output is answered kElsewhere, so are all later ones of its symbols from this intake, even if the lease comes free
/// meanwhile: what was refused would be missing between them. The same holds for kFailed, if the store failed when it
/// was asked for the lease. A new intake, which begins where the log ends, tries again. A line that is no output is
/// kept (RefusedOutputs), and its symbols wait for it to be corrected. If its symbols cannot be told, all later lines
/// of this intake are answered kHalted, and every intake takes nothing new until the line is settled (UnplacedLines).
/// One thread submits; totals() any.
class Intake {
 public:
  /// Called once for each line, on any thread and in any order; it must not wait for other answers.
  using OnAnswer = std::function<void(const Answer&)>;

  /// Whether the source's name and the number of a line say which line it is, also when it is given again.
  enum class Source { kStream, kFile };
  /// `source`: what is kept with an output that was refused, such as the name of a file.
  Intake(Settlement& settlement, OnAnswer on_answer, std::string source = "", Source kind = Source::kStream)
      : settlement_(settlement), on_answer_(std::move(on_answer)), source_(std::move(source)), kind_(kind) {}
  /// Waits for the answers.
  ~Intake() { Flush(); }
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  /// Reads a line of F2 and queues it; waits while there is no room. `line_number`: what its source calls it, if that
  /// is not its number among those submitted, as in a file with empty lines.
  void Submit(std::string_view line, std::optional<uint64_t> line_number = std::nullopt);
  /// Returns when all is answered.
  void Flush() { AwaitAnswers(submitted_); }
  Totals totals() const;
  /// OK, or why this intake accepts nothing more: a line that was not an output and could belong to any symbol. Only
  /// for the submitting thread.
  const Status& stopped() const { return stopped_; }

 private:
  void Refuse(std::string_view line, Answer answer, const Status& why);
  void HoldBack(const Answer& answer, const Status& why);
  void QueueBehindUnplaced(ChainRecord record, Answer answer);
  void Settle(const UnplacedLine& line);
  void AwaitAnswers(uint64_t count);
  UnplacedLine PlaceOf(const Answer& answer) const { return {.source = source_, .line = answer.line}; }
  void Queue(ChainRecord record, Answer answer, const Status& refused = Status());
  void KeepBroken(const Answer& answer, const std::vector<int64_t>& symbols, const Status& why);
  void Finish(Answer answer, const Status& status);
  Status WhyGone(const std::vector<int64_t>& symbols);
  void SetGone(const std::vector<int64_t>& symbols, const Status& why);

  Settlement& settlement_;
  const OnAnswer on_answer_;
  const std::string source_;
  const Source kind_;
  OutputParser parser_;
  Status stopped_;
  uint64_t submitted_ = 0;
  uint64_t known_ = 0;           // of these, outputs that were stored before, counted while there are unplaced lines
  bool asked_unplaced_ = false;  // whether the store was asked for unplaced lines
  std::array<std::atomic<uint64_t>, kOutcomes> counts_{};
  Mutex mu_;
  CondVar idle_;
  uint64_t answered_ BRAID_GUARDED_BY(mu_) = 0;
  std::map<int64_t, Code> gone_
      BRAID_GUARDED_BY(mu_);  // symbols with an output that later ones must wait for, and why it was not accepted
};

/// The specification of the log's collections. As Chains::Open() creates them for the default name of the log (C1).
/// Their shard key is the operator's choice (docs/settlement.md). Views and a migration are not part of it: which of
/// their collections exist depends on rebuilds and on the phase of the migration.
std::span<const schema::CollectionSpec> Collections();

}  // namespace braid::settlement
