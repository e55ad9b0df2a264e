// Views: balances, trades and orders computed from the settlement log and kept in documents (C8). Each view is made
// from the log alone, follows it while it grows, and can be dropped and rebuilt.
//
//   balances  {_id: "<user>:<asset>", user_id, asset, balance, seq, at}   (: and % in <user> are %3A and %25)
//   trades    {_id: "<chain>:<seq>:<index>", trade_id, symbol_id, seq, at, price, qty, buyer_id, seller_id}
//   orders    {_id: <order_id>, user_id, symbol_id, status, seq, at}
// A balance is a Decimal128, or a string if it has more than 34 digits: it is exact in any case (amount.h).
// seq is the newest output_seq that had an effect on the document, at the time when the log stored that output. Ids are
// strings: 7 and "7" are the same user.
//
// The progress of a view. Records of different chains become durable in any order, so that no single number says what
// was applied: a view's place is one sequence per chain. A chain is applied in its own order; the order between chains
// does not matter, as balances are sums, trades are only added, and of an order the update with the highest sequence
// stays. A record of several chains (C9) counts as one of the smallest of them.
//
// The collection settlement_views has, for a view in the collection C:
//   {_id: "<view>", generation, collection: C, last, building, next, moving, dead: […], rows, stuck}  where it is;
//   rebuilds
//   {_id: "C:floor", applied_seq, chains: {"<chain>": {seq, hash, records}}}   every document has what is up to here
//   {_id: "C:0"} … {_id: "C:63"}, each {applied_seq, chains: {"<chain>": seq}}   what its documents have beyond that
// Documents are spread over 64 partitions by user, order or sequence: a fixed number, so that the number of workers may
// change between runs. A transaction changes documents of some partitions and the marks of these, and skips what the
// marks say is applied; afterwards the floor is raised. So a kill anywhere loses nothing and doubles nothing, and
// several processes may follow at the same time. Marks hold no more than the chains of the newest batch, whatever the
// number of symbols.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "braid/chains.h"

namespace braid::settlement {

enum class View { kBalances, kTrades, kOrders };
inline constexpr View kViews[] = {View::kBalances, View::kTrades, View::kOrders};

/// "balances", "trades", "orders".
const char* NameOf(View view);

struct ViewsOptions {
  std::string database = "settlement";
  /// The log's collection, as in ChainsOptions.
  std::string log = "engine_output_log";
  /// Transactions side by side, each for the users (orders, trades) of its partitions; at least one for each view.
  /// Default 4, 1..64; may change from run to run.
  uint32_t workers = 4;
  /// Records applied at a time, but no more than 32 MiB of payloads: more is faster and takes more memory. Default
  /// 50000, 1..100000.
  uint32_t batch_records_max = 50'000;
  /// Ends Follow(), Rebuild() and Check() with kInterrupted when it becomes true; may be null.
  const std::atomic<bool>* stop = nullptr;
  Status Validate() const;
};

struct FollowOptions {
  /// Views that are left as they are.
  std::set<View> without;
  /// Chains that are applied only up to the record before this one: those found damaged.
  std::map<int64_t, int64_t> stop_before;
  /// Called after each batch with the records read so far. May be empty.
  std::function<void(int64_t records)> on_progress;
  /// Called with each view that could not be applied any further, and why; the others go on. May be empty.
  std::function<void(View view, const Status& why)> on_failure;
};

struct FollowReport {
  int64_t records = 0;  ///< read; one of several chains counts in each
  int64_t payload_bytes = 0;
  /// Chains that could not be applied any further, and why; the others were.
  std::vector<ChainDamage> damage;
  bool ok() const { return damage.empty(); }
};

struct RebuildReport {
  FollowReport replay;
  /// Views that were not rebuilt, and why: the log no longer has their records.
  std::vector<std::string> kept;
};

/// How far a view is.
struct ViewProgress {
  View view = View::kBalances;
  std::string collection;
  int64_t generation = 0;
  bool has_times = true;    ///< its rows have the times of their outputs; those of an earlier version have not
  bool moving = false;      ///< a rebuilt view is replacing it
  int64_t applied_seq = 0;  ///< the newest output that it has
  int64_t records = 0;      ///< how many it has; one of several chains counts in each
  int64_t behind = 0;       ///< how many the log has that it has not
  std::string stuck;        ///< why it could not be applied any further; empty if it could
};

struct ViewDifference {
  View view = View::kBalances;
  std::string id;
  std::string expected;  ///< the document as the log says, as JSON; empty if there should be none
  std::string found;     ///< as it is; empty if there is none
};

struct CheckReport {
  int64_t records = 0;
  int64_t documents = 0;
  int64_t differences_total = 0;
  std::vector<ViewDifference> differences;  ///< the first thousand
  std::vector<ChainDamage> damage;          ///< if any, nothing was compared
  bool ok() const { return differences_total == 0 && damage.empty(); }
};

namespace views {
struct Core;
}

/// The views of one log. Any thread, any number of processes. The Clients must outlive it.
class Views {
 public:
  /// Creates what is missing.
  static Result<std::unique_ptr<Views>> Open(Clients& clients, const ViewsOptions& options);
  ~Views();
  Views(const Views&) = delete;
  Views& operator=(const Views&) = delete;

  /// Applies what the log has and the views have not, up to each chain's newest record as of now. Every record's hash
  /// and link is checked first. An error: the store failed, or a balance was made into something that cannot be added
  /// to (kOverflow), which stops its view; the same call again goes on where this one ended.
  Result<FollowReport> Follow(const FollowOptions& options = {});

  /// Builds views again from the first record on, in collections beside those that are there, and renames each once it
  /// has all that the present one has: it keeps its name, and readers see the one or the other. Others may append,
  /// follow and read meanwhile. After a kill the next call continues. The log is read once for all of them.
  Result<RebuildReport> Rebuild(std::span<const View> views, const FollowOptions& options = {});
  /// Rebuilds one view. kRecordDamaged: the present one was kept.
  Result<FollowReport> Rebuild(View view, const FollowOptions& options = {});

  /// Recomputes every view from the log, up to the view's own position, and compares. Others may append and follow. A
  /// view is read in one transaction, which must end within the store's limit (60 s by default); memory grows with the
  /// view.
  Result<CheckReport> Check(const FollowOptions& options = {});

  /// Calls `read` with the view's collection; once more if the view was replaced while it read.
  Status Read(View view, const std::function<Status(const std::string& collection)>& read);

  /// The highest sequence that every document of the view has seen of each chain.
  Result<std::map<int64_t, int64_t>> Applied(View view);

  /// How far each view is, beside heads that were read before.
  Result<std::vector<ViewProgress>> Progress(std::span<const ChainHead> heads);

  Chains& chains();

 private:
  explicit Views(std::unique_ptr<views::Core> core);
  std::unique_ptr<views::Core> core_;
};

/// As Views::Progress(), without creating anything in the store: only for views that exist.
Result<std::vector<ViewProgress>> ReadProgress(Clients& clients, const std::string& database,
                                               std::span<const ChainHead> heads);

}  // namespace braid::settlement
