// Timeline: time-ordered data that grows and is popped by whole epochs, with every list, sum and window exact (D4–D6).
//
//   BRAID_TRY(const auto timeline, Timeline::Open(*store, {.database = "example", .collections = {"blocks"}}));
//   BRAID_CHECK_OK(timeline->Grow([](Growth& growth) -> Status {
//     BRAID_CHECK_OK(growth.Begin(1, "hash-1", "hash-0"));
//     growth.Append("blocks", {{"fees", "25"}}).document.Append("miner", "ann");  // entry 0, with a running sum
//     return {};
//   }));
//   BRAID_CHECK_OK(timeline->Read("", [&](Transaction& transaction, const EpochState& at) -> Status {
//     BRAID_TRY(const Timeline::Window window, timeline->NewestOf(transaction, at, "blocks", 1000));
//     std::cout << window.entries << " blocks with fees of " << window.sums.at("fees");
//     return {};
//   }));
//   BRAID_CHECK_OK(timeline->PopTo(0));  // another chain won: epoch 1 goes, wholly
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "braid/clock.h"
#include "braid/transaction.h"

namespace braid {

namespace timeline {
class Grower;
struct PlannedEpoch;
}  // namespace timeline

struct TimelineOptions {
  std::string database;  ///< where all of its collections are
  /// The timeline's own collections are {name}_head, {name}_epochs and {name}_reorgs.
  std::string name = "timeline";
  /// The collections that epochs add documents to. A pop finds its documents by their index {epoch: 1}.
  std::vector<std::string> collections;
  /// The number of epochs below the highest tip ever reached that can be popped; older ones are final. Default 1000,
  /// from 1.
  int64_t history_epochs = 1000;
  /// An epoch with more documents or bytes than these is added in several transactions, and removed in several ones if
  /// it has more documents. Defaults 20 000 (1..1 000 000) and 32 MiB (1 MiB..128 MiB).
  int64_t transaction_documents_max = 20'000;
  int64_t transaction_bytes_max = int64_t{32} << 20;
  /// Where the times of reorganisations come from; null: the machine's clock. Must outlive the Timeline.
  const Clock* clock = nullptr;
  /// Ends retries and long operations when it becomes true; may be null.
  const std::atomic<bool>* stop = nullptr;

  Status Validate() const;  ///< OK, or the first field out of range, its value and its range.
};

/// An epoch of the chain and what the whole state is after it.
struct EpochState {
  int64_t number = -1;  // -1: nothing has been added yet
  std::string hash;
  std::string parent;                      // the hash of the epoch before
  int64_t documents = 0;                   // that this epoch added
  std::map<std::string, int64_t> lengths;  // of every list, this epoch included
  /// Running sums of every list, this epoch included, "LIST.SUM" to an integer of any size in decimal.
  std::map<std::string, std::string> sums;
  /// 64 hexadecimal digits that stand for everything from the first epoch to this one: two stores with the same digest
  /// have the same documents.
  std::string digest;

  bool empty() const { return number < 0; }
  /// 0 if nothing was ever appended to the list.
  int64_t LengthOf(const std::string& list) const;
};

/// The epochs that a Grow() adds. Valid while its plan runs; one thread.
class Growth {
 public:
  using Sums = std::vector<std::pair<std::string, std::string>>;  // names and what the entry adds: integers, in decimal

  ~Growth();
  Growth(const Growth&) = delete;
  Growth& operator=(const Growth&) = delete;

  /// For reading what is stored; what this growth adds is not there yet.
  Transaction& transaction() { return transaction_; }
  /// The newest epoch: the one begun last, or the stored tip before the first Begin(). Its lengths and sums include
  /// what was appended so far; `documents` and `digest` follow when it is complete.
  const EpochState& tip() const { return tip_; }
  /// No further epoch should begin, because a transaction has enough. Always false before the first.
  bool full() const;

  /// Begins the epoch after tip(); everything that is added from here on belongs to it. kTimelineGap if the number is
  /// not the next one, kTimelineFork if `parent` is not the tip's hash. The first epoch of all may have any number.
  Status Begin(int64_t number, const std::string& hash, const std::string& parent);

  /// A new document of one of the collections, to be filled by the caller until the next call: `_id` first, all but
  /// the field `epoch`, which follows by itself. Documents never change; what changes over time is added as a new
  /// version, {_id: "{key}@{epoch}", …}, and the newest one counts.
  Document& Add(const std::string& collection);

  /// A new entry of a list, which is a collection of its own: {_id: position, …, sums: {name: running sum}, epoch}. The
  /// position is the number of entries before it, and `_id` is set already. Every entry of a list has the same sums. An
  /// addend that is not an integer makes the Grow() fail.
  struct Entry {
    int64_t position;
    Document& document;  // to be filled by the caller until the next call
  };
  Entry Append(const std::string& list, const Sums& sums = {});

 private:
  friend class timeline::Grower;
  Growth(const TimelineOptions& options, Transaction& transaction, EpochState tip);
  Document& New(const std::string& collection);
  void Finish();  // completes the document that was given out last
  Status Seal();  // completes the epoch that was begun last

  const TimelineOptions& options_;
  Transaction& transaction_;
  EpochState tip_;
  std::vector<std::unique_ptr<timeline::PlannedEpoch>> epochs_;
  Document* open_ = nullptr;         // given out last and not complete
  size_t open_collection_ = 0;       // its place in the options
  bool open_is_entry_ = false;       // of a list
  bool sealed_ = true;               // the epoch that was begun last is complete
  int64_t documents_ = 0;            // of all epochs
  int64_t bytes_ = 0;                // the same
  int64_t epoch_documents_max_ = 0;  // of the largest epoch so far
  int64_t epoch_bytes_max_ = 0;      // the same
  Status broken_;                    // the first mistake of the plan
};

/// A reorganisation: epochs were popped, and another one was grown where they had been.
struct Reorganisation {
  int64_t time_ms = 0;  // when the new epoch was grown; since 1970
  int64_t depth = 0;    // epochs that were popped
  int64_t fork = 0;     // the number of the newest epoch that both chains have
  int64_t old_number = 0;
  std::string old_hash;  // of the tip before
  int64_t new_number = 0;
  std::string new_hash;  // of the first epoch of the new chain
};

/// A difference between what is stored and what must be.
struct TimelineDamage {
  int64_t epoch = -1;  // -1: of none
  std::string what;    // names collection and document
};

/// The documents of one epoch, by collection in the order of the options, in any order inside. For Verify().
struct EpochDocuments {
  const EpochState& before;  // of the epoch before; empty for the first
  const EpochState& state;
  std::map<std::string, std::vector<Document>> documents;
};

/// A chain of epochs and what is derived from it. Any thread and any number of processes: of two that grow or pop at
/// the same time one sees what the other did. Nothing has to be closed: what Grow() and PopTo() did is durable.
///
/// Epochs only ever add documents, each marked with the number of its epoch. The state at epoch n is every document
/// with a mark up to n, so it can be read as of any epoch, and to pop the newest epoch is to remove its documents: what
/// was before is left by construction. A running sum is kept in every entry of a list, so the sum of a window of
/// entries is the difference of two of them, and nothing has to be refilled when entries are popped. {name}_head holds
/// the tip, {name}_epochs one document per epoch.
///
/// Invariants:
///   (1) an epoch is visible wholly or not at all: with its last transaction the tip moves, and readers ignore marks
///       beyond the tip;
///   (2) after any grows and pops every document, list, sum and digest is as if only the surviving epochs had ever been
///       grown;
///   (3) a crash leaves at most documents beyond the tip, which the next Grow() or Pop() removes before anything else.
class Timeline {
 public:
  /// kBadValue if the options are not valid. Creates the indexes that are missing: {epoch: 1} on every collection,
  /// {hash: 1} on {name}_epochs. `clients` must outlive the Timeline.
  static Result<std::unique_ptr<Timeline>> Open(Clients& clients, const TimelineOptions& options);
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  struct Grown {
    EpochState tip;
    /// The number of stored epochs, of those that the plan began; the others did not fit and have to be planned again.
    int64_t epochs = 0;
  };
  /// Calls `plan`, maybe several times, and stores the epochs that it adds, all in one transaction, or one large epoch
  /// in several. Durable when it returns. An error of `plan` is returned and nothing is changed.
  Result<Grown> Grow(const std::function<Status(Growth&)>& plan);

  /// Pops epochs until `number` is the tip (one below the first: until nothing is left), each in one transaction.
  /// kTimelineFinal, and nothing is changed, if one of them is final.
  Result<EpochState> PopTo(int64_t number);

  /// Calls `body` with one snapshot of the store and the epoch to read at: the one with the hash `at`, or the tip if it
  /// is empty. kTimelineReorganised if no epoch of the chain has this hash. Documents must be filtered with
  /// AppendVisible(). `body` may run several times.
  using OnSnapshot = std::function<Status(Transaction& transaction, const EpochState& at)>;
  Status Read(const std::string& at, const OnSnapshot& body);
  Result<EpochState> Tip();

  /// Appends {epoch: {$lte: …}} to a filter.
  static void AppendVisible(const EpochState& at, Document& filter);
  /// The epoch of a number, as long as it is not above `at`; an empty state if there is none.
  Result<EpochState> StateOf(Transaction& transaction, const EpochState& at, int64_t number) const;
  /// Calls `each` for the epochs first, first - 1, …, `count` of them or as many as there are, newest first.
  Status ForEachEpochDown(Transaction& transaction, int64_t first, int64_t count,
                          const std::function<Status(const EpochState&)>& each) const;
  /// Calls `each` for the entries first … first + count - 1 of a list, in this order. All must be there.
  Status ForEachEntry(Transaction& transaction, const std::string& list, int64_t first, int64_t count,
                      const Transaction::OnDocument& each) const;
  /// The newest entries of a list, `entries_max` at most, and the sums over just these.
  struct Window {
    int64_t first = 0;
    int64_t entries = 0;
    std::map<std::string, std::string> sums;
  };
  Result<Window> NewestOf(Transaction& transaction, const EpochState& at, const std::string& list,
                          int64_t entries_max) const;

  /// Newest first; `before_ms` 0: from the newest.
  Result<std::vector<Reorganisation>> Reorganisations(int64_t limit, int64_t before_ms = 0);

  struct Verification {
    EpochState tip;
    int64_t epochs = 0;
    int64_t documents = 0;
    std::string digest;                  // computed from the documents
    std::vector<TimelineDamage> damage;  // the first thousand
    int64_t damage_count = 0;

    bool ok() const { return damage_count == 0; }
  };
  using OnDamage = std::function<void(TimelineDamage damage)>;
  /// Further checks of one epoch's documents, which the Timeline itself cannot make.
  using CheckEpoch =
      std::function<Status(Transaction& transaction, const EpochDocuments& documents, const OnDamage& damage)>;
  /// Reads every document, epoch by epoch, and recomputes digests, lengths and running sums; finds documents that
  /// belong to no epoch. May run while others grow and pop. `check` and `progress` (epochs done) may be null.
  Result<Verification> Verify(const CheckEpoch& check, const std::function<void(int64_t)>& progress);

  const TimelineOptions& options() const { return options_; }

 private:
  Timeline(Clients& clients, TimelineOptions options) : clients_(clients), options_(std::move(options)) {}

  Clients& clients_;
  const TimelineOptions options_;
};

}  // namespace braid
