// Explorer: the index behind a block explorer (D1–D7). Blocks, transactions, accounts and miners of a chain that
// reorganises.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "braid/clock.h"
#include "braid/timeline.h"
#include "client/handles.h"
#include "services/explorer/epoch.h"

namespace braid::explorer {

struct ExplorerOptions {
  std::string database = "explorer";
  /// The number of epochs below the highest tip that can be popped. Default 1000, from 1.
  int64_t history_epochs = 1000;
  /// Blocks of the latest window. Default 1000, 1..1 000 000.
  int64_t window_blocks = 1000;
  /// An epoch with more documents than this is taken in, and popped, in several transactions. Default 20 000, from 1.
  int64_t transaction_documents_max = 20'000;
  const Clock* clock = &Clock::System();
  /// Ends retries when it becomes true; may be null.
  const std::atomic<bool>* stop = nullptr;

  Status Validate() const;  ///< OK, or the first field out of range, its value and its range.
};

/// The most rows of a page.
inline constexpr int64_t kRowsMax = 1000;

/// The epoch that an answer was read at: the newest one that it takes into account.
struct At {
  int64_t epoch = -1;  // -1: nothing has been imported yet
  std::string pivot;
};

/// A document with the fields of the answer, in a fixed order; missing ones are null (D2, D3).
struct Found {
  At at;
  client::BsonPtr document;  // null: not found
};

struct PageRequest {
  std::string at;     // the hash of a pivot to read at; empty: the newest
  std::string after;  // `next` of the page before; empty: the first page
  int64_t limit = 20;
};

struct Page {
  At at;
  bool found = true;  // false: the block, or the epoch, whose list was asked for is unknown
  std::vector<client::BsonPtr> rows;
  std::string next;  // empty: the last page
};

/// The newest blocks together (D5).
struct Latest {
  At at;
  int64_t blocks = 0;
  std::string difficulty = "0";  // their sum, in decimal
  int64_t transactions = 0;      // that they carry
  int64_t seconds = 0;           // from the first one's timestamp to the last one's
  double tps = 0;                // transactions per second; 0 if no time has passed
};

struct ReorganisationPage {
  At at;
  std::vector<Reorganisation> reorganisations;  // newest first
};

/// The index on any store. Any thread. Queries read one snapshot, at one epoch; every list is paged by the position of
/// its rows, so a page stays what it is while the chain grows.
class Explorer {
 public:
  /// Creates the collections that are missing. `clients` must outlive the Explorer.
  static Result<std::unique_ptr<Explorer>> Open(Clients& clients, const ExplorerOptions& options);
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;

  /// The results for the first `taken` of the given epochs.
  struct Taken {
    int64_t taken = 0;
    int64_t grown = 0;
    int64_t skipped = 0;  // stored already
    int64_t popped = 0;   // epochs that were popped first
    At tip;
  };
  /// Takes in epochs in order: the next one grows the chain, one that is stored is skipped, and one with a number up to
  /// the tip and another pivot pops back to its predecessor first. Takes as many as one transaction holds, at least
  /// one; call it again with the rest. An epoch that does not fit (kTimelineGap, kTimelineFork) or that contradicts
  /// what is stored (kBadValue: a block that another epoch has, a receipt of an unknown transaction) is an error that
  /// names it; those before it are stored, it has changed nothing.
  Result<Taken> Take(std::span<const Epoch> epochs);

  /// Removes the newest epochs; kBadValue if there are fewer, kTimelineFinal if one of them is final.
  Result<At> Pop(int64_t epochs);

  // The ten queries (D1). `at` is the hash of a pivot to read at; empty: the newest. kTimelineReorganised if it is not
  // in the chain. A hash or an address that is malformed is kBadValue.

  Result<Found> Block(const std::string& hash, const std::string& at);
  Result<Found> Transaction(const std::string& hash, const std::string& at);
  Result<Page> BlockTransactions(const std::string& hash, const PageRequest& page);
  Result<Page> Blocks(const PageRequest& page);
  Result<Page> AccountTransactions(const std::string& address, const PageRequest& page);
  Result<Page> MinerBlocks(const std::string& address, const PageRequest& page);
  Result<Latest> LatestBlocks(const std::string& at);  ///< difficulty, transactions and TPS: two of the ten
  Result<Page> Pivots(const PageRequest& page);
  Result<Page> EpochBlocks(int64_t number, const PageRequest& page);

  /// Every transaction in execution order, newest first, and every miner with its first block, by address.
  Result<Page> Transactions(const PageRequest& page);
  Result<Page> Miners(const PageRequest& page);

  Result<ReorganisationPage> Reorganisations(int64_t limit, int64_t before_ms);

  struct Verification {
    Timeline::Verification timeline;
    int64_t blocks = 0;
    int64_t transactions = 0;
  };
  /// Recomputes every list, sum and window from the documents and compares; `progress` gets the number of epochs done
  /// and may be null.
  Result<Verification> Verify(const std::function<void(int64_t)>& progress);

  Result<At> Tip();
  const ExplorerOptions& options() const { return options_; }

 private:
  Explorer(const ExplorerOptions& options, std::unique_ptr<Timeline> timeline);

  const ExplorerOptions options_;
  const std::unique_ptr<Timeline> timeline_;
};

}  // namespace braid::explorer
